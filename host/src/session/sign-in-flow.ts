import { pageStorage, type Language } from "@relicario/shared/contract";
import type { ErrorCode } from "@relicario/shared/errors";
import type { User, UserManager } from "oidc-client-ts";
import { z } from "zod";

import { toCallbackUrl, getCleanPath, isSignInCallback, toSafeReturnPath } from "./sign-in-callback.ts";
import type { SessionEvent, SessionState, SessionUser } from "./session-state.ts";
import { toSessionUser } from "./session-user.ts";
import { toSignInError } from "./sign-in-errors.ts";

export interface SignInFlowDeps {
  readonly manager: Pick<UserManager, "getUser" | "removeUser" | "signinCallback" | "signinRedirect">;
  readonly window: Pick<Window, "history" | "location">;
  readonly getState: () => SessionState;
  readonly dispatch: (event: SessionEvent) => void;
  readonly getLanguage: () => Language;
  /** Called when session storage has a user whose access token has not expired. */
  readonly onUserRestored: (user: User) => void;
  /** Whether the session is ending. If so, the flow signs no one in. */
  readonly isEnding: () => boolean;
  readonly log: (step: string, error: unknown) => void;
}

export interface SignInOptions {
  /**
   * Makes the provider ask for credentials even if it has a session of the person. For a sign-in
   * that the service refuses.
   */
  readonly again?: boolean;
}

/**
 * Sign-in by redirect: going to the provider, returning from it, and restoring the user after a
 * reload.
 */
export interface SignInFlow {
  /**
   * Handles the provider's response in the URL, or restores the stored user. Resolves when the
   * state is settled.
   */
  readonly start: () => Promise<void>;
  /** The path that will probably be shown after `start`. */
  readonly getExpectedPath: () => string;
  /** Redirects to the provider, which returns to this path. */
  readonly signIn: (returnTo: string, options?: SignInOptions) => Promise<void>;
}

/**
 * Session storage key of the path to which a sign-in in progress returns. Only `getExpectedPath`
 * reads it; the redirect itself uses the sign-in client's state.
 */
const expectedPathKey = "pathAhead";
const ReturnState = z.object({ returnTo: z.string() });

export function createSignInFlow({
  manager,
  window,
  getState,
  dispatch,
  getLanguage,
  onUserRestored,
  isEnding,
  log,
}: SignInFlowDeps): SignInFlow {
  const { location, history } = window;
  const storage = pageStorage.session;

  const handleFailure = (code: ErrorCode): void => {
    if (countAuthError(storage)) {
      resetAuthErrors(storage);
      void manager.removeUser().finally(() => {
        location.replace(location.pathname);
      });
      return;
    }
    dispatch({ type: "failed", code });
  };

  const handleCallback = async (url: URL): Promise<void> => {
    dispatch({ type: "navigator_started", navigator: "sign_in" });
    storage.removeItem(expectedPathKey);
    try {
      const user = await manager.signinCallback(toCallbackUrl(url));
      const returnTo = ReturnState.safeParse(user?.state);
      history.replaceState(
        null,
        "",
        toSafeReturnPath(returnTo.success ? returnTo.data.returnTo : undefined, location.origin),
      );
    } catch (error) {
      history.replaceState(null, "", getCleanPath(url));
      handleFailure(toSignInError(error).code);
    }
  };

  /** The stored user; null when there is none, or the access token has expired. */
  const loadStoredUser = async (): Promise<{ readonly user: User; readonly sessionUser: SessionUser } | null> => {
    try {
      const user = await manager.getUser();
      return user === null || user.expired === true ? null : { user, sessionUser: toSessionUser(user) };
    } catch {
      // Unreadable storage counts as no user. The error is not logged: it could quote a token.
      log("remembered_user", "unreadable");
      return null;
    }
  };

  return {
    start: async () => {
      const url = new URL(location.href);
      if (isSignInCallback(url)) {
        await handleCallback(url);
        return;
      }
      const storedUser = await loadStoredUser();
      dispatch({ type: "initialised", user: storedUser?.sessionUser ?? null });
      if (storedUser === null || isEnding()) return;
      resetAuthErrors(storage);
      onUserRestored(storedUser.user);
    },
    getExpectedPath: () => {
      const url = new URL(location.href);
      return isSignInCallback(url)
        ? stripQuery(toSafeReturnPath(storage.getItem(expectedPathKey), location.origin))
        : url.pathname;
    },
    signIn: async (returnTo, { again = false } = {}) => {
      const state = getState();
      if (state.status === "loading" && (state.navigator === "sign_in" || state.navigator === "sign_out")) return;
      dispatch({ type: "navigator_started", navigator: "sign_in" });
      if (pageStorage.isSessionRefused()) {
        dispatch({ type: "failed", code: "storage_refused" }); // needs storage to verify the response
        return;
      }
      try {
        storage.setItem(expectedPathKey, stripQuery(returnTo));
        await manager.signinRedirect({
          state: { returnTo },
          ui_locales: getLanguage(),
          ...(again && { prompt: "login" }),
        });
      } catch (error) {
        handleFailure(toSignInError(error).code);
      }
    },
  };
}

function stripQuery(path: string): string {
  return path.replace(/[?#].*$/s, "");
}

/** Session storage: number of consecutive failed sign-ins. */
export const authRetryKey = "authRetry";

/**
 * After this many consecutive failures the stored user is removed and the page reloaded
 * (specification, section 4).
 */
const authRetryLimit = 2;

function writeAuthErrors(storage: Pick<Storage, "setItem">, count: number): boolean {
  try {
    storage.setItem(authRetryKey, String(count));
    return true;
  } catch {
    return false; // storage is full
  }
}

/** Counts a failure; true when the limit is reached. What cannot be counted never reaches it. */
export function countAuthError(storage: Pick<Storage, "getItem" | "setItem">): boolean {
  const count = Number.parseInt(storage.getItem(authRetryKey) ?? "0", 10);
  const next = (Number.isNaN(count) ? 0 : count) + 1;
  return writeAuthErrors(storage, next) && next >= authRetryLimit;
}

/**
 * Resets the count after a success, and before the reload, which would otherwise repeat forever
 * while the provider is down.
 */
export function resetAuthErrors(storage: Pick<Storage, "setItem">): void {
  writeAuthErrors(storage, 0);
}
