import { s } from "@relicario/shared/ui";
import type { default as Decode } from "qr/decode.js";
import { useEffect, useEffectEvent, useRef } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

interface QrScannerProps {
  readonly stream: MediaStream;
  readonly onCode: (code: string) => void;
  /** Called if the decoder cannot be loaded. */
  readonly onFailed: () => void;
}

/** Longer side of a scanned frame in pixels: enough for a code that fills a third of the view. */
const maxScanSide = 960;
const scanIntervalMilliseconds = 200;

/** Scans the camera's view for a QR code. Frames are not stored. */
export function QrScanner({ stream, onCode, onFailed }: QrScannerProps) {
  const { t } = useTranslation("openers");
  const video = useRef<HTMLVideoElement>(null);
  const handleCode = useEffectEvent(onCode);
  const handleFailed = useEffectEvent(onFailed);
  useEffect(() => {
    const videoElement = video.current;
    if (videoElement === null) return undefined;
    videoElement.srcObject = stream;
    const canvas = document.createElement("canvas");
    let timer: ReturnType<typeof setInterval> | undefined;
    let isActive = true;
    import("qr/decode.js").then(
      ({ default: decode }) => {
        if (!isActive) return;
        timer = setInterval(() => {
          const code = scanFrame(videoElement, canvas, decode);
          if (code === null) return;
          clearInterval(timer);
          handleCode(code);
        }, scanIntervalMilliseconds);
      },
      () => {
        if (isActive) handleFailed();
      },
    );
    return () => {
      isActive = false;
      clearInterval(timer);
    };
  }, [stream]);
  return <Viewfinder ref={video} autoPlay muted playsInline aria-label={t("code.camera_aria")} />;
}

function scanFrame(video: HTMLVideoElement, canvas: HTMLCanvasElement, decode: typeof Decode): string | null {
  const { videoWidth: width, videoHeight: height } = video;
  if (width === 0 || height === 0) return null;
  const scale = Math.min(1, maxScanSide / Math.max(width, height));
  canvas.width = Math.round(width * scale);
  canvas.height = Math.round(height * scale);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (context === null) return null;
  context.drawImage(video, 0, 0, canvas.width, canvas.height);
  const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
  try {
    return decode({ width: canvas.width, height: canvas.height, data });
  } catch {
    return null; // no code in this frame
  }
}

const Viewfinder = styled.video`
  width: 100%;
  aspect-ratio: 4 / 3;
  border-radius: ${s("radius")};
  background: ${s("surfaceSunken")};
`;
