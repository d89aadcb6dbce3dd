import { usePortal, type OpenerHandle } from "@relicario/shared/contract";
import { presentKey, getPresentedKey } from "@relicario/vault/presented-opener";
import { useEffect, useEffectEvent, useState } from "react";
import { useTranslation } from "react-i18next";

import { WordsField } from "./WordsField.tsx";

interface RecoveryCodeFieldProps {
  readonly value: OpenerHandle | null;
  readonly disabled: boolean;
  /** What went wrong with it, already in words. */
  readonly error: string | null;
  readonly onChange: (value: OpenerHandle | null) => void;
}

/** A printed recovery code: its words typed in, or its QR code in front of the camera. */
export function RecoveryCodeField({ value, disabled, error, onChange }: RecoveryCodeFieldProps) {
  const { t } = useTranslation("openers");
  const { onLock } = usePortal();
  const initialKey = value === null ? null : getPresentedKey(value);
  const [text, setText] = useState(initialKey?.kind === "recovery_code" ? initialKey.code : "");
  const [lockCount, setLockCount] = useState(0);
  const handleChange = (code: string) => {
    setText(code);
    onChange(code.trim() === "" ? null : presentKey({ kind: "recovery_code", code }));
  };
  const handleLock = useEffectEvent(() => {
    handleChange("");
    setLockCount(lockCount + 1); // a new field: its camera goes off
  });
  useEffect(
    () =>
      onLock(() => {
        handleLock();
      }),
    [onLock],
  );
  return (
    <WordsField
      key={lockCount}
      label={t("code.typed_label")}
      hint={t("code.typed_hint")}
      value={text}
      disabled={disabled}
      error={error}
      rows={4}
      onChange={handleChange}
    />
  );
}
