import type { UserManager } from "oidc-client-ts";

import { signInTimes } from "./oidc-settings.ts";
import { isTransientSignInError } from "./sign-in-errors.ts";

export interface SessionMonitorDeps {
  readonly manager: Pick<UserManager, "getUser" | "metadataService" | "querySessionStatus">;
  readonly clientId: string;
  /** Called when the provider no longer has the person's session. */
  readonly onSignedOut: () => void;
  readonly log: (step: string, error: unknown) => void;
}

/** The provider's session of the signed-in user. */
interface WatchedSession {
  readonly subject: string;
  /** As stored with the user. */
  readonly storedState: string;
}

/**
 * Time until a frame that does not answer is loaded again. Each message to a frame that could not
 * be loaded is an error in the browser's console.
 */
const reloadMs = 30_000;

/**
 * Asks the provider's frame every two seconds whether its session has changed (OpenID Connect
 * Session Management 1.0, 3). Loads the frame two seconds from now. Replaces oidc-client-ts's
 * monitor, which never reloads a frame that could not be loaded, and takes a provider that is away
 * for a sign-out.
 */
export function startSessionMonitor({ manager, clientId, onSignedOut, log }: SessionMonitorDeps): void {
  let frame: HTMLIFrameElement | null = null;
  let hasAnswered = false;
  /** Milliseconds of the monotonic clock. */
  let dueAt = 0;
  /** What a stored state has become since. */
  let changedState = { from: "", to: "" };

  const readSession = async (): Promise<WatchedSession | null> => {
    const user = await manager.getUser().catch(() => null); // unreadable storage counts as no user
    return user?.session_state == null ? null : { subject: user.profile.sub, storedState: user.session_state };
  };

  const ask = async (): Promise<void> => {
    hasAnswered = false;
    const session = await readSession();
    if (session === null || frame === null) return;
    const state = session.storedState === changedState.from ? changedState.to : session.storedState;
    frame.contentWindow?.postMessage(`${clientId} ${state}`, new URL(frame.src).origin);
  };

  const loadFrame = async (): Promise<void> => {
    frame?.remove();
    frame = null;
    const url = await manager.metadataService.getCheckSessionIframe();
    if (url === undefined) {
      clearInterval(timer); // the provider has none
      return;
    }
    frame = document.createElement("iframe");
    frame.hidden = true;
    frame.src = url;
    frame.addEventListener("load", () => void ask());
    document.body.append(frame);
  };

  const step = async (): Promise<void> => {
    if (performance.now() < dueAt || (await readSession()) === null) return;
    dueAt = performance.now() + reloadMs;
    await (hasAnswered ? ask() : loadFrame()).catch((error: unknown) => {
      log("session_check", error);
    });
  };

  const askAgain = (): void => {
    hasAnswered = true;
    dueAt = 0;
  };

  const checkStatus = async (): Promise<void> => {
    const session = await readSession();
    try {
      const status = await manager.querySessionStatus();
      const currentSession = await readSession();
      if (currentSession === null || currentSession.storedState !== session?.storedState) {
        askAgain(); // signed out or in again meanwhile
      } else if (status?.sub === session.subject) {
        changedState = { from: session.storedState, to: status.session_state };
        askAgain();
      } else onSignedOut();
    } catch (error) {
      if (isTransientSignInError(error)) log("session_check", error);
      else onSignedOut();
    }
  };

  window.addEventListener("message", ({ data, origin, source }: MessageEvent<unknown>) => {
    if (frame === null || source !== frame.contentWindow || origin !== new URL(frame.src).origin) return;
    if (data === "unchanged") askAgain();
    else if (data === "changed") void checkStatus();
  });
  const timer = setInterval(() => void step(), signInTimes.sessionCheck * 1_000);
}
