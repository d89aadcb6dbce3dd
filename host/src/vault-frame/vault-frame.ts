import { createChannel, createWindowEndpoint, type Channel } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

export interface VaultFrame {
  /**
   * The channel to the vault's frame. The first call creates the frame; after a failure the next
   * call tries again. Rejects with `vault_unavailable`.
   */
  readonly getChannel: () => Promise<Channel>;
}

export interface VaultFrameDeps {
  readonly vaultOrigin: string;
  /** Of this page, so that the frame runs the same release (canary.ts). */
  readonly rolloutBucket: number;
  readonly window: Window;
}

/** Milliseconds until a frame that does not answer counts as failed. */
export const frameTimeoutMs = 20_000;

/** The same once the browser has loaded it, or its own page about a failure. */
export const loadedTimeoutMs = 2_000;

/** Milliseconds between pings, and how many in a row a frame that crashed leaves unanswered. */
export const pingIntervalMs = 5_000;
export const unansweredPingLimit = 3;

/** What the frame posts when its channel is open. */
const ReadyNotice = z.strictObject({ relicario: z.literal("vault-ready") });

/**
 * The frame of the vault's origin: without a face, created once and kept for the page's life.
 * Messages pass only between this window and that frame's, at the exact origins.
 */
export function createVaultFrame({ vaultOrigin, rolloutBucket, window }: VaultFrameDeps): VaultFrame {
  let channelPromise: Promise<Channel> | null = null;

  function connect(): Promise<Channel> {
    const element = window.document.createElement("iframe");
    const parameters = new URLSearchParams({ portal: window.location.origin, bucket: String(rolloutBucket) });
    element.src = `${vaultOrigin}/controller#${parameters.toString()}`;
    element.hidden = true;
    element.tabIndex = -1;
    element.title = "vault";
    return new Promise((resolve, reject) => {
      let channel: Channel | null = null;
      let pingTimer: ReturnType<typeof setInterval> | undefined;
      let loadCount = 0;
      const fail = (reason: string): void => {
        clearTimeout(timer);
        clearInterval(pingTimer);
        window.removeEventListener("message", handleNotice);
        element.remove();
        channelPromise = null;
        const error = new PortalError("vault_unavailable", { details: { reason } });
        reject(error);
        channel?.close(error);
      };
      let timer = setTimeout(() => {
        fail("timed_out");
      }, frameTimeoutMs);
      element.addEventListener("load", () => {
        loadCount += 1;
        if (channel !== null) {
          if (loadCount > 1) fail("restarted"); // it was navigated: what it held is gone
          return;
        }
        clearTimeout(timer);
        timer = setTimeout(() => {
          fail("unreachable");
        }, loadedTimeoutMs);
      });
      const isFromFrame = (event: MessageEvent): boolean =>
        event.source === element.contentWindow && event.origin === vaultOrigin;
      const handleNotice = (event: MessageEvent<unknown>): void => {
        if (!isFromFrame(event)) return;
        if (!ReadyNotice.safeParse(event.data).success) return;
        if (channel !== null) {
          fail("restarted");
          return;
        }
        clearTimeout(timer);
        const openedChannel = createChannel(createWindowEndpoint(window, () => element.contentWindow, vaultOrigin));
        channel = openedChannel;
        pingTimer = watchPings(openedChannel, () => {
          fail("gone");
        });
        resolve(openedChannel);
      };
      window.addEventListener("message", handleNotice);
      window.document.body.append(element);
    });
  }

  return Object.freeze<VaultFrame>({ getChannel: () => (channelPromise ??= connect()) });
}

/** Browsers don't tell a page that a frame crashed. An answer with an error is one, too. */
function watchPings(channel: Channel, onGone: () => void): ReturnType<typeof setInterval> {
  let unansweredCount = 0;
  const handleAnswer = (): void => {
    unansweredCount = 0;
  };
  return setInterval(() => {
    if (unansweredCount >= unansweredPingLimit) {
      onGone();
      return;
    }
    unansweredCount += 1;
    channel.call("frame", ["ping"]).then(handleAnswer, handleAnswer);
  }, pingIntervalMs);
}
