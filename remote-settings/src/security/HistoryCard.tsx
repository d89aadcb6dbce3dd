import type { HistoryWords } from "@relicario/shared/contract";
import { isPortalError } from "@relicario/shared/errors";
import { NumberedWords, TextField, useVaultOperation } from "@relicario/shared/forms";
import { Button, Card, ErrorNotice, Muted, SectionTitle, Stack, useVault } from "@relicario/shared/ui";
import { useState } from "react";
import { useTranslation } from "react-i18next";

/**
 * Shows number and words of this device's history. Comparing them with another device is the only
 * way to detect a service that shows two devices different histories.
 */
export function HistoryCard() {
  const { t } = useTranslation("settings-security");
  const access = useVault();
  const vault = access.status === "ready" ? access.vault : null; // the auto-lock above reports a failure
  const operation = useVaultOperation();
  const [history, setHistory] = useState<HistoryWords | null>(null);
  const [typedNumber, setTypedNumber] = useState("");
  const number = typedNumber.trim();
  const isUnreachable = isPortalError(operation.error, "not_found");
  const handleShow = () => {
    if (vault === null) return;
    operation.start({
      run: (options) => vault.getHistory(/^[1-9]\d{0,8}$/.test(number) ? Number(number) : null, options),
      onDone: setHistory,
    });
  };
  return (
    <Card aria-labelledby="history">
      <Stack $gap={3}>
        <SectionTitle id="history">{t("history.title")}</SectionTitle>
        <Muted>{t("history.body")}</Muted>
        <TextField
          label={t("history.number_label")}
          hint={t("history.number_hint")}
          inputMode="numeric"
          autoComplete="off"
          disabled={vault === null}
          error={isUnreachable ? t("history.number_error") : null}
          value={typedNumber}
          onChange={(event) => {
            setTypedNumber(event.target.value);
          }}
          action={
            <Button tone="quiet" disabled={vault === null} pending={operation.running} onClick={handleShow}>
              {t("history.show_action")}
            </Button>
          }
        />
        {!isUnreachable && <ErrorNotice error={operation.error} />}
        {history !== null && (
          <NumberedWords words={history.words} label={t("history.words_label", { number: String(history.stateRev) })} />
        )}
      </Stack>
    </Card>
  );
}
