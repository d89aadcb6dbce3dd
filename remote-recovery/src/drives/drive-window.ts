import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

/** Pixels, and how often the window is looked at. */
const popupSettings = { width: 640, height: 720, pollMilliseconds: 500 } as const;

/** What `host/public/drive-answer.js` tells. */
const AnswerMessage = z.object({ answer: z.string() });

/** A window beside the page in which a provider of a cloud drive asks the person. */
export interface DriveWindow {
  /** Undefined once the provider's policy has cut it from this page, or it was closed. */
  readonly getPopup: () => Window | undefined;
  /**
   * Goes to an address that ends with the answer at {@link answerUrl}; a state of its own is
   * added and the answer has to bear it.
   * @throws PortalError `cancelled` when the signal ends it, `consent_required` when the answer is
   *   an error
   */
  readonly requestAnswer: (url: URL) => Promise<URLSearchParams>;
  /** Posts a form from the page of the last answer, or from a new one. */
  readonly postForm: (url: string, fields: Readonly<Record<string, string>>) => Promise<void>;
  readonly close: () => void;
}

export interface DriveWindowSettings {
  readonly signal: AbortSignal;
  /**
   * The window cannot be seen any more. Either it was closed, or a provider's opener policy cut it
   * off: so this ends nothing, and an answer that still comes is taken.
   */
  readonly onLost: () => void;
}

/** Where every answer ends: registered with the providers, exactly so. */
export function answerUrl(): string {
  return new URL("/drive-answer.html", window.location.origin).href;
}

/**
 * Opens the window, empty; only a click may do that.
 * @throws PortalError `popup_blocked`
 */
export function openDriveWindow({ signal, onLost }: DriveWindowSettings): DriveWindow {
  const popup = window.open("", "_blank", windowFeatures());
  if (popup === null) throw new PortalError("popup_blocked");
  /** To the page of the last answer, while it stands in the window. */
  let channel: BroadcastChannel | null = null;
  const pollTimer = setInterval(() => {
    if (!popup.closed) return;
    clearInterval(pollTimer);
    onLost();
  }, popupSettings.pollMilliseconds);

  const waitForAnswer = (state: string, send: () => void): Promise<URLSearchParams> => {
    const answerChannel = new BroadcastChannel(`drive-answer:${state}`);
    const answer = new Promise<URLSearchParams>((resolve, reject) => {
      answerChannel.onmessage = ({ data }) => {
        const message = AnswerMessage.safeParse(data);
        const parameters = new URLSearchParams(message.data?.answer ?? "");
        if (message.success && parameters.get("state") === state) resolve(parameters);
      };
      signal.addEventListener("abort", () => {
        reject(new PortalError("cancelled"));
      });
    });
    send();
    channel?.close();
    channel = answerChannel;
    return answer;
  };
  const navigate = (url: string) => {
    if (channel === null) popup.location.replace(url);
    else channel.postMessage({ next: "go", address: url });
  };

  return {
    getPopup: () => (popup.closed ? undefined : popup),
    requestAnswer: async (url) => {
      const state = createState();
      url.searchParams.set("state", state);
      const answer = await waitForAnswer(state, () => {
        navigate(url.href);
      });
      // `access_denied` is the person's no; all other errors are the provider's, or of a wrong
      // configuration.
      if (answer.has("error")) throw new PortalError("consent_required");
      return answer;
    },
    postForm: async (url, fields) => {
      const state = createState();
      if (channel === null)
        await waitForAnswer(state, () => {
          navigate(`${answerUrl()}?state=${state}`);
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

/** Centred over the page. */
function windowFeatures(): string {
  const { screenX, screenY, outerWidth, outerHeight } = window;
  const { width, height } = popupSettings;
  const left = Math.max(0, Math.round(screenX + (outerWidth - width) / 2));
  const top = Math.max(0, Math.round(screenY + (outerHeight - height) / 2));
  return Object.entries({ popup: "yes", width, height, left, top })
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(",");
}
