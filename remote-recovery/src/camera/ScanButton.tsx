import { Button, Muted, Notice, SpacedRow, Stack } from "@relicario/shared/ui";
import { ScanLine } from "lucide-react";
import { useTranslation } from "react-i18next";
import { z } from "zod";

import { useCameraWindow } from "./useCameraWindow.ts";

interface ScanButtonProps {
  readonly disabled: boolean;
  /** Receives the text of a QR code. */
  readonly onCode: (code: string) => void;
}

/** Longest text of a QR code. */
const QrText = z.string().max(7_089);

/** Reads a QR code with the camera. */
export function ScanButton({ disabled, onCode }: ScanButtonProps) {
  const { t } = useTranslation("openers");
  const { state, open, close } = useCameraWindow("qr_code", QrText, onCode);
  return (
    <Stack $gap={3}>
      {state.status === "open" && <Muted role="status">{t("code.camera_open_status")}</Muted>}
      {state.status === "failed" && (
        <Notice tone="warn" role="alert">
          {t(`code.camera_${messages[state.failure]}_body`)}
        </Notice>
      )}
      <SpacedRow>
        <Button
          tone="quiet"
          disabled={disabled}
          icon={<ScanLine aria-hidden />}
          onClick={state.status === "open" ? close : open}
        >
          {t(state.status === "open" ? "code.scan_end_action" : "code.scan_action")}
        </Button>
      </SpacedRow>
    </Stack>
  );
}

const messages = {
  refused: "failed",
  missing: "failed",
  ended: "failed",
  unavailable: "failed",
  closed: "closed",
  blocked: "blocked",
} as const;
