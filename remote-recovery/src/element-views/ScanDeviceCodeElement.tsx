import { Notice, Stack } from "@relicario/shared/ui";
import { DeviceCode } from "@relicario/vault/element-protocol";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { ScanButton } from "../camera/ScanButton.tsx";

interface ScanDeviceCodeElementProps {
  readonly disabled: boolean;
  readonly onDeviceCode: (words: string) => void;
}

/** Scans the code of a new device. The page gets no text of any other QR code. */
export function ScanDeviceCodeElement({ disabled, onDeviceCode }: ScanDeviceCodeElementProps) {
  const { t } = useTranslation("openers");
  const [isOtherCode, setIsOtherCode] = useState(false);
  return (
    <Stack $gap={3}>
      {isOtherCode && (
        <Notice tone="warn" role="alert">
          {t("code.other_code_body")}
        </Notice>
      )}
      <ScanButton
        disabled={disabled}
        onCode={(text) => {
          const code = DeviceCode.safeParse(text);
          setIsOtherCode(!code.success);
          if (code.success) onDeviceCode(code.data);
        }}
      />
    </Stack>
  );
}
