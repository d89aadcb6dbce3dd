import { PortalError } from "@relicario/shared/errors";
import type { INavigator, IWindow, NavigateResponse } from "oidc-client-ts";
import { z } from "zod";

/**
 * Numbers of the window (specification, section 9): its height in pixels, and how often it is
 * checked whether it was closed.
 */
export const popupSettings = {
  height: 640,
  width: 600,
  pollMs: 500,
  /** Time limit of a sign-in in the window. */
  timeLimitMs: 5 * 60_000,
} as const;

/** The message of `silent-renew.html`. */
const AnswerMessage = z.object({ source: z.literal("oidc-client"), url: z.string() });

/**
 * The popup navigator for `signinPopup`. The library's own tells only by the message of a plain
 * Error why there is no answer, so this one replaces it.
 * @throws PortalError `popup_blocked` when no window opens, `cancelled` when it was closed,
 *   `timed_out` after five minutes
 */
export function createWindowNavigator(): INavigator {
  return {
    prepare: () => {
      const popup = window.open("", "_blank", buildFeatures());
      return popup === null ? Promise.reject(new PortalError("popup_blocked")) : Promise.resolve(wrapPopup(popup));
    },
    // not used: silent-renew.html sends the answer itself
    callback: () => Promise.reject(new PortalError("login_failed")),
  };
}

function wrapPopup(popup: Window): IWindow {
  const close = () => {
    popup.close();
  };
  return {
    navigate: async ({ url }) => {
      popup.location.replace(url);
      popup.focus();
      try {
        return await waitForAnswer(popup);
      } finally {
        close();
      }
    },
    close,
  };
}

function waitForAnswer(popup: Window): Promise<NavigateResponse> {
  const controller = new AbortController(); // stops the listener and both timers
  const answer = new Promise<NavigateResponse>((resolve, reject) => {
    window.addEventListener(
      "message",
      ({ origin, source, data }) => {
        if (source !== popup || origin !== window.location.origin) return;
        const message = AnswerMessage.safeParse(data);
        if (message.success) resolve({ url: message.data.url });
      },
      { signal: controller.signal },
    );
    const closedCheck = setInterval(() => {
      if (popup.closed) reject(new PortalError("cancelled"));
    }, popupSettings.pollMs);
    const timeout = setTimeout(() => {
      reject(new PortalError("timed_out"));
    }, popupSettings.timeLimitMs);
    controller.signal.addEventListener("abort", () => {
      clearInterval(closedCheck);
      clearTimeout(timeout);
    });
  });
  return answer.finally(() => {
    controller.abort();
  });
}

/** Centred over the page. */
function buildFeatures(): string {
  const { screenX, screenY, outerWidth, outerHeight } = window;
  const { width, height } = popupSettings;
  const left = Math.max(0, Math.round(screenX + (outerWidth - width) / 2));
  const top = Math.max(0, Math.round(screenY + (outerHeight - height) / 2));
  return Object.entries({ popup: "yes", width, height, left, top })
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(",");
}
