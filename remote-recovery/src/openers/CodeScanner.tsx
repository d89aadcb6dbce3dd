import { Loading, Notice, s } from "@relicario/shared/ui";
import type { default as Decode } from "qr/decode.js";
import { useEffect, useEffectEvent, useRef, useState } from "react";
import { useTranslation } from "react-i18next";
import { styled } from "styled-components";

import { useCamera } from "../picture/useCamera.ts";

interface CodeScannerProps {
  /** The text of the first QR code that is seen. */
  readonly onCode: (code: string) => void;
}

/** Longer side of what is searched, in pixels: enough for a code that fills a third of the view. */
const searchedSide = 960;
/** Milliseconds between two looks. */
const pause = 200;

/** Looks through the camera for a QR code. The pictures stay on the page and are not kept. */
export function CodeScanner({ onCode }: CodeScannerProps) {
  const { t } = useTranslation("openers");
  const { camera, start } = useCamera();
  const video = useRef<HTMLVideoElement>(null);
  /** The reader is fetched when it is needed; null as long as it has not come. */
  const [reader, setReader] = useState<{ readonly decode: typeof Decode } | "failed" | null>(null);
  const begin = useEffectEvent(() => {
    void start();
    import("qr/decode.js").then(
      ({ default: decode }) => {
        setReader({ decode });
      },
      () => {
        setReader("failed");
      },
    );
  });
  useEffect(() => {
    begin();
  }, []);
  const stream = camera.status === "on" ? camera.stream : null;
  const found = useEffectEvent(onCode);
  useEffect(() => {
    const view = video.current;
    if (stream === null || view === null || reader === null || reader === "failed") return undefined;
    view.srcObject = stream;
    const canvas = document.createElement("canvas");
    const timer = setInterval(() => {
      const code = seenBy(view, canvas, reader.decode);
      if (code === null) return;
      clearInterval(timer);
      found(code);
    }, pause);
    return () => {
      clearInterval(timer);
    };
  }, [stream, reader]);
  if (camera.status === "failed" || reader === "failed")
    return (
      <Notice tone="warn" role="alert">
        {t("code.camera_failed_body")}
      </Notice>
    );
  return stream === null ? (
    <Loading label={t("code.camera_status")} />
  ) : (
    <View ref={video} autoPlay muted playsInline aria-label={t("code.camera_aria")} />
  );
}

function seenBy(video: HTMLVideoElement, canvas: HTMLCanvasElement, decode: typeof Decode): string | null {
  const { videoWidth: width, videoHeight: height } = video;
  if (width === 0 || height === 0) return null;
  const scale = Math.min(1, searchedSide / Math.max(width, height));
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

const View = styled.video`
  width: 100%;
  max-height: 320px;
  border-radius: ${s("radius")};
  background: ${s("surfaceSunken")};
`;
