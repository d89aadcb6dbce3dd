import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

/** Size of the popup in pixels, and how often to check whether it was closed. */
const popupSettings = { width: 640, height: 720, pollMilliseconds: 500 } as const;

/** Message of `host/public/drive-answer.js`: the parameters of the redirect. */
const AnswerMessage = z.object({ answer: z.string() });

/** A popup in which a drive's provider asks the person for consent. */
export interface DriveWindow {
  /** Undefined once the popup was closed, or the provider's opener policy cut it off. */
  readonly getPopup: () => Window | undefined;
  /**
   * Opens an authorization URL, adds a random `state`, and returns the parameters of the redirect
   * to {@link getRedirectUrl} with the same `state`.
   * @throws PortalError `cancelled` on abort, `consent_required` if the provider redirects with an
   * error
   */
  readonly requestAuthorization: (url: URL) => Promise<URLSearchParams>;
  /** Posts a form from the redirect page, which is opened first if necessary. */
  readonly postForm: (url: string, fields: Readonly<Record<string, string>>) => Promise<void>;
  readonly close: () => void;
}

export interface DriveWindowSettings {
  readonly signal: AbortSignal;
  /**
   * Called when the popup was closed, or when a provider's opener policy cut it off. The page
   * cannot tell which, so the operation continues and still accepts a response.
   */
  readonly onLost: () => void;
}

/** Redirect URI, registered with the providers in exactly this form. */
export function getRedirectUrl(): string {
  return new URL("/drive-answer.html", window.location.origin).href;
}

/**
 * Opens an empty popup; browsers allow it only in a click handler.
 * @throws PortalError `popup_blocked`
 */
export function openDriveWindow({ signal, onLost }: DriveWindowSettings): DriveWindow {
  const popup = window.open("", "_blank", buildWindowFeatures());
  if (popup === null) throw new PortalError("popup_blocked");
  /** Channel to the redirect page in the popup; null before the first redirect. */
  let channel: BroadcastChannel | null = null;
  const pollTimer = setInterval(() => {
    if (!popup.closed) return;
    clearInterval(pollTimer);
    onLost();
  }, popupSettings.pollMilliseconds);

  const waitForResponse = (state: string, send: () => void): Promise<URLSearchParams> => {
    const responseChannel = new BroadcastChannel(`drive-answer:${state}`);
    const responsePromise = new Promise<URLSearchParams>((resolve, reject) => {
      responseChannel.onmessage = ({ data }) => {
        const message = AnswerMessage.safeParse(data);
        const parameters = new URLSearchParams(message.data?.answer ?? "");
        if (message.success && parameters.get("state") === state) resolve(parameters);
      };
      responseChannel.onmessageerror = () => {
        reject(new PortalError("bad_answer"));
      };
      const cancel = () => {
        reject(new PortalError("cancelled"));
      };
      if (signal.aborted) cancel(); // aborted while the URL was being prepared
      signal.addEventListener("abort", cancel);
    });
    send();
    channel?.close();
    channel = responseChannel;
    return responsePromise;
  };
  const navigate = (url: string) => {
    if (channel === null) popup.location.replace(url);
    else channel.postMessage({ next: "go", address: url });
  };

  return {
    getPopup: () => (popup.closed ? undefined : popup),
    requestAuthorization: async (url) => {
      const state = createState();
      url.searchParams.set("state", state);
      const response = await waitForResponse(state, () => {
        navigate(url.href);
      });
      // `access_denied` means that the person refused. All other errors come from the provider or
      // from a wrong configuration.
      if (response.has("error")) throw new PortalError("consent_required");
      return response;
    },
    postForm: async (url, fields) => {
      const state = createState();
      if (channel === null)
        await waitForResponse(state, () => {
          navigate(`${getRedirectUrl()}?state=${state}`);
        });
      channel?.postMessage({ next: "post", address: url, fields });
    },
    close: () => {
      clearInterval(pollTimer);
      channel?.postMessage({ next: "close" });
      channel?.close();
      channel = null;
      popup.close();
    },
  };
}

/** 128 random bits. */
function createState(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function buildWindowFeatures(): string {
  const { screenX, screenY, outerWidth, outerHeight } = window;
  const { width, height } = popupSettings;
  const left = Math.max(0, Math.round(screenX + (outerWidth - width) / 2));
  const top = Math.max(0, Math.round(screenY + (outerHeight - height) / 2));
  return Object.entries({ popup: "yes", width, height, left, top })
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(",");
}
