import { Button, Loading, Muted, Page, SpacedRow, Stack } from "@relicario/shared/ui";
import { useEffect, useEffectEvent } from "react";
import { useTranslation } from "react-i18next";

import type { CameraProblem, CameraUse } from "./camera-window.ts";
import { CameraView } from "./CameraView.tsx";
import { QrScanner } from "./QrScanner.tsx";
import { useCamera } from "./useCamera.ts";

interface CameraWindowProps {
  readonly use: CameraUse;
  /** Receives the picture, or the text of the QR code. */
  readonly onDone: (result: File | string) => void;
  readonly onFailed: (problem: CameraProblem) => void;
  readonly onCancel: () => void;
}

/** The camera in a window of its own: [Note: Camera window]. */
export function CameraWindow({ use, onDone, onFailed, onCancel }: CameraWindowProps) {
  const { t } = useTranslation(["provide-image", "openers"]);
  const { camera, start, switchCamera } = useCamera();
  const startCamera = useEffectEvent(() => {
    void start();
  });
  useEffect(() => {
    startCamera();
  }, []);
  const title = t(use === "picture" ? "camera.window_title" : "openers:code.scan_action");
  useEffect(() => {
    document.title = title;
  }, [title]);
  const failure = camera.status === "failed" ? camera.reason : null;
  const reportFailure = useEffectEvent(onFailed);
  useEffect(() => {
    if (failure !== null) reportFailure(failure);
  }, [failure]);
  return (
    <Page title={title}>
      <Stack $gap={3}>
        <Muted>{t("camera.window_body")}</Muted>
        {camera.status !== "on" && <Loading label={t("openers:code.camera_status")} />}
        {camera.status === "on" &&
          (use === "picture" ? (
            <CameraView
              stream={camera.stream}
              onCapture={onDone}
              onSwitchCamera={camera.hasOtherCameras ? () => void switchCamera() : null}
              onClose={onCancel}
            />
          ) : (
            <>
              <QrScanner stream={camera.stream} onCode={onDone} onFailed={() => onFailed("ended")} />
              <SpacedRow>
                <Button tone="quiet" onClick={onCancel}>
                  {t("camera.cancel_action")}
                </Button>
              </SpacedRow>
            </>
          ))}
      </Stack>
    </Page>
  );
}
