import type { Language } from "@relicario/shared/contract";
import type { ErrorCode } from "@relicario/shared/errors";
import type { User, UserManager } from "oidc-client-ts";
import { z } from "zod";

import { toCallbackUrl, getCleanPath, isSignInCallback, toSafeReturnPath } from "./callback.ts";
import type { SessionEvent, SessionState, SessionUser } from "./machine.ts";
import { toSessionUser } from "./session-user.ts";
import { toSignInError } from "./sign-in-errors.ts";

export interface SignInFlowDeps {
  readonly manager: Pick<UserManager, "getUser" | "removeUser" | "signinCallback" | "signinRedirect">;
  readonly window: Pick<Window, "history" | "location" | "sessionStorage">;
  readonly getState: () => SessionState;
  readonly dispatch: (event: SessionEvent) => void;
  readonly getLanguage: () => Language;
  /** The tab remembers a user whose access token has not expired. */
  readonly onUserRestored: (user: User) => void;
  /** The session is being ended: nobody is signed in any more. */
  readonly isEnding: () => boolean;
  readonly log: (step: string, error: unknown) => void;
}

/**
 * Signing in by redirect: going to the provider, coming back, and what the tab remembers across a
 * reload.
 */
export interface SignInFlow {
  /**
   * Handles the provider's answer in the address, or restores the remembered user. Resolves when
   * the state is settled.
   */
  readonly start: () => Promise<void>;
  /** The path that will probably be shown after `start`. */
  readonly getExpectedPath: () => string;
  /** Goes to the provider, which sends the browser back to this path. */
  readonly signIn: (returnTo: string) => Promise<void>;
}

/**
 * Session storage: the path that a sign-in under way returns to, for `getExpectedPath` alone. The
 * address that the page really goes to is in the state that the sign-in client keeps.
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
  const { sessionStorage: storage, location, history } = window;

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

  /**
   * The user whom this tab remembers; null when there is none, or when the access token has
   * expired.
   */
  const loadStoredUser = async (): Promise<{ readonly user: User; readonly sessionUser: SessionUser } | null> => {
    try {
      const user = await manager.getUser();
      return user === null || user.expired === true ? null : { user, sessionUser: toSessionUser(user) };
    } catch {
      // Unreadable storage counts as no user, so that the person signs in again. The error is not
      // logged: it could quote a token.
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
    signIn: async (returnTo) => {
      const state = getState();
      if (state.status === "loading" && (state.navigator === "sign_in" || state.navigator === "sign_out")) return;
      dispatch({ type: "navigator_started", navigator: "sign_in" });
      try {
        storage.setItem(expectedPathKey, stripQuery(returnTo));
        await manager.signinRedirect({ state: { returnTo }, ui_locales: getLanguage() });
      } catch (error) {
        handleFailure(toSignInError(error).code);
      }
    },
  };
}

function stripQuery(path: string): string {
  return path.replace(/[?#].*$/s, "");
}

/** Session storage: how many sign-ins in a row failed. */
export const authRetryKey = "authRetry";

/**
 * After this many failures in a row the stored user is removed and the page is loaded anew
 * (specification, section 4).
 */
const authRetryLimit = 2;

/** Counts one more failure; true when the limit is reached. */
export function countAuthError(storage: Pick<Storage, "getItem" | "setItem">): boolean {
  const count = Number.parseInt(storage.getItem(authRetryKey) ?? "0", 10);
  const next = (Number.isNaN(count) ? 0 : count) + 1;
  storage.setItem(authRetryKey, String(next));
  return next >= authRetryLimit;
}

/**
 * After a success; and before the page is loaded anew, which would otherwise go on for ever while
 * the provider is down.
 */
export function resetAuthErrors(storage: Pick<Storage, "setItem">): void {
  storage.setItem(authRetryKey, "0");
}
