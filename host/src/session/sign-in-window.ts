import { PortalError } from "@relicario/shared/errors";
import type { INavigator, IWindow, NavigateResponse } from "oidc-client-ts";
import { z } from "zod";

/**
 * Numbers of the window (specification, section 9): its height in pixels, and how often it is
 * checked whether it was closed.
 */
export const popupNumbers = {
  height: 640,
  width: 600,
  lookMs: 500,
  /** Time limit of a sign-in in the window. */
  limitMs: 5 * 60_000,
} as const;

/** The message of `silent-renew.html`. */
const Answer = z.object({ source: z.literal("oidc-client"), url: z.string() });

/**
 * The popup navigator for `signinPopup`. The library's own tells only by the message of a plain
 * Error why there is no answer, so this one replaces it.
 * @throws PortalError `popup_blocked` when no window opens, `cancelled` when it was closed,
 *   `timed_out` after five minutes
 */
export function createWindowNavigator(): INavigator {
  return {
    prepare: () => {
      const popup = window.open("", "_blank", features());
      return popup === null ? Promise.reject(new PortalError("popup_blocked")) : Promise.resolve(windowOver(popup));
    },
    // not used: silent-renew.html sends the answer itself
    callback: () => Promise.reject(new PortalError("login_failed")),
  };
}

function windowOver(popup: Window): IWindow {
  const close = () => {
    popup.close();
  };
  return {
    navigate: async ({ url }) => {
      popup.location.replace(url);
      popup.focus();
      try {
        return await answerOf(popup);
      } finally {
        close();
      }
    },
    close,
  };
}

function answerOf(popup: Window): Promise<NavigateResponse> {
  const over = new AbortController(); // stops the listener and both timers
  const answer = new Promise<NavigateResponse>((resolve, reject) => {
    window.addEventListener(
      "message",
      ({ origin, source, data }) => {
        if (source !== popup || origin !== window.location.origin) return;
        const handed = Answer.safeParse(data);
        if (handed.success) resolve({ url: handed.data.url });
      },
      { signal: over.signal },
    );
    const look = setInterval(() => {
      if (popup.closed) reject(new PortalError("cancelled"));
    }, popupNumbers.lookMs);
    const late = setTimeout(() => {
      reject(new PortalError("timed_out"));
    }, popupNumbers.limitMs);
    over.signal.addEventListener("abort", () => {
      clearInterval(look);
      clearTimeout(late);
    });
  });
  return answer.finally(() => {
    over.abort();
  });
}

/** Centred over the page. */
function features(): string {
  const { screenX, screenY, outerWidth, outerHeight } = window;
  const { width, height } = popupNumbers;
  const left = Math.max(0, Math.round(screenX + (outerWidth - width) / 2));
  const top = Math.max(0, Math.round(screenY + (outerHeight - height) / 2));
  return Object.entries({ popup: "yes", width, height, left, top })
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(",");
}
