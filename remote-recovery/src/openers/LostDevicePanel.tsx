import type { OpenersOverview, RotationResult, OpenerHandle, Vault, VaultProgress } from "@relicario/shared/contract";
import { OperationProgress, Checkbox } from "@relicario/shared/forms";
import {
  Button,
  Card,
  ErrorNotice,
  Muted,
  Notice,
  SectionTitle,
  SpacedRow,
  Stack,
  useReleaseOpener,
} from "@relicario/shared/ui";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { focusOnMount } from "../flow/focus-on-mount.ts";
import { LostSecretsNotice } from "./LostSecretsNotice.tsx";
import { OpenerOperationForm } from "./OpenerOperationForm.tsx";

interface LostDevicePanelProps {
  readonly vault: Vault;
  readonly overview: OpenersOverview;
  readonly onDone: () => void;
  readonly onCancel: () => void;
}

/** What is shown now, and which opener it is. */
interface RetainedOpener {
  readonly openerId: string;
  readonly openerHandle: OpenerHandle;
}

type RotationState =
  | { readonly status: "asking"; readonly error: unknown }
  | { readonly status: "running"; readonly progress: VaultProgress | null }
  | { readonly status: "done"; readonly rotation: RotationResult };

/**
 * A new account key after a device was lost: what it means, the openers that stay shown one after
 * the other, and what became of it.
 */
