import { Button, s, space, SpacedRow } from "@relicario/shared/ui";
import { Camera, SwitchCamera } from "lucide-react";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { capturePicture } from "./useCamera.ts";

interface CameraViewProps {
  readonly stream: MediaStream;
  readonly onCapture: (picture: File) => void;
  /** Null if there is no other camera. */
  readonly onSwitchCamera: (() => void) | null;
  readonly onClose: () => void;
}

export function CameraView({ stream, onCapture, onSwitchCamera, onClose }: CameraViewProps) {
  const { t } = useTranslation("provide-image");
  const video = useRef<HTMLVideoElement>(null);
  const [ready, setReady] = useState(false);
  useEffect(() => {
    if (video.current !== null) video.current.srcObject = stream;
  }, [stream]);
  const handleCapture = async () => {
    const picture = video.current === null ? null : await capturePicture(video.current, `${t("camera.name_body")}.jpg`);
    if (picture !== null) onCapture(picture);
  };
  return (
    <Container>
      <video
        ref={video}
        autoPlay
        muted
        playsInline
        aria-label={t("camera.view_aria")}
        onLoadedData={() => {
          setReady(true);
        }}
      />
      <SpacedRow>
        <Button icon={<Camera aria-hidden />} disabled={!ready} onClick={() => void handleCapture()}>
          {t("camera.take_action")}
        </Button>
        {onSwitchCamera !== null && (
          <Button tone="quiet" icon={<SwitchCamera aria-hidden />} onClick={onSwitchCamera}>
            {t("camera.turn_action")}
          </Button>
        )}
        <Button tone="quiet" onClick={onClose}>
          {t("camera.cancel_action")}
        </Button>
      </SpacedRow>
    </Container>
  );
}

const Container = styled.div`
  display: flex;
  flex-direction: column;
  gap: ${space(3)};
  & > video {
    width: 100%;
    aspect-ratio: 4 / 3;
    object-fit: contain;
    border-radius: ${s("radius")};
    background: ${s("surfaceSunken")};
  }
`;
