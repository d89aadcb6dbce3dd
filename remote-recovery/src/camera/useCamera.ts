import { useCallback, useEffect, useRef, useState } from "react";

export type CameraState =
  | { readonly status: "off" }
  | { readonly status: "starting" }
  | { readonly status: "on"; readonly stream: MediaStream; readonly hasOtherCameras: boolean }
  | { readonly status: "failed"; readonly reason: "refused" | "missing" | "ended" };

/** Requests the camera's maximum: more detail makes a stronger key. */
const preferredResolution = {
  width: { ideal: 4096 },
  height: { ideal: 3072 },
} as const satisfies MediaTrackConstraints;

/** Controls the device's camera, back camera first. Stops it after a capture and on unmount. */
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
        for (const track of stream.getTracks()) track.stop(); // stopped while starting
        return;
      }
      openStream.current = stream;
      const [track] = stream.getVideoTracks();
      track?.addEventListener("ended", () => {
        if (attempt.current !== currentAttempt) return;
        release(); // unplugged, or permission withdrawn
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
   * Switches to the camera on the other side. If cameras do not report their side, switches to the
   * next camera.
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

/** Camera ids. Empty if the browser does not report them, as before the first permission. */
async function listCameraIds(): Promise<readonly string[]> {
  try {
    return (await navigator.mediaDevices.enumerateDevices())
      .filter(({ kind }) => kind === "videoinput")
      .map(({ deviceId }) => deviceId);
  } catch {
    return []; // then there is no switch button
  }
}

/** Captures the current frame as a full-size JPEG; null if the browser cannot. */
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
