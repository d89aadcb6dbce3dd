import { useCallback, useEffect, useRef, useState } from "react";

export type CameraState = { readonly status: "off" } | { readonly status: "starting" } | { readonly status: "on"; readonly stream: MediaStream } | { readonly status: "failed"; readonly reason: "refused" | "missing" };

/** As much as the camera has: detail is what makes a picture a key. */
const wanted: MediaStreamConstraints = { video: { facingMode: "environment", width: { ideal: 4096 }, height: { ideal: 3072 } }, audio: false };

/** The device's camera while it is asked for. It is off again when a picture was taken and when the screen is left. */
export function useCamera() {
  const [camera, setCamera] = useState<CameraState>({ status: "off" });
  const attempt = useRef(0);
  const open = useRef<MediaStream | null>(null);

  const stop = useCallback(() => {
    attempt.current++;
    for (const track of open.current?.getTracks() ?? []) track.stop();
    open.current = null;
    setCamera({ status: "off" });
  }, []);
  useEffect(
    () => () => {
      attempt.current++;
      for (const track of open.current?.getTracks() ?? []) track.stop();
    },
    [],
  );
  const start = async (): Promise<void> => {
    const own = ++attempt.current;
    setCamera({ status: "starting" });
    try {
      const stream = await navigator.mediaDevices.getUserMedia(wanted);
      if (attempt.current !== own) {
        for (const track of stream.getTracks()) track.stop(); // closed while it was starting
        return;
      }
      open.current = stream;
      setCamera({ status: "on", stream });
    } catch (error) {
      const missing = error instanceof DOMException && (error.name === "NotFoundError" || error.name === "OverconstrainedError");
      if (attempt.current === own) setCamera({ status: "failed", reason: missing ? "missing" : "refused" });
    }
  };
  return { camera, start, stop };
}

/** Whether this browser gives pages a camera at all; over plain http it does not. */
export function hasCamera(): boolean {
  return "mediaDevices" in navigator && "getUserMedia" in navigator.mediaDevices;
}

/** What the camera shows now, as a JPEG of full size; null when the browser cannot. */
export function takePicture(video: HTMLVideoElement, name: string): Promise<File | null> {
  const canvas = document.createElement("canvas");
  canvas.width = video.videoWidth;
  canvas.height = video.videoHeight;
  canvas.getContext("2d")?.drawImage(video, 0, 0);
  return new Promise((resolve) => {
    canvas.toBlob(
      (blob) => {
        resolve(blob === null ? null : new File([blob], name, { type: "image/jpeg" }));
      },
      "image/jpeg",
      0.95,
    );
  });
}
