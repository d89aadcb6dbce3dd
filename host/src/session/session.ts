import type {
  Deployment,
  DeviceAccount,
  HttpClient,
  Language,
  LockReason,
  PortalForServices,
} from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";
import { createStore, type StoreApi } from "zustand/vanilla";

import type { Sweeps } from "../device/sweeps.ts";
import { createLockListeners } from "./lock-listeners.ts";
import {
  initialSessionState,
  isSettled,
  nextSession,
  getUser,
  type SessionEvent,
  type SessionState,
} from "./machine.ts";
import { createSignInSettings, signInTimes } from "./oidc-settings.ts";
import { createSessionEnd } from "./session-end.ts";
import { createSessionHttpClients } from "./session-http.ts";
import { requireFreshAuthTime, toSessionUser } from "./session-user.ts";
import { createSignInClient } from "./sign-in-client.ts";
import { isTransientSignInError, toSignInError } from "./sign-in-errors.ts";
import { createSignInFlow, resetAuthErrors } from "./sign-in-flow.ts";
import { createSilentRenewal } from "./silent-renewal.ts";
import { createTabs } from "./tabs.ts";
import type { TokenExchange } from "./token-exchange.ts";

export interface SessionDeps {
  readonly deployment: Deployment;
  /** The page. */
  readonly window: Window;
  readonly getLanguage: () => Language;
  /** Clears the query cache and everything else that holds data of the person. */
  readonly clearCaches: () => void;
  /** A vendor that a link named is unknown to the service and was ignored. */
  readonly onVendorIgnored: () => void;
  readonly log: (step: string, error: unknown) => void;
  /** The other tabs of this origin; null where the browser has no such channel. */
  readonly channel: BroadcastChannel | null;
  /** What this device keeps. */
  readonly sweeps: Sweeps;
  /**
   * @throws PortalError `account_changed` when this device knows the person by another account id;
   *   `cancelled` unless they stay.
   */
  readonly requirePinnedUserId: (
    account: DeviceAccount,
    userId: string,
    isSessionActive: () => boolean,
  ) => Promise<void>;
}

/** Sign-in as the rest of the host sees it. */
export interface Session {
  readonly getState: () => SessionState;
  readonly subscribe: (listener: () => void) => () => void;
  /**
   * Handles the provider's answer in the address, or restores the remembered user. Resolves when
   * the state is settled.
   */
  readonly start: () => Promise<void>;
  /**
   * The path that will probably be shown after `start`, so that its code can be fetched meanwhile.
   */
  readonly getExpectedPath: () => string;
  /** Goes to the provider, which sends the browser back to this path. */
  readonly signIn: (returnTo: string) => Promise<void>;
  /**
   * The contract's `signInAgain`: the same person, in a window beside the page. The session token
   * is renewed with it.
   */
  readonly signInAgain: PortalForServices["signInAgain"];
  readonly signOut: () => Promise<void>;
  /** Signs out, and removes this person's account from this device, in every tab. */
  readonly forgetDevice: () => Promise<void>;
  /**
   * The session ended in another tab or at the provider, and this page was loaded anew for that
   * reason.
   */
  readonly hasEndedElsewhere: () => boolean;
  readonly exchange: TokenExchange;
  /**
   * Calls with the session token to any path of the service. Each is made once: the query cache
   * repeats failed queries.
   */
  readonly http: HttpClient;
  /** Calls without a token, each made once. */
  readonly publicHttp: HttpClient;
  /**
   * The same two for callers without a query cache, such as the vault's worker: failed reads are
   * repeated.
   */
  readonly retrying: { readonly http: HttpClient; readonly publicHttp: HttpClient };
  readonly onLock: (listener: (reason: LockReason) => void | Promise<void>) => () => void;
  /** Makes every listener of `onLock` forget keys and plaintext. */
  readonly lock: () => Promise<void>;
}

