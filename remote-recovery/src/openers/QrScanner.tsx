import { Loading, Notice, s } from "@relicario/shared/ui";
import type { default as Decode } from "qr/decode.js";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { useCamera } from "../camera/useCamera.ts";

interface QrScannerProps {
  /** The text of the first QR code that is seen. */
  readonly onCode: (code: string) => void;
}

/** Longer side of what is searched, in pixels: enough for a code that fills a third of the view. */
const maxScanSide = 960;
/** Milliseconds between two looks. */
const scanIntervalMilliseconds = 200;

/** Looks through the camera for a QR code. The pictures stay on the page and are not kept. */
export function QrScanner({ onCode }: QrScannerProps) {
  const { t } = useTranslation("openers");
  const { camera, start } = useCamera();
  const video = useRef<HTMLVideoElement>(null);
  /** The reader is fetched when it is needed; null as long as it has not come. */
  const [decoder, setDecoder] = useState<{ readonly decode: typeof Decode } | "failed" | null>(null);
  const startScanning = useEffectEvent(() => {
    void start();
    import("qr/decode.js").then(
      ({ default: decode }) => {
        setDecoder({ decode });
      },
      () => {
        setDecoder("failed");
      },
    );
  });
  useEffect(() => {
    startScanning();
  }, []);
  const stream = camera.status === "on" ? camera.stream : null;
  const handleCode = useEffectEvent(onCode);
  useEffect(() => {
    const videoElement = video.current;
    if (stream === null || videoElement === null || decoder === null || decoder === "failed") return undefined;
    videoElement.srcObject = stream;
    const canvas = document.createElement("canvas");
    const timer = setInterval(() => {
      const code = scanFrame(videoElement, canvas, decoder.decode);
      if (code === null) return;
      clearInterval(timer);
      handleCode(code);
    }, scanIntervalMilliseconds);
    return () => {
      clearInterval(timer);
    };
  }, [stream, decoder]);
  if (camera.status === "failed" || decoder === "failed")
    return (
      <Notice tone="warn" role="alert">
        {t("code.camera_failed_body")}
      </Notice>
    );
  return stream === null ? (
    <Loading label={t("code.camera_status")} />
  ) : (
    <Viewfinder ref={video} autoPlay muted playsInline aria-label={t("code.camera_aria")} />
  );
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
    return null; // no code in this picture: the next one may have it
  }
}

const Viewfinder = styled.video`
  width: 100%;
  max-height: 320px;
  border-radius: ${s("radius")};
  background: ${s("surfaceSunken")};
`;
