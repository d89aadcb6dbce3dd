import { TextArea } from "@relicario/shared/forms";
import { Button, SpacedRow, Stack } from "@relicario/shared/ui";
import { ScanLine } from "lucide-react";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { hasCamera } from "../camera/useCamera.ts";
import { QrScanner } from "./QrScanner.tsx";

interface WordsFieldProps {
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly disabled: boolean;
  /** What is wrong with it, already in words. */
  readonly error: string | null;
  readonly rows: number;
  readonly onChange: (value: string) => void;
}

/** Words of a code: typed or pasted, or their QR code in front of the camera. */
export function WordsField({ label, hint, value, disabled, error, rows, onChange }: WordsFieldProps) {
  const { t } = useTranslation("openers");
  const [scanning, setScanning] = useState(false);
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
      {scanning && !disabled && (
        <QrScanner
          onCode={(code) => {
            setScanning(false);
            onChange(code);
          }}
        />
      )}
      {hasCamera() && (
        <SpacedRow>
          <Button
            tone="quiet"
            disabled={disabled}
            icon={<ScanLine aria-hidden />}
            onClick={() => {
              setScanning(!scanning);
            }}
          >
            {t(scanning ? "code.scan_end_action" : "code.scan_action")}
          </Button>
        </SpacedRow>
      )}
    </Stack>
  );
}
