import type { Vault } from "@relicario/shared/contract";
import { FieldError, maxImageNameLength, OpenerPrompt, TextField, useVaultOperation } from "@relicario/shared/forms";
import { Card, Muted, SectionTitle, Stack } from "@relicario/shared/ui";
import { useState } from "react";
import { useTranslation } from "react-i18next";

/**
 * Resets the account after the waiting time, with a new picture and a fresh sign-in. Leaving before
 * the request is sent cancels.
 */
export function ConfirmResetPanel({ vault, onReset }: { readonly vault: Vault; readonly onReset: () => void }) {
  const { t } = useTranslation("start-anew");
  const [name, setName] = useState(() => t("begin.name_body"));
  const [nameMissing, setNameMissing] = useState(false);
  const operation = useVaultOperation({ vault, asksOpener: true });
  const handleReset = () => {
    setNameMissing(name.trim() === "");
    if (name.trim() === "") return;
    operation.startWithOpener({
      run: (options, handle) => vault.accountReset.complete({ handle, name: name.trim() }, options),
      onDone: onReset,
    });
  };
  return (
    <Card aria-labelledby="start-anew-begin">
      <Stack $gap={4}>
        <SectionTitle id="start-anew-begin">{t("begin.title")}</SectionTitle>
        <Muted>{t("begin.body")}</Muted>
        <OpenerPrompt
          vault={vault}
          operation={operation}
          label={t("begin.begin_action")}
          tone="danger"
          purpose="choose"
          missingText={t("begin.missing_error")}
          initialPhase="fetching"
          onSubmit={handleReset}
        >
          <TextField
            label={t("begin.name_label")}
            maxLength={maxImageNameLength}
            autoComplete="off"
            value={name}
            disabled={operation.running}
            onChange={(event) => {
              setName(event.target.value);
            }}
          />
          {nameMissing && <FieldError>{t("begin.missing_error")}</FieldError>}
        </OpenerPrompt>
      </Stack>
    </Card>
  );
}
