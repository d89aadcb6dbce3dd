import { createHttp, TokenCerts } from "@relicario/shared/api";
import type { Deployment, Http, Language, LockReason, PortalForServices } from "@relicario/shared/contract";
import { isPortalError, PortalError, type ErrorCode } from "@relicario/shared/errors";
import type { User } from "oidc-client-ts";
import { z } from "zod";
import { createStore } from "zustand/vanilla";

import { createTokenCall } from "./ask-for-token.ts";
import { createAuthorisedHttp } from "./authorised-http.ts";
import { callbackAddress, cleanedAddress, isSignInCallback, safeReturnPath } from "./callback.ts";
import { fragmentNames } from "./fragment.ts";
import { createLockListeners } from "./lock-listeners.ts";
import { initialSession, nextSession, type SessionEvent, type SessionState, type SessionUser } from "./machine.ts";
import { countAuthError, resetAuthErrors } from "./retry.ts";
import { freshAuthTime, sessionUser } from "./session-user.ts";
import { signInSettings, signInTimes } from "./settings.ts";
import { createSignInClient } from "./sign-in-client.ts";
import { mayPass, signInError } from "./sign-in-errors.ts";
import { isFirstToSignOut, signOut } from "./sign-out.ts";
import { createSilentRenewal } from "./silent-renewal.ts";
import { createTokenExchange, heldSession, type TokenExchange } from "./token-exchange.ts";
import { createTokenVerifier } from "./verify-token.ts";

export interface SessionParts {
  readonly deployment: Deployment;
  /** The page. */
  readonly window: Window;
  readonly language: () => Language;
  /** Query cache and everything else that holds what belongs to the person. */
  readonly clearCaches: () => void;
  /** A vendor named in the address is not known to the service, and was ignored. */
  readonly onVendorIgnored: () => void;
  readonly log: (step: string, error: unknown) => void;
  /** Tabs of this origin; null where the browser has none. */
  readonly channel: BroadcastChannel | null;
}

/** Everything that the rest of the host knows of sign-in. */
export interface Session {
  readonly getState: () => SessionState;
  readonly subscribe: (listener: () => void) => () => void;
  /** Reads an answer of the provider in the address, or what this tab remembers. Resolves when the state is settled. */
  readonly start: () => Promise<void>;
  /** The path that will be shown once that is settled: a guess, so that its code can be fetched meanwhile. */
  readonly pathAhead: () => string;
  /** Goes to the provider, and comes back to this path. */
  readonly signIn: (returnTo: string) => Promise<void>;
  /** The contract's `signInAgain`: the same person, in a window beside the page. The session token carries it too. */
  readonly signInAgain: PortalForServices["signInAgain"];
  readonly signOut: () => Promise<void>;
  /** The session ended in another tab or at the provider, and this page started bare since. */
  readonly endedElsewhere: () => boolean;
  readonly exchange: TokenExchange;
  /** Calls with the session token; not limited to paths. Each is made once: queries are tried again by their cache. */
  readonly http: Http;
  /** Calls without a token, each made once. */
  readonly publicHttp: Http;
  /** The same two for who has no query cache, such as the vault's worker: reads are tried again. */
  readonly repeating: { readonly http: Http; readonly publicHttp: Http };
  readonly onLock: (listener: (reason: LockReason) => void | Promise<void>) => () => void;
  /** Everybody puts keys and plaintext away. */
  readonly lock: () => Promise<void>;
}

/** Session storage: the path that a sign-in under way comes back to. What it really goes to is in the sign-in's own state. */
const pathAheadKey = "pathAhead";
const ReturnState = z.object({ returnTo: z.string() });
const signedOutMessage = "signed_out";
/** State of the history entry that a page starts bare with after the session ended elsewhere. */
const leftMark = { signedOut: true } as const;
const Left = z.object({ signedOut: z.literal(true) });

