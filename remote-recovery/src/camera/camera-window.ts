import { createChannel, createWindowEndpoint, languages } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

/**
 * [Note: Camera window] A camera's permission belongs to the top-level page, and a page that has it
 * could record what the person photographs. So the portal's page has none, nor do its frames. An
 * element opens a small top-level window of the vault's origin:
 *
 * 1. Element: opens `/element` under a random name, and serves `elementPage` to it over a channel
 *    of their own origin.
 * 2. Window: finds the controller by its opener (host/src/vault-origin), calls
 *    `elementPage.start`, which returns {@link CameraWindowSettings}, and starts the camera.
 * 3. Window: gives the picture, or the text of the QR code, to `elementPage.done`. Only documents
 *    of the vault's origin ever have it.
 * 4. Element: closes the window, also when the vault locks.
 */
export const CameraWindowSettings = z.strictObject({
  use: z.enum(["picture", "qr_code"]),
  language: z.enum(languages),
  theme: z.enum(["light", "dark"]),
});
export type CameraWindowSettings = z.infer<typeof CameraWindowSettings>;

export type CameraUse = CameraWindowSettings["use"];

/** Why the camera itself ended. */
const CameraProblem = z.enum(["refused", "missing", "ended"]);
export type CameraProblem = z.infer<typeof CameraProblem>;

/** `closed` by the person, `blocked` by the browser, `unavailable` if the vault did not start. */
export type CameraWindowFailure = CameraProblem | "closed" | "blocked" | "unavailable";

interface CameraWindowHandlers<Result> {
  readonly onDone: (result: Result) => void;
  readonly onFailed: (failure: CameraWindowFailure) => void;
  /** The person wants no picture. */
  readonly onCancel: () => void;
}

const pollMilliseconds = 500;

/**
 * Opens the window; browsers allow it only in a click handler. Calls one handler, once, and closes
 * the window.
 *
 * @param resultSchema what the window gives for its use
 * @returns a function that closes the window and calls no handler
 */
export function openCameraWindow<Result>(
  settings: CameraWindowSettings,
  resultSchema: z.ZodType<Result>,
  { onDone, onFailed, onCancel }: CameraWindowHandlers<Result>,
): () => void {
  const cameraWindow = window.open("/element", crypto.randomUUID(), "popup=yes,width=640,height=760");
  if (cameraWindow === null) {
    onFailed("blocked");
    return () => undefined;
  }
  const channel = createChannel(createWindowEndpoint(window, () => cameraWindow, window.location.origin));
  const pollTimer = setInterval(() => {
    if (cameraWindow.closed) end(onFailed, "closed");
  }, pollMilliseconds);
  const close = (): void => {
    clearInterval(pollTimer);
    window.removeEventListener("pagehide", close);
    channel.close(new PortalError("cancelled"));
    cameraWindow.close();
  };
  window.addEventListener("pagehide", close);
  channel.serve("elementPage", {
    start: () => settings,
    done: (result: unknown) => {
      end(onDone, resultSchema.parse(result));
    },
    cancel: () => {
      end(onCancel, null);
    },
    endCamera: (problem: unknown) => {
      end(onFailed, CameraProblem.parse(problem));
    },
    fail: () => {
      end(onFailed, "unavailable");
    },
  });
  return close;

  function end<Value>(handler: (value: Value) => void, value: Value): void {
    close();
    handler(value);
  }
}
