import { maxKitNoteLength, maxKitSecrets } from "@relicario/shared/api";
import type { MadeKit, SecretRow, ShownImage, Vault, VaultProgress } from "@relicario/shared/contract";
import { Checkbox, FieldError, saveFile, TextField } from "@relicario/shared/forms";
import { Button, ErrorNotice, Progress, s, space, SpacedRow, Stack } from "@relicario/shared/ui";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { KitResult } from "./KitResult.tsx";
import { useTitleOf } from "./title-of.ts";

interface KitMakerProps {
  readonly vault: Vault;
  /** What a kit can be made of. */
  readonly rows: readonly SecretRow[];
  readonly onMade: () => void;
}

type Making =
  | { readonly status: "idle" }
  | { readonly status: "running"; readonly progress: VaultProgress | null }
  | { readonly status: "failed"; readonly error: unknown }
  | { readonly status: "done"; readonly kit: MadeKit };

/**
 * Secrets are chosen, a picture is shown, and the kit goes to the downloads. Leaving the screen
 * cancels.
 */
export function KitMaker({ vault, rows, onMade }: KitMakerProps) {
  const { t } = useTranslation("safeguard");
  const titleOf = useTitleOf();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(
    () => new Set(rows.slice(0, maxKitSecrets).map(({ secretId }) => secretId)),
  );
  const [note, setNote] = useState("");
  const [shown, setShown] = useState<ShownImage | null>(null);
  const [refused, setRefused] = useState<"none" | "most" | "missing" | null>(null);
  const [making, setMaking] = useState<Making>({ status: "idle" });
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  useEffect(
    () => () => {
      if (shown !== null) vault.forgetShown(shown);
    },
    [vault, shown],
  );

  const client = useQueryClient();
  const make = async (image: ShownImage, secretIds: readonly string[]): Promise<void> => {
    const own = new AbortController();
    running.current = own;
    setMaking({ status: "running", progress: null });
    try {
      const kit = await vault.makeKit(secretIds, image, {
        note,
        signal: own.signal,
        onProgress: (progress) => {
          if (!own.signal.aborted) setMaking({ status: "running", progress });
        },
      });
      void client.invalidateQueries(); // rows on other screens say which kits hold them
      if (own.signal.aborted) return;
      saveFile(kit.name, kit.file);
      setShown(null);
      setMaking({ status: "done", kit });
      onMade();
    } catch (error) {
      if (!own.signal.aborted) setMaking({ status: "failed", error });
    }
  };
  const handleMake = () => {
    const ids = rows.map(({ secretId }) => secretId).filter((id) => chosen.has(id));
    const reason = ids.length === 0 ? "none" : ids.length > maxKitSecrets ? "most" : shown === null ? "missing" : null;
    setRefused(reason);
    if (reason === null && shown !== null) void make(shown, ids);
  };
  const handleCancel = () => {
    running.current?.abort();
    setMaking({ status: "idle" });
  };
  const choose = (secretId: string, wanted: boolean) => {
    setRefused(null);
    setChosen((before) => new Set(wanted ? [...before, secretId] : [...before].filter((id) => id !== secretId)));
  };

  if (making.status === "done") {
    return (
      <KitResult
        kit={making.kit}
        rows={rows}
        onAgain={() => {
          setMaking({ status: "idle" });
        }}
      />
    );
  }
  const busy = making.status === "running";
  const all = rows.every(({ secretId }) => chosen.has(secretId));
  return (
    <Stack $gap={4}>
      <Choices disabled={busy}>
        <legend>{t("kit.secrets_title")}</legend>
        <Rows>
          {rows.map((row) => (
            <Checkbox
              key={row.secretId}
              label={titleOf(row)}
              checked={chosen.has(row.secretId)}
              onChange={(event) => {
                choose(row.secretId, event.target.checked);
              }}
            />
          ))}
        </Rows>
        {rows.length > 1 && (
          <SpacedRow>
            <Button
              tone="plain"
              size="small"
              onClick={() => {
                setChosen(new Set(all ? [] : rows.map(({ secretId }) => secretId)));
              }}
            >
              {t(all ? "kit.none_action" : "kit.all_action")}
            </Button>
          </SpacedRow>
        )}
        {refused === "none" && <FieldError>{t("kit.none_error")}</FieldError>}
        {refused === "most" && <FieldError>{t("kit.most_error", { count: maxKitSecrets })}</FieldError>}
      </Choices>
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
        value={shown}
        disabled={busy}
        onChange={(value) => {
          setShown(value);
          setRefused(null);
        }}
      />
      {refused === "missing" && <FieldError>{t("kit.missing_error")}</FieldError>}
      {making.status === "failed" && <ErrorNotice error={making.error} />}
      {busy && (
        <Progress
          label={t(isLooking(making.progress) ? "kit.looking_status" : "kit.running_status")}
          done={making.progress?.done ?? 0}
          total={making.progress?.total ?? 0}
        />
      )}
      <SpacedRow>
        <Button pending={busy} onClick={handleMake}>
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

function isLooking(progress: VaultProgress | null): boolean {
  return progress === null || progress.phase === "picture" || progress.phase === "passphrase";
}

const Choices = styled.fieldset`
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

const Rows = styled.div`
  max-height: 320px;
  padding: ${space(2)};
  overflow: auto;
  border: 1px solid ${s("border")};
  border-radius: ${s("radiusSmall")};
  overflow-wrap: anywhere;
`;