export function LostDevicePanel({ vault, overview, onDone, onCancel }: LostDevicePanelProps) {
  const { t } = useTranslation("openers");
  const [started, setStarted] = useState(false);
  const [retained, setRetained] = useState<readonly RetainedOpener[]>([]);
  const [duplicateId, setDuplicateId] = useState<string | null>(null);
  const [lossAccepted, setLossAccepted] = useState(false);
  const [rotationState, setRotationState] = useState<RotationState>({ status: "asking", error: null });
  const activeController = useRef<AbortController | null>(null);
  useEffect(() => () => activeController.current?.abort(), []);

  const nameOf = (openerId: string): string => overview.openers.find(({ id }) => id === openerId)?.name ?? "";
  const isRetained = (openerId: string): boolean => retained.some((opener) => opener.openerId === openerId);
  const openersToRemove = overview.openers.filter(({ id }) => !isRetained(id));
  const hasPicture = overview.openers.some(({ id, kind }) => kind === "image" && isRetained(id));
  const lostSecrets = overview.secrets.filter(({ openers }) => openers.length > 0 && !openers.some(isRetained));
  const busy = rotationState.status === "running";

  const handleRecognised = ({ openerId, openerHandle }: RetainedOpener): void => {
    setLossAccepted(false);
    setDuplicateId(isRetained(openerId) ? openerId : null);
    if (isRetained(openerId)) vault.releaseOpener(openerHandle);
    else setRetained([...retained, { openerId, openerHandle }]);
  };
  const queryClient = useQueryClient();
  const rotate = async (): Promise<void> => {
    const controller = new AbortController();
    activeController.current = controller;
    setRotationState({ status: "running", progress: null });
    const updateState = (next: RotationState): void => {
      if (!controller.signal.aborted) setRotationState(next);
    };
    try {
      const options = {
        signal: controller.signal,
        acceptedLosses: lostSecrets.map(({ secretId }) => secretId),
        onProgress: (progress: VaultProgress) => {
          updateState({ status: "running", progress });
        },
      };
      updateState({
        status: "done",
        rotation: await vault.openers.rotate(
          retained.map(({ openerHandle }) => openerHandle),
          options,
        ),
      });
    } catch (error) {
      updateState({ status: "asking", error });
    } finally {
      void queryClient.invalidateQueries(); // it re-sealed rows that other screens show
    }
  };
  const handleCancel = (): void => {
    activeController.current?.abort();
    onCancel();
  };

  if (rotationState.status === "done") {
    const { removedOpenerIds, revokedRequestTitles } = rotationState.rotation;
    return (
      <div ref={focusOnMount} tabIndex={-1}>
        <Notice
          tone="success"
          role="status"
          title={t("lost.done_title")}
          actions={
            <Button size="small" onClick={onDone}>
              {t("lost.end_action")}
            </Button>
          }
        >
          <p>{t("lost.done_body")}</p>
          {removedOpenerIds.length > 0 && (
            <p>{t("lost.removed_body", { names: removedOpenerIds.map(nameOf).join(", ") })}</p>
          )}
          {revokedRequestTitles.length > 0 && (
            <p>{t("lost.revoked_body", { titles: revokedRequestTitles.join(", ") })}</p>
          )}
        </Notice>
      </div>
    );
  }
  return (
    <Card aria-labelledby="openers-lost">
      <Stack $gap={4}>
        <SectionTitle ref={focusOnMount} tabIndex={-1} id="openers-lost">
          {t("lost.title")}
        </SectionTitle>
        <Muted>{t("lost.meaning_body")}</Muted>
        <Muted>{t("lost.ways_body")}</Muted>
        <Muted>{t("lost.copies_body")}</Muted>
        <Muted>{t("lost.people_body")}</Muted>
        {!started && (
          <SpacedRow>
            <Button
              onClick={() => {
                setStarted(true);
              }}
            >
              {t("lost.begin_action")}
            </Button>
            <Button tone="quiet" onClick={onCancel}>
              {t("show.cancel_action")}
            </Button>
          </SpacedRow>
        )}
        {started && retained.length > 0 && (
          <ul aria-label={t("lost.kept_aria")}>
            {retained.map((opener) => (
              <RetainedRow
                key={opener.openerId}
                vault={vault}
                openerHandle={opener.openerHandle}
                name={nameOf(opener.openerId)}
              />
            ))}
          </ul>
        )}
        {started && (
          <Muted key={openersToRemove.length === 0 ? "all" : "some"} ref={focusOnMount} tabIndex={-1} role="status">
            {openersToRemove.length === 0
              ? t("lost.all_body")
              : t("lost.going_body", { names: openersToRemove.map(({ name }) => name).join(", ") })}
          </Muted>
        )}
        {duplicateId !== null && (
          <Notice tone="warn" role="status">
            {t("lost.twice_body", { name: nameOf(duplicateId) })}
          </Notice>
        )}
        {started && !busy && openersToRemove.length > 0 && (
          <OpenerOperationForm
            vault={vault}
            transfersHandle
            label={t("lost.show_action")}
            operation={async (openerHandle, options) => ({
              openerHandle,
              ...(await vault.openers.recognise(openerHandle, options)),
            })}
            onDone={handleRecognised}
            onCancel={handleCancel}
          />
        )}
        {started && retained.length > 0 && !hasPicture && (
          <Notice tone="warn" role="status">
            {t("lost.picture_body")}
          </Notice>
        )}
        {hasPicture && <LostSecretsNotice secrets={lostSecrets} />}
        {hasPicture && lostSecrets.length > 0 && (
          <Checkbox
            label={t("remove.losing_label", { count: lostSecrets.length })}
            checked={lossAccepted}
            onChange={(event) => {
              setLossAccepted(event.target.checked);
            }}
          />
        )}
        {rotationState.status === "asking" && <ErrorNotice error={rotationState.error} />}
        {busy && <OperationProgress progress={rotationState.progress} initialPhase="fetching" />}
        {hasPicture && (lostSecrets.length === 0 || lossAccepted) && (
          <SpacedRow>
            <Button tone="danger" pending={busy} onClick={() => void rotate()}>
              {t("lost.rotate_action")}
            </Button>
            {(busy || openersToRemove.length === 0) && (
              <Button tone="quiet" onClick={handleCancel}>
                {t("show.cancel_action")}
              </Button>
            )}
          </SpacedRow>
        )}
      </Stack>
    </Card>
  );
}

/** Its handle is forgotten when the screen goes. */
function RetainedRow({
  vault,
  openerHandle,
  name,
}: {
  readonly vault: Vault;
  readonly openerHandle: OpenerHandle;
  readonly name: string;
}) {
  const { t } = useTranslation("openers");
  useReleaseOpener(vault, openerHandle);
  return <li>{t("lost.kept_body", { name })}</li>;
}