export function createSession(parts: SessionParts): Session {
  const { deployment, window, channel } = parts;
  const { sessionStorage: storage, location, history } = window;
  const { base_url: baseUrl, credentials } = deployment.api;

  const store = createStore(() => initialSession);
  let leaving = false;
  const left = Left.safeParse(history.state).success;
  const dispatch = (event: SessionEvent) => {
    store.setState(nextSession(store.getState(), event), true);
  };

  const listeners = createLockListeners();
  const { manager, monitorSession, renew, signInAgain } = createSignInClient(signInSettings(deployment.identity, location.origin, storage), {
    started: (navigator) => {
      dispatch({ type: "navigator_started", navigator });
    },
    ended: (navigator) => {
      dispatch({ type: "navigator_ended", navigator });
    },
  });
  manager.events.addUserLoaded((user) => {
    if (leaving) return;
    resetAuthErrors(storage);
    dispatch({ type: "user_loaded", user: sessionUser(user) });
    exchange.start(user.access_token);
    renewal.watch(user, "new");
  });
  manager.events.addUserUnloaded(() => {
    dispatch({ type: "user_unloaded" });
  });
  manager.events.addUserSignedOut(() => {
    void leave();
  });
  manager.clearStaleState().catch((error: unknown) => {
    parts.log("stale_state", error);
  });
  const nobody = { baseUrl, credentials, token: () => Promise.resolve(null) };
  const publicHttp = createHttp({ ...nobody, retries: 0 });
  const tokenCall = createTokenCall({
    http: publicHttp,
    storage,
    ownVendor: deployment.vendor_id,
    onVendorIgnored: parts.onVendorIgnored,
    renewAccessToken: async () => {
      const user = await renew().catch((error: unknown) => {
        throw signInError(error);
      });
      if (user === null) throw new PortalError("login_required");
      return user.access_token;
    },
  });
  const exchange = createTokenExchange({
    storage,
    vendorId: tokenCall.vendorId,
    exchange: tokenCall.ask,
    now: Date.now,
    verify: createTokenVerifier({
      address: new URL(`${baseUrl}/auth/token-certs`),
      certs: (signal) => publicHttp.request("GET", "/auth/token-certs", TokenCerts, { signal }),
      now: Date.now,
      warn: (message) => {
        parts.log("token", message);
      },
    }),
  });

  /**
   * The session ended in another tab, or at the provider: nothing of this person stays on the page, which starts bare. It
   * does not go to the provider by itself, or it would be signed in again while the other tab is still on its way out.
   */
  async function leave(): Promise<void> {
    if (leaving) return;
    leaving = true;
    dispatch({ type: "navigator_started", navigator: "sign_out" });
    await startBare();
  }

  async function startBare(): Promise<void> {
    renewal.stop();
    await listeners.run("sign_out");
    clearAll();
    await manager.removeUser();
    history.replaceState(leftMark, "", "/");
    location.reload();
  }

  function clearAll(): void {
    exchange.clear();
    parts.clearCaches();
    for (const key of fragmentNames) storage.removeItem(key);
  }

  function fail(code: ErrorCode): void {
    if (countAuthError(storage)) {
      resetAuthErrors(storage);
      void manager.removeUser().finally(() => {
        location.replace(location.pathname);
      });
      return;
    }
    dispatch({ type: "failed", code });
  }

  const renewal = createSilentRenewal({
    renew,
    isTimeout: (error) => isPortalError(signInError(error), "timed_out"),
    mayPass,
    onError: (error) => {
      const { code } = signInError(error);
      parts.log("silent_renewal", code);
      // A provider that is away for a moment takes no screen away: the session token lives on, and this is tried again.
      if (!mayPass(error)) dispatch({ type: "failed", code });
    },
    now: Date.now,
  });

  // A page that comes back as it was left, on its way to the provider, would be on its way for ever.
  window.addEventListener("pageshow", ({ persisted }) => {
    if (persisted && store.getState().status === "loading") location.reload();
  });
  channel?.addEventListener("message", ({ data }) => {
    if (data === signedOutMessage) void leave();
  });

  /** Whom this tab remembers, and how they are shown; null when nobody is remembered, or not any more. */
  async function remembered(): Promise<{ readonly user: User; readonly shown: SessionUser } | null> {
    try {
      const user = await manager.getUser();
      return user === null || user.expired === true ? null : { user, shown: sessionUser(user) };
    } catch {
      parts.log("remembered_user", "unreadable"); // what is kept means nobody: they sign in. The error could quote a token.
      return null;
    }
  }

  return Object.freeze<Session>({
    getState: store.getState,
    subscribe: store.subscribe,
    start: async () => {
      setTimeout(monitorSession, signInTimes.sessionCheck * 1000); // its frame is one more page to load: the first screen comes before it
      const url = new URL(location.href);
      if (isSignInCallback(url)) {
        dispatch({ type: "navigator_started", navigator: "sign_in" });
        storage.removeItem(pathAheadKey);
        try {
          const user = await manager.signinCallback(callbackAddress(url));
          const returnTo = ReturnState.safeParse(user?.state);
          history.replaceState(null, "", safeReturnPath(returnTo.success ? returnTo.data.returnTo : undefined, location.origin));
        } catch (error) {
          history.replaceState(null, "", cleanedAddress(url));
          fail(signInError(error).code);
        }
        return;
      }
      const kept = await remembered();
      dispatch({ type: "initialised", user: kept?.shown ?? null });
      if (kept === null || leaving) return;
      resetAuthErrors(storage);
      exchange.start(kept.user.access_token);
      renewal.watch(kept.user, "kept");
    },
    pathAhead: () => {
      const url = new URL(location.href);
      return isSignInCallback(url) ? pathOf(safeReturnPath(storage.getItem(pathAheadKey), location.origin)) : url.pathname;
    },
    signIn: async (returnTo) => {
      const state = store.getState();
      if (state.status === "loading" && (state.navigator === "sign_in" || state.navigator === "sign_out")) return;
      dispatch({ type: "navigator_started", navigator: "sign_in" });
      storage.setItem(pathAheadKey, pathOf(returnTo));
      try {
        await manager.signinRedirect({ state: { returnTo }, ui_locales: parts.language() });
      } catch (error) {
        fail(signInError(error).code);
      }
    },
    signInAgain: async () => {
      const began = performance.now();
      try {
        const user = await signInAgain(parts.language());
        const authTime = freshAuthTime(user, (performance.now() - began) / 1000);
        await exchange.renew("after").catch((error: unknown) => {
          parts.log("exchange", error); // the state says it, and the next call tries again
        });
        return { authTime };
      } catch (error) {
        throw signInError(error);
      }
    },
    signOut: async () => {
      if (leaving) return;
      leaving = true;
      dispatch({ type: "navigator_started", navigator: "sign_out" });
      renewal.stop();
      if (!(await isFirstToSignOut(window.navigator.locks))) {
        await startBare();
        return;
      }
      await signOut({
        listeners,
        endProductSession: async () => {
          const held = heldSession(exchange.getState());
          if (held === null) return;
          await publicHttp.request("DELETE", "/auth/token", z.unknown(), { headers: { authorization: `Bearer ${held.token}` } });
        },
        revokeTokens: () => manager.revokeTokens(["access_token"]),
        clearCaches: clearAll,
        tellOtherTabs: () => channel?.postMessage(signedOutMessage),
        redirect: () => manager.signoutRedirect({ extraQueryParams: { ui_locales: parts.language() } }),
        leaveAnyway: async () => {
          await manager.removeUser();
          location.replace("/");
        },
        log: parts.log,
      });
    },
    endedElsewhere: () => left,
    exchange,
    http: createAuthorisedHttp({ baseUrl, credentials, retries: 0 }, exchange),
    publicHttp,
    repeating: { http: createAuthorisedHttp({ baseUrl, credentials }, exchange), publicHttp: createHttp(nobody) },
    onLock: listeners.add,
    lock: () => listeners.run("lock"),
  });
}

/** Of a safe return path. */
function pathOf(path: string): string {
  return path.replace(/[?#].*$/s, "");
}
