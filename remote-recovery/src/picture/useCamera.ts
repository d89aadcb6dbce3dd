import { useCallback, useEffect, useRef, useState } from "react";

export type CameraState =
  | { readonly status: "off" }
  | { readonly status: "starting" }
  /** `others`: there is another camera to turn to. */
  | { readonly status: "on"; readonly stream: MediaStream; readonly others: boolean }
  | { readonly status: "failed"; readonly reason: "refused" | "missing" | "ended" };

/** As much as the camera has: detail is what makes a picture a key. */
const wanted = { width: { ideal: 4096 }, height: { ideal: 3072 } } as const satisfies MediaTrackConstraints;

/**
 * The device's camera while it is asked for: the one at the back first. It is off again when a
 * picture was taken and when the screen is left.
 */
export function useCamera() {
  const [camera, setCamera] = useState<CameraState>({ status: "off" });
  const attempt = useRef(0);
  const open = useRef<MediaStream | null>(null);

  const release = useCallback(() => {
    attempt.current++;
    for (const track of open.current?.getTracks() ?? []) track.stop();
    open.current = null;
  }, []);
  const stop = useCallback(() => {
    release();
    setCamera({ status: "off" });
  }, [release]);
  useEffect(() => release, [release]);

  const start = async (which: MediaTrackConstraints = { facingMode: "environment" }): Promise<void> => {
    release();
    const own = attempt.current;
    setCamera({ status: "starting" });
    try {
      const stream = await navigator.mediaDevices.getUserMedia({ video: { ...wanted, ...which }, audio: false });
      if (attempt.current !== own) {
        for (const track of stream.getTracks()) track.stop(); // closed while it was starting
        return;
      }
      open.current = stream;
      const [track] = stream.getVideoTracks();
      track?.addEventListener("ended", () => {
        if (attempt.current !== own) return;
        release(); // unplugged, or its permission was taken back
        setCamera({ status: "failed", reason: "ended" });
      });
      const others = (await cameras()).length > 1;
      if (attempt.current === own) setCamera({ status: "on", stream, others });
    } catch (error) {
      const missing =
        error instanceof DOMException && (error.name === "NotFoundError" || error.name === "OverconstrainedError");
      if (attempt.current === own) setCamera({ status: "failed", reason: missing ? "missing" : "refused" });
    }
  };

  /**
   * To the camera at the other side, or, where the cameras do not say where they look, to the next
   * one.
   */
  const turn = async (): Promise<void> => {
    const now = open.current?.getVideoTracks()[0]?.getSettings();
    if (now?.facingMode !== undefined) return start({ facingMode: now.facingMode === "user" ? "environment" : "user" });
    const ids = await cameras();
    const next = ids[(ids.indexOf(now?.deviceId ?? "") + 1) % ids.length];
    return next === undefined ? undefined : start({ deviceId: { exact: next } });
  };
  return { camera, start, stop, turn };
}

/**
 * Ids of the cameras. Browsers tell them once a camera was allowed; none where they tell nothing.
 */
async function cameras(): Promise<readonly string[]> {
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
