import { usePortal, type ShownImage } from "@relicario/shared/contract";
import { showKey, shownKey } from "@relicario/vault/shown-image";
import { useEffect, useEffectEvent, useState } from "react";
import { useTranslation } from "react-i18next";

import { WordsField } from "./WordsField.tsx";

interface CodeFieldProps {
  readonly value: ShownImage | null;
  readonly disabled: boolean;
  /** What went wrong with it, already in words. */
  readonly error: string | null;
  readonly onChange: (value: ShownImage | null) => void;
}

/** A printed recovery code: its words typed in, or its QR code in front of the camera. */
export function CodeField({ value, disabled, error, onChange }: CodeFieldProps) {
  const { t } = useTranslation("openers");
  const { onLock } = usePortal();
  const before = value === null ? null : shownKey(value);
  const [typed, setTyped] = useState(before?.kind === "recovery_code" ? before.code : "");
  const [locks, setLocks] = useState(0);
  const take = (code: string) => {
    setTyped(code);
    onChange(code.trim() === "" ? null : showKey({ kind: "recovery_code", code }));
  };
  const handleLock = useEffectEvent(() => {
    take("");
    setLocks(locks + 1); // a new field: its camera goes off
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
      key={locks}
      label={t("code.typed_label")}
      hint={t("code.typed_hint")}
      value={typed}
      disabled={disabled}
      error={error}
      rows={4}
      onChange={take}
    />
  );
}
