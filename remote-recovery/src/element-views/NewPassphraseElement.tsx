import { chosenStrength } from "@relicario/shared/contract";
import { PasswordField, ProposedPassphrase, StrengthMeter, useStrength } from "@relicario/shared/forms";
import { Stack } from "@relicario/shared/ui";
import { useEffect, useEffectEvent, useState } from "react";
import { useTranslation } from "react-i18next";

import { emptyInput, type ElementInput } from "./element-input.ts";

interface NewPassphraseElementProps {
  readonly disabled: boolean;
  readonly onInput: (input: ElementInput) => void;
}

/** Takes a new passphrase twice. Left empty it means none, which the page asks for aloud. */
export function NewPassphraseElement({ disabled, onInput }: NewPassphraseElementProps) {
  const { t } = useTranslation("openers");
  const [passphrase, setPassphrase] = useState("");
  const [confirmation, setConfirmation] = useState("");
  const strength = useStrength(passphrase);
  const isTooWeak = typeof strength === "number" && strength < chosenStrength;
  const update = (next: string, nextConfirmation: string) => {
    setPassphrase(next);
    setConfirmation(nextConfirmation);
  };
  const report = useEffectEvent(() => {
    onInput(isTooWeak ? incompleteInput : toInput(passphrase, confirmation));
  });
  useEffect(() => {
    report(); // also at first: no passphrase is a choice, too
  }, [passphrase, confirmation, isTooWeak]);
  return (
    <Stack $gap={4}>
      <PasswordField
        label={t("change.new_label")}
        hint={t("change.new_hint")}
        value={passphrase}
        disabled={disabled}
        onChange={(event) => {
          update(event.target.value, confirmation);
        }}
      />
      <StrengthMeter passphrase={passphrase} level={strength} least={chosenStrength} />
      <ProposedPassphrase
        passphrase={passphrase}
        disabled={disabled}
        onPropose={(proposal) => {
          update(proposal, "");
        }}
      />
      <PasswordField
        label={t("change.again_label")}
        value={confirmation}
        disabled={disabled}
        error={confirmation !== "" && !passphrase.startsWith(confirmation) ? t("change.again_error") : null}
        onChange={(event) => {
          update(passphrase, event.target.value);
        }}
      />
    </Stack>
  );
}

const incompleteInput: ElementInput = { ...emptyInput, kind: "new_passphrase" };

/** `kind` is null for no passphrase. */
function toInput(passphrase: string, confirmation: string): ElementInput {
  if (passphrase !== confirmation) return incompleteInput;
  const isEmpty = passphrase === "";
  return {
    ...emptyInput,
    input: { opener: { kind: "new_passphrase", passphrase: isEmpty ? null : passphrase }, draft: null },
    ready: true,
    kind: isEmpty ? null : "new_passphrase",
    problem: null,
  };
}
