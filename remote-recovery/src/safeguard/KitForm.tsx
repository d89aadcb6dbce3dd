import { maxKitNoteLength, maxKitSecrets } from "@relicario/shared/api";
import type { CreatedKit, SecretRow, OpenerHandle, Vault, VaultProgress } from "@relicario/shared/contract";
import { Checkbox, FieldError, saveFile, TextField } from "@relicario/shared/forms";
import { Button, ErrorNotice, Progress, s, space, SpacedRow, Stack } from "@relicario/shared/ui";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { KitResult } from "./KitResult.tsx";
import { useSecretTitle } from "./secret-titles.ts";

interface KitFormProps {
  readonly vault: Vault;
  /** What a kit can be made of. */
  readonly rows: readonly SecretRow[];
  readonly onCreated: () => void;
}

type KitState =
  | { readonly status: "idle" }
  | { readonly status: "running"; readonly progress: VaultProgress | null }
  | { readonly status: "failed"; readonly error: unknown }
  | { readonly status: "done"; readonly kit: CreatedKit };

/**
 * Secrets are chosen, a picture is shown, and the kit goes to the downloads. Leaving the screen
 * cancels.
 */
export function KitForm({ vault, rows, onCreated }: KitFormProps) {
  const { t } = useTranslation("safeguard");
  const titleOf = useSecretTitle();
  const [selectedIds, setSelectedIds] = useState<ReadonlySet<string>>(
    () => new Set(rows.slice(0, maxKitSecrets).map(({ secretId }) => secretId)),
  );
  const [note, setNote] = useState("");
  const [openerHandle, setOpenerHandle] = useState<OpenerHandle | null>(null);
  const [rejection, setRejection] = useState<"none" | "most" | "missing" | null>(null);
  const [kitState, setKitState] = useState<KitState>({ status: "idle" });
  const activeController = useRef<AbortController | null>(null);
  useEffect(() => () => activeController.current?.abort(), []);
  useEffect(
    () => () => {
      if (openerHandle !== null) vault.releaseOpener(openerHandle);
    },
    [vault, openerHandle],
  );

  const queryClient = useQueryClient();
  const createKit = async (handle: OpenerHandle, secretIds: readonly string[]): Promise<void> => {
    const controller = new AbortController();
    activeController.current = controller;
    setKitState({ status: "running", progress: null });
    try {
      const kit = await vault.createKit(secretIds, handle, {
        note,
        signal: controller.signal,
        onProgress: (progress) => {
          if (!controller.signal.aborted) setKitState({ status: "running", progress });
        },
      });
      void queryClient.invalidateQueries(); // rows on other screens say which kits hold them
      if (controller.signal.aborted) return;
      saveFile(kit.name, kit.file);
      setOpenerHandle(null);
      setKitState({ status: "done", kit });
      onCreated();
    } catch (error) {
      if (!controller.signal.aborted) setKitState({ status: "failed", error });
    }
  };
  const handleCreate = () => {
    const ids = rows.map(({ secretId }) => secretId).filter((id) => selectedIds.has(id));
    const reason =
      ids.length === 0 ? "none" : ids.length > maxKitSecrets ? "most" : openerHandle === null ? "missing" : null;
    setRejection(reason);
    if (reason === null && openerHandle !== null) void createKit(openerHandle, ids);
  };
  const handleCancel = () => {
    activeController.current?.abort();
    setKitState({ status: "idle" });
  };
  const toggleSecret = (secretId: string, selected: boolean) => {
    setRejection(null);
    setSelectedIds(
      (previous) => new Set(selected ? [...previous, secretId] : [...previous].filter((id) => id !== secretId)),
    );
  };

  if (kitState.status === "done") {
    return (
      <KitResult
        kit={kitState.kit}
        rows={rows}
        onCreateAnother={() => {
          setKitState({ status: "idle" });
        }}
      />
    );
  }
  const busy = kitState.status === "running";
  const allSelected = rows.every(({ secretId }) => selectedIds.has(secretId));
  return (
    <Stack $gap={4}>
      <SecretFieldset disabled={busy}>
        <legend>{t("kit.secrets_title")}</legend>
        <SecretOptions>
          {rows.map((row) => (
            <Checkbox
              key={row.secretId}
              label={titleOf(row)}
              checked={selectedIds.has(row.secretId)}
              onChange={(event) => {
                toggleSecret(row.secretId, event.target.checked);
              }}
            />
          ))}
        </SecretOptions>
        {rows.length > 1 && (
          <SpacedRow>
            <Button
              tone="plain"
              size="small"
              onClick={() => {
                setSelectedIds(new Set(allSelected ? [] : rows.map(({ secretId }) => secretId)));
              }}
            >
              {t(allSelected ? "kit.none_action" : "kit.all_action")}
            </Button>
          </SpacedRow>
        )}
        {rejection === "none" && <FieldError>{t("kit.none_error")}</FieldError>}
        {rejection === "most" && <FieldError>{t("kit.most_error", { count: maxKitSecrets })}</FieldError>}
      </SecretFieldset>
      <TextField
        label={t("kit.note_label")}
        hint={t("kit.note_hint", { count: maxKitNoteLength })}
        maxLength={maxKitNoteLength}
        value={note}
        disabled={busy}
        onChange={(event) => {
          setNote(event.target.value);
        }}
      />
      <vault.PictureField
        purpose="show"
        pictureOnly
        value={openerHandle}
        disabled={busy}
        onChange={(value) => {
          setOpenerHandle(value);
          setRejection(null);
        }}
      />
      {rejection === "missing" && <FieldError>{t("kit.missing_error")}</FieldError>}
      {kitState.status === "failed" && <ErrorNotice error={kitState.error} />}
      {busy && (
        <Progress
          label={t(isCheckingPicture(kitState.progress) ? "kit.looking_status" : "kit.running_status")}
          done={kitState.progress?.done ?? 0}
          total={kitState.progress?.total ?? 0}
        />
      )}
      <SpacedRow>
        <Button pending={busy} onClick={handleCreate}>
          {t("kit.make_action")}
        </Button>
        {busy && (
          <Button tone="quiet" onClick={handleCancel}>
            {t("kit.cancel_action")}
          </Button>
        )}
      </SpacedRow>
    </Stack>
  );
}

function isCheckingPicture(progress: VaultProgress | null): boolean {
  return progress === null || progress.phase === "picture" || progress.phase === "passphrase";
}

const SecretFieldset = styled.fieldset`
  display: flex;
  flex-direction: column;
  gap: ${space(2)};
  margin: 0;
  padding: 0;
  border: 0;
  min-width: 0;
  & > legend {
    padding: 0;
    font-weight: 600;
  }
`;

const SecretOptions = styled.div`
  max-height: 320px;
  padding: ${space(2)};
  overflow: auto;
  border: 1px solid ${s("border")};
  border-radius: ${s("radiusSmall")};
  overflow-wrap: anywhere;
`;
