import { maxKitNoteLength, maxKitSecrets } from "@relicario/shared/api";
import type { CreatedKit, SecretRow, Vault } from "@relicario/shared/contract";
import { Checkbox, FieldError, OpenerPrompt, saveFile, TextField, useVaultOperation } from "@relicario/shared/forms";
import { Button, s, space, SpacedRow, Stack, Verbatim } from "@relicario/shared/ui";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { KitResult } from "./KitResult.tsx";
import { useSecretTitle } from "./secret-titles.ts";

interface KitFormProps {
  readonly vault: Vault;
  readonly rows: readonly SecretRow[];
  readonly onCreated: () => void;
}

/** Chooses secrets, asks for a picture, and downloads the kit. Leaving cancels. */
export function KitForm({ vault, rows, onCreated }: KitFormProps) {
  const { t } = useTranslation("safeguard");
  const getTitle = useSecretTitle();
  const [selectedIds, setSelectedIds] = useState<ReadonlySet<string>>(
    () => new Set(rows.slice(0, maxKitSecrets).map(({ secretId }) => secretId)),
  );
  const [note, setNote] = useState("");
  const [selectionProblem, setSelectionProblem] = useState<"nothing_selected" | "too_many" | null>(null);
  const [kit, setKit] = useState<CreatedKit | null>(null);
  const operation = useVaultOperation({ vault, asksOpener: true });

  const queryClient = useQueryClient();
  const handleCreate = () => {
    const ids = rows.map(({ secretId }) => secretId).filter((id) => selectedIds.has(id));
    const reason = ids.length === 0 ? "nothing_selected" : ids.length > maxKitSecrets ? "too_many" : null;
    setSelectionProblem(reason);
    if (reason !== null) return;
    operation.startWithOpener({
      run: (options, opener) => vault.createKit(ids, opener, { ...options, note }),
      onDone: (createdKit) => {
        saveFile(createdKit.name, createdKit.file);
        setKit(createdKit);
        onCreated();
      },
      onSettled: () => void queryClient.invalidateQueries(), // rows of other screens show their kits
    });
  };
  const toggleSecret = (secretId: string, selected: boolean) => {
    setSelectionProblem(null);
    setSelectedIds(
      (previous) => new Set(selected ? [...previous, secretId] : [...previous].filter((id) => id !== secretId)),
    );
  };

  if (kit !== null) {
    return (
      <KitResult
        kit={kit}
        rows={rows}
        onCreateAnother={() => {
          setKit(null);
        }}
      />
    );
  }
  const runningText = t("kit.running_status");
  const allSelected = rows.every(({ secretId }) => selectedIds.has(secretId));
  return (
    <Stack $gap={4}>
      <SecretFieldset disabled={operation.running}>
        <legend>{t("kit.secrets_title")}</legend>
        <SecretOptions>
          {rows.map((row) => (
            <Checkbox
              key={row.secretId}
              label={<Verbatim>{getTitle(row)}</Verbatim>}
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
        {selectionProblem === "nothing_selected" && <FieldError>{t("kit.nothing_selected_error")}</FieldError>}
        {selectionProblem === "too_many" && (
          <FieldError>{t("kit.too_many_error", { count: maxKitSecrets })}</FieldError>
        )}
      </SecretFieldset>
      <TextField
        label={t("kit.note_label")}
        hint={t("kit.note_hint", { count: maxKitNoteLength })}
        maxLength={maxKitNoteLength}
        value={note}
        disabled={operation.running}
        onChange={(event) => {
          setNote(event.target.value);
        }}
      />
      <OpenerPrompt
        vault={vault}
        operation={operation}
        label={t("kit.make_action")}
        pictureOnly
        phaseTexts={{ fetching: runningText, opening: runningText, sealing: runningText, sending: runningText }}
        onSubmit={handleCreate}
      />
    </Stack>
  );
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
