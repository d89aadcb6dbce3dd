import { useTranslation } from "react-i18next";

import { ScanButton } from "../camera/ScanButton.tsx";
import { WordsField } from "./WordsField.tsx";

interface RecoveryCodeFieldProps {
  readonly value: string;
  readonly disabled: boolean;
  readonly onChange: (code: string) => void;
}

/** Takes a recovery code that is typed, or scanned from its QR code. */
export function RecoveryCodeField({ value, disabled, onChange }: RecoveryCodeFieldProps) {
  const { t } = useTranslation("openers");
  return (
    <WordsField
      label={t("code.typed_label")}
      hint={t("code.typed_hint")}
      value={value}
      disabled={disabled}
      error={null}
      rows={4}
      scanner={<ScanButton disabled={disabled} onCode={onChange} />}
      onChange={onChange}
    />
  );
}
