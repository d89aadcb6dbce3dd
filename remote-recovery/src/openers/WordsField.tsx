import { TextArea } from "@relicario/shared/forms";
import { Stack } from "@relicario/shared/ui";
import type { ReactNode } from "react";

import { hasCamera } from "../camera/camera-support.ts";

interface WordsFieldProps {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly disabled: boolean;
  readonly error: string | null;
  readonly rows: number;
  /** Shown where there is a camera. */
  readonly scanner: ReactNode;
  readonly onChange: (value: string) => void;
}

/** Takes the words of a code that are typed, pasted, or scanned from their QR code. */
export function WordsField({ label, hint, value, disabled, error, rows, scanner, onChange }: WordsFieldProps) {
  return (
    <Stack $gap={3}>
      <TextArea
        label={label}
        hint={hint}
        error={error}
        rows={rows}
        autoComplete="off"
        autoCapitalize="none"
        spellCheck={false}
        value={value}
        disabled={disabled}
        onChange={(event) => {
          onChange(event.target.value);
        }}
      />
      {hasCamera() && scanner}
    </Stack>
  );
}
