import { PortalError } from "@relicario/shared/errors";
import type { INavigator, IWindow, NavigateResponse } from "oidc-client-ts";
import { z } from "zod";

/**
 * Settings of the popup (specification, section 9): its size in pixels, the time limit, and the
 * interval of checks whether it was closed.
 */
export const popupSettings = {
  height: 640,
  width: 600,
  pollMs: 250,
  timeLimitMs: 5 * 60_000,
} as const;

/** Message that `silent-renew.html` posts. */
const CallbackMessage = z.object({ source: z.literal("oidc-client"), url: z.string() });

/**
 * Popup navigator for `signinPopup`. Replaces the library's navigator, which reports a failure only
 * by the message of a plain Error.
 * @throws PortalError `popup_blocked` when no popup opens, `cancelled` when it was closed,
 *   `timed_out` after five minutes
 */
export function createWindowNavigator(): INavigator {
  return {
    prepare: async () => wrapPopup(openPopup()),
    // not used: silent-renew.html posts the response itself
    callback: () => Promise.reject(new PortalError("login_failed")),
  };
}

/** What `/signed-in` of the vault's origin answers to a page of the portal that asks. */
const SignedInMessage = z.strictObject({ relicario: z.literal("signed-in"), answer: z.string() });

/**
 * Opens the provider's page for the vault. Returns the query with which the provider came back to
 * the vault's origin: that window has no opener, so it is asked until it answers.
 *
 * @throws PortalError those of {@link createWindowNavigator}
 */
export async function openSignInWindow(address: string, vaultOrigin: string): Promise<string> {
  const popup = openPopup();
  try {
    popup.location.replace(z.url({ protocol: /^https?$/ }).parse(address));
    popup.focus();
    return await waitInPopup<string>(popup, (resolve, ended) => {
      window.addEventListener(
        "message",
        ({ data, origin, source }: MessageEvent<unknown>) => {
          const message = SignedInMessage.safeParse(data);
          if (source === popup && origin === vaultOrigin && message.success) resolve(message.data.answer);
        },
        { signal: ended },
      );
      const asking = setInterval(() => {
        popup.postMessage({ relicario: "sign-in" }, "*"); // elsewhere it says nothing
      }, popupSettings.pollMs);
      ended.addEventListener("abort", () => {
        clearInterval(asking);
      });
    });
  } catch (error) {
    popup.close(); // without effect on a page of another origin; `/signed-in` closes itself
    throw error;
  }
}

/** @throws PortalError `popup_blocked` */
function openPopup(): Window {
  const popup = window.open("", "_blank", buildFeatures());
  if (popup === null) throw new PortalError("popup_blocked");
  popup.opener = null; // else the provider's pages could navigate this one
  return popup;
}

function wrapPopup(popup: Window): IWindow {
  const close = () => {
    popup.close();
  };
  return {
    navigate: async ({ url }) => {
      const responsePromise = waitForCallback(popup, new URL(url).searchParams.get("state") ?? "");
      popup.location.replace(url);
      popup.focus();
      try {
        return await responsePromise;
      } finally {
        close();
      }
    },
    close,
  };
}

function waitForCallback(popup: Window, state: string): Promise<NavigateResponse> {
  return waitInPopup<NavigateResponse>(popup, (resolve, ended) => {
    const channel = new BroadcastChannel(`sign-in:${state}`);
    channel.onmessage = ({ data }) => {
      const message = CallbackMessage.safeParse(data);
      if (message.success) resolve({ url: message.data.url });
    };
    ended.addEventListener("abort", () => {
      channel.close();
    });
  });
}

/** Rejects with `cancelled` when the popup was closed, with `timed_out` after the time limit. */
function waitInPopup<T>(popup: Window, wait: (resolve: (result: T) => void, ended: AbortSignal) => void): Promise<T> {
  const controller = new AbortController();
  const result = new Promise<T>((resolve, reject) => {
    wait(resolve, controller.signal);
    let wasClosed = false;
    const closedCheck = setInterval(() => {
      if (wasClosed) reject(new PortalError("cancelled"));
      wasClosed = popup.closed; // a window that answers and closes is heard first
    }, popupSettings.pollMs);
    const timeout = setTimeout(() => {
      reject(new PortalError("timed_out"));
    }, popupSettings.timeLimitMs);
    controller.signal.addEventListener("abort", () => {
      clearInterval(closedCheck);
      clearTimeout(timeout);
    });
  });
  return result.finally(() => {
    controller.abort();
  });
}

/** Window features that centre the popup over the page. */
function buildFeatures(): string {
  const { screenX, screenY, outerWidth, outerHeight } = window;
  const { width, height } = popupSettings;
  const left = Math.max(0, Math.round(screenX + (outerWidth - width) / 2));
  const top = Math.max(0, Math.round(screenY + (outerHeight - height) / 2));
  return Object.entries({ popup: "yes", width, height, left, top })
    .map(([name, value]) => `${name}=${String(value)}`)
    .join(",");
}
