import type { OpenersOverview, RotationResult, OpenerHandle, Vault } from "@relicario/shared/contract";
import { Checkbox, OperationProgress, useVaultOperation } from "@relicario/shared/forms";
import {
  Button,
  Card,
  ErrorNotice,
  markVerbatim,
  Muted,
  Notice,
  renderVerbatim,
  SectionTitle,
  SpacedRow,
  Stack,
  useReleaseOpener,
} from "@relicario/shared/ui";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
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

/** A presented opener that the account keeps. */
interface RetainedOpener {
  readonly openerId: string;
  readonly openerHandle: OpenerHandle;
}

/**
 * Replaces the account key after a device was lost. Explains the consequences, collects the openers
 * to keep, and shows the result.
 */
export function LostDevicePanel({ vault, overview, onDone, onCancel }: LostDevicePanelProps) {
  const { t } = useTranslation("openers");
  const [started, setStarted] = useState(false);
  const [retainedOpeners, setRetainedOpeners] = useState<readonly RetainedOpener[]>([]);
  const [duplicateId, setDuplicateId] = useState<string | null>(null);
  const [recognisedCount, setRecognisedCount] = useState(0);
  const [lossAccepted, setLossAccepted] = useState(false);
  const [rotation, setRotation] = useState<RotationResult | null>(null);
  const { running, progress, error, start, cancel } = useVaultOperation();

  const getName = (openerId: string): string => overview.openers.find(({ id }) => id === openerId)?.name ?? "";
  const isRetained = (openerId: string): boolean => retainedOpeners.some((opener) => opener.openerId === openerId);
  const openersToRemove = overview.openers.filter(({ id }) => !isRetained(id));
  const hasPicture = overview.openers.some(({ id, kind }) => kind === "image" && isRetained(id));
  const lostSecrets = overview.secrets.filter(({ openerIds }) => openerIds.length > 0 && !openerIds.some(isRetained));

  const handleRecognised = ({ openerId, openerHandle }: RetainedOpener): void => {
    setLossAccepted(false);
    setRecognisedCount((count) => count + 1);
    setDuplicateId(isRetained(openerId) ? openerId : null);
    if (isRetained(openerId)) vault.releaseOpener(openerHandle);
    else setRetainedOpeners([...retainedOpeners, { openerId, openerHandle }]);
  };
  const queryClient = useQueryClient();
  const rotate = (): void => {
    start({
      run: (options) =>
        vault.openers.rotate(
          retainedOpeners.map(({ openerHandle }) => openerHandle),
          { ...options, acceptedLosses: lostSecrets.map(({ secretId }) => secretId) },
        ),
      onDone: setRotation,
      onSettled: () => void queryClient.invalidateQueries(), // rows of other screens were re-sealed
    });
  };

  if (rotation !== null) {
    const { removedOpenerIds, revokedRequestTitles } = rotation;
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
          <p>{t("lost.compare_body")}</p>
          {removedOpenerIds.length > 0 && (
            <p>
              {renderVerbatim(
                t("lost.removed_body", { names: markVerbatim(removedOpenerIds.map(getName).join(", ")) }),
              )}
            </p>
          )}
          {revokedRequestTitles.length > 0 && (
            <p>{renderVerbatim(t("lost.revoked_body", { titles: markVerbatim(revokedRequestTitles.join(", ")) }))}</p>
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
        {started && retainedOpeners.length > 0 && (
          <ul aria-label={t("lost.kept_aria")}>
            {retainedOpeners.map((opener) => (
              <RetainedRow
                key={opener.openerId}
                vault={vault}
                openerHandle={opener.openerHandle}
                name={getName(opener.openerId)}
              />
            ))}
          </ul>
        )}
        {started && (
          <Muted key={recognisedCount} ref={focusOnMount} tabIndex={-1} role="status">
            {openersToRemove.length === 0
              ? t("lost.all_body")
              : renderVerbatim(
                  t("lost.going_body", { names: markVerbatim(openersToRemove.map(({ name }) => name).join(", ")) }),
                )}
          </Muted>
        )}
        {duplicateId !== null && (
          <Notice tone="warn" role="status">
            {renderVerbatim(t("lost.twice_body", { name: markVerbatim(getName(duplicateId)) }))}
          </Notice>
        )}
        {started && !running && openersToRemove.length > 0 && (
          <OpenerOperationForm
            key={recognisedCount} // a field that stays would replace the retained input
            vault={vault}
            takesOpener
            label={t("lost.show_action")}
            runOperation={async (openerHandle, options) => ({
              openerHandle,
              ...(await vault.openers.recognise(openerHandle, options)),
            })}
            onDone={handleRecognised}
            onCancel={onCancel}
          />
        )}
        {started && retainedOpeners.length > 0 && !hasPicture && (
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
        <ErrorNotice error={error} />
        {running && <OperationProgress progress={progress} initialPhase="fetching" />}
        {hasPicture && (lostSecrets.length === 0 || lossAccepted) && (
          <SpacedRow>
            <Button tone="danger" pending={running} onClick={rotate}>
              {t("lost.rotate_action")}
            </Button>
            {(running || openersToRemove.length === 0) && (
              <Button tone="quiet" onClick={running ? cancel : onCancel}>
                {t("show.cancel_action")}
              </Button>
            )}
          </SpacedRow>
        )}
      </Stack>
    </Card>
  );
}

/** Releases the handle on unmount. */
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
  return <li>{renderVerbatim(t("lost.kept_body", { name: markVerbatim(name) }))}</li>;
}
