import type { ShownImage, Vault, VaultProgress } from "@relicario/shared/contract";
import { ActProgress, FieldError, maxImageNameLength, TextField } from "@relicario/shared/forms";
import { Button, Card, ErrorNotice, Muted, SectionTitle, SpacedRow, Stack, useShownImage } from "@relicario/shared/ui";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { useAct } from "./useAct.ts";

/**
 * The wait is over: a new picture, a fresh sign-in, and an empty account. Leaving the screen before
 * it is sent stops it.
 */
export function BeginPanel({ vault, onBegun }: { readonly vault: Vault; readonly onBegun: () => void }) {
  const { t } = useTranslation("start-anew");
  const { shown, setShown } = useShownImage(vault);
  const [name, setName] = useState(() => t("begin.name_body"));
  const [missing, setMissing] = useState(false);
  const [progress, setProgress] = useState<VaultProgress | null>(null);
  const { busy, error, run } = useAct(onBegun);
  const controller = useRef<AbortController | null>(null);
  useEffect(() => () => controller.current?.abort(), []);
  const begin = (image: ShownImage) => {
    const own = new AbortController();
    controller.current = own;
    setProgress(null);
    return vault.startAnew.begin({ shown: image, name: name.trim() }, { signal: own.signal, onProgress: setProgress });
  };
  return (
    <Card aria-labelledby="start-anew-begin">
      <Stack $gap={4}>
        <SectionTitle id="start-anew-begin">{t("begin.title")}</SectionTitle>
        <Muted>{t("begin.body")}</Muted>
        <vault.PictureField
          purpose="choose"
          value={shown}
          disabled={busy}
          onChange={(next) => {
            setShown(next);
            setMissing(false);
          }}
        />
        <TextField
          label={t("begin.name_label")}
          maxLength={maxImageNameLength}
          autoComplete="off"
          value={name}
          disabled={busy}
          onChange={(event) => {
            setName(event.target.value);
          }}
        />
        {missing && <FieldError>{t("begin.missing_error")}</FieldError>}
        <ErrorNotice error={error} />
        {busy && <ActProgress progress={progress} first="fetching" />}
        <SpacedRow>
          <Button
            tone="danger"
            pending={busy}
            onClick={() => {
              const ready = shown !== null && name.trim() !== "";
              setMissing(!ready);
              if (ready) void run(() => begin(shown));
            }}
          >
            {t("begin.begin_action")}
          </Button>
        </SpacedRow>
      </Stack>
    </Card>
  );
}
