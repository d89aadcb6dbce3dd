import { useCallback, useEffect, useRef, useState } from "react";

export type CameraState =
  | { readonly status: "off" }
  | { readonly status: "starting" }
  /** `hasOtherCameras`: there is another camera to turn to. */
  | { readonly status: "on"; readonly stream: MediaStream; readonly hasOtherCameras: boolean }
  | { readonly status: "failed"; readonly reason: "refused" | "missing" | "ended" };

/** As much as the camera has: detail is what makes a picture a key. */
const preferredResolution = {
  width: { ideal: 4096 },
  height: { ideal: 3072 },
} as const satisfies MediaTrackConstraints;

/**
 * The device's camera while it is asked for: the one at the back first. It is off again when a
 * picture was taken and when the screen is left.
 */
export function useCamera() {
  const [camera, setCamera] = useState<CameraState>({ status: "off" });
  const attempt = useRef(0);
  const openStream = useRef<MediaStream | null>(null);

  const release = useCallback(() => {
    attempt.current++;
    for (const track of openStream.current?.getTracks() ?? []) track.stop();
    openStream.current = null;
  }, []);
  const stop = useCallback(() => {
    release();
    setCamera({ status: "off" });
  }, [release]);
  useEffect(() => release, [release]);

  const start = async (constraints: MediaTrackConstraints = { facingMode: "environment" }): Promise<void> => {
    release();
    const currentAttempt = attempt.current;
    setCamera({ status: "starting" });
    try {
      const stream = await navigator.mediaDevices.getUserMedia({
        video: { ...preferredResolution, ...constraints },
        audio: false,
      });
      if (attempt.current !== currentAttempt) {
        for (const track of stream.getTracks()) track.stop(); // closed while it was starting
        return;
      }
      openStream.current = stream;
      const [track] = stream.getVideoTracks();
      track?.addEventListener("ended", () => {
        if (attempt.current !== currentAttempt) return;
        release(); // unplugged, or its permission was taken back
        setCamera({ status: "failed", reason: "ended" });
      });
      const hasOtherCameras = (await listCameraIds()).length > 1;
      if (attempt.current === currentAttempt) setCamera({ status: "on", stream, hasOtherCameras });
    } catch (error) {
      const notFound =
        error instanceof DOMException && (error.name === "NotFoundError" || error.name === "OverconstrainedError");
      if (attempt.current === currentAttempt) setCamera({ status: "failed", reason: notFound ? "missing" : "refused" });
    }
  };

  /**
   * To the camera at the other side, or, where the cameras do not say where they look, to the next
   * one.
   */
  const switchCamera = async (): Promise<void> => {
    const settings = openStream.current?.getVideoTracks()[0]?.getSettings();
    if (settings?.facingMode !== undefined)
      return start({ facingMode: settings.facingMode === "user" ? "environment" : "user" });
    const ids = await listCameraIds();
    const next = ids[(ids.indexOf(settings?.deviceId ?? "") + 1) % ids.length];
    return next === undefined ? undefined : start({ deviceId: { exact: next } });
  };
  return { camera, start, stop, switchCamera };
}

/**
 * Ids of the cameras. Browsers tell them once a camera was allowed; none where they tell nothing.
 */
async function listCameraIds(): Promise<readonly string[]> {
  try {
    return (await navigator.mediaDevices.enumerateDevices())
      .filter(({ kind }) => kind === "videoinput")
      .map(({ deviceId }) => deviceId);
  } catch {
    return []; // the camera that is open goes on; only turning is not offered
  }
}

/** Whether this browser gives pages a camera at all; over plain http it does not. */
export function hasCamera(): boolean {
  return "mediaDevices" in navigator && "getUserMedia" in navigator.mediaDevices;
}

/** What the camera shows now, as a JPEG of full size; null when the browser cannot. */
export function capturePicture(video: HTMLVideoElement, name: string): Promise<File | null> {
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