export function createSession({
  deployment,
  window,
  getLanguage,
  clearCaches,
  onVendorIgnored,
  log,
  channel,
  sweeps,
  requirePinnedUserId,
}: SessionDeps): Session {
  const { sessionStorage: storage, location } = window;
  const store = createStore(() => initialSessionState);
  const dispatch = (event: SessionEvent) => {
    store.setState(nextSession(store.getState(), event), true);
  };

  const { manager, monitorSession, renew, signInAgain } = createSignInClient(
    createSignInSettings(deployment.identity, location.origin, storage),
    {
      onStart: (navigator) => {
        dispatch({ type: "navigator_started", navigator });
      },
      onEnd: (navigator) => {
        dispatch({ type: "navigator_ended", navigator });
      },
    },
  );
  const { exchange, http, publicHttp, retrying } = createSessionHttpClients({
    deployment,
    storage,
    renew,
    onVendorIgnored,
    checkAccount: async ({ vid: vendorId, sub }) => {
      const user = getUser(store.getState());
      if (user === null) throw new PortalError("login_required");
      if (sessionEnd.isEnding()) throw new PortalError("cancelled");
      await requirePinnedUserId(
        { vendorId, issuer: user.issuer, subject: user.subject },
        sub,
        () => !sessionEnd.isEnding(),
      );
      sweeps.cancelMarked(user);
    },
    log,
  });
  const renewal = createSilentRenewal({
    renew,
    isTimeout: (error) => isPortalError(toSignInError(error), "timed_out"),
    isTransient: isTransientSignInError,
    onError: (error) => {
      const { code } = toSignInError(error);
      log("silent_renewal", code);
      // A provider that is away for a moment changes nothing on the screen: the session token still
      // holds, and this is repeated.
      if (!isTransientSignInError(error)) dispatch({ type: "failed", code });
    },
    now: Date.now,
  });
  const lockListeners = createLockListeners();
  const getPerson = () => getUser(store.getState());
  const tabs = createTabs(channel, async () => {
    await waitUntilSettled(store);
    return getPerson();
  });
  tabs.onMessage((kind) => {
    if (kind !== "lock") return; // the vault of this tab hears of it by itself; what a link carried is the host's
    sweeps.dropLinkSecret().catch((error: unknown) => {
      log("fragment", error); // it goes after ten minutes
    });
  });
  const sessionEnd = createSessionEnd({
    manager,
    window,
    tabs,
    exchange,
    publicHttp,
    lockListeners,
    sweeps,
    getPerson,
    dispatch,
    stopRenewal: renewal.stop,
    clearCaches,
    getLanguage,
    log,
  });
  const signInFlow = createSignInFlow({
    manager,
    window,
    getState: store.getState,
    dispatch,
    getLanguage,
    onUserRestored: (user) => {
      exchange.start(user.access_token);
      renewal.watch(user, "restored");
    },
    isEnding: sessionEnd.isEnding,
    log,
  });

  manager.events.addUserLoaded((user) => {
    if (sessionEnd.isEnding()) return;
    resetAuthErrors(storage);
    dispatch({ type: "user_loaded", user: toSessionUser(user) });
    exchange.start(user.access_token);
    renewal.watch(user, "new");
  });
  manager.events.addUserUnloaded(() => {
    dispatch({ type: "user_unloaded" });
  });
  manager.clearStaleState().catch((error: unknown) => {
    log("stale_state", error);
  });
  // The browser may restore the page from its back/forward cache as it was when it left for the
  // provider: loading for ever.
  window.addEventListener("pageshow", ({ persisted }) => {
    if (persisted && store.getState().status === "loading") location.reload();
  });

  return Object.freeze<Session>({
    getState: store.getState,
    subscribe: store.subscribe,
    start: async () => {
      await signInFlow.start();
      // it loads a frame from the provider: the first screen comes first
      setTimeout(monitorSession, signInTimes.sessionCheck * 1000);
    },
    getExpectedPath: signInFlow.getExpectedPath,
    signIn: signInFlow.signIn,
    signInAgain: async () => {
      const startedAt = performance.now();
      try {
        const user = await signInAgain(getLanguage());
        const authTime = requireFreshAuthTime(user, (performance.now() - startedAt) / 1000);
        await exchange.renew("after").catch((error: unknown) => {
          log("exchange", error); // the state of the exchange has the error too, and the next call tries again
        });
        return { authTime };
      } catch (error) {
        throw toSignInError(error);
      }
    },
    signOut: sessionEnd.signOut,
    forgetDevice: sessionEnd.forgetDevice,
    hasEndedElsewhere: sessionEnd.hasEndedElsewhere,
    exchange,
    http,
    publicHttp,
    retrying,
    onLock: lockListeners.add,
    lock: async () => {
      const sweep = sweeps.begin("lock", null);
      tabs.broadcast("lock", getPerson());
      await lockListeners.run("lock");
      await sweep().catch((error: unknown) => {
        log("sweep", error); // it is marked: a page that starts tries again
      });
    },
  });
}

/** Resolves once the page knows whether somebody is signed in. */
function waitUntilSettled(store: StoreApi<SessionState>): Promise<void> {
  return new Promise((resolve) => {
    if (isSettled(store.getState())) {
      resolve();
      return;
    }
    const unsubscribe = store.subscribe((state) => {
      if (!isSettled(state)) return;
      unsubscribe();
      resolve();
    });
  });
}
