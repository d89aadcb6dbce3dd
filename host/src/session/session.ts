import {
  pageStorage,
  type Deployment,
  type DeviceAccount,
  type HttpClient,
  type Language,
  type LockReason,
  type PortalServiceMembers,
} from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";
import { createStore, type StoreApi } from "zustand/vanilla";

import type { Sweeps } from "../device/sweeps.ts";
import { createLockListeners } from "./lock-listeners.ts";
import {
  initialSessionState,
  isSettled,
  reduceSessionState,
  getErrorCode,
  getUser,
  type SessionEvent,
  type SessionState,
} from "./session-state.ts";
import { createSignInSettings } from "./oidc-settings.ts";
import { createSessionEnd } from "./session-end.ts";
import { createSessionHttpClients } from "./session-http-clients.ts";
import { requireFreshAuthTime, toSessionUser } from "./session-user.ts";
import { createSignInClient } from "./sign-in-client.ts";
import { isTransientSignInError, toSignInError } from "./sign-in-errors.ts";
import { createSignInFlow, resetAuthErrors, type SignInOptions } from "./sign-in-flow.ts";
import { createAccessTokenRenewal } from "./access-token-renewal.ts";
import { startSessionMonitor } from "./session-monitor.ts";
import { createTabs } from "./tabs.ts";
import type { TokenExchange } from "./token-exchange.ts";

export interface SessionDeps {
  readonly deployment: Deployment;
  readonly window: Window;
  readonly getLanguage: () => Language;
  /** Clears the query cache and everything else that holds the person's data. */
  readonly clearCaches: () => void;
  /** Called when the service does not know the vendor that a link named; it was dropped. */
  readonly onVendorIgnored: () => void;
  readonly log: (step: string, error: unknown) => void;
  /** The other tabs of this origin; null when the browser has no broadcast channels. */
  readonly channel: BroadcastChannel | null;
  /** Wipes what this device stores of the person. */
  readonly sweeps: Sweeps;
  /**
   * @throws PortalError `account_changed` when this device has pinned another account id for the
   *   person, `cancelled` when the session is not active
   */
  readonly requirePinnedUserId: (
    account: DeviceAccount,
    userId: string,
    isSessionActive: () => boolean,
  ) => Promise<void>;
}

export interface Session {
  readonly getState: () => SessionState;
  readonly subscribe: (listener: () => void) => () => void;
  /**
   * Handles the provider's response in the URL, or restores the stored user. Resolves when the
   * state is settled.
   */
  readonly start: () => Promise<void>;
  /** The path that will probably be shown after `start`, to fetch its code early. */
  readonly getExpectedPath: () => string;
  /** Redirects to the provider, which returns to this path. */
  readonly signIn: (returnTo: string, options?: SignInOptions) => Promise<void>;
  /** Signs the same person in again, in a popup, and renews the session token. */
  readonly signInAgain: PortalServiceMembers["signInAgain"];
  readonly openSignIn: PortalServiceMembers["openSignIn"];
  readonly signOut: () => Promise<void>;
  /** Signs out, and wipes this person's account from this device, in every tab. */
  readonly forgetDevice: () => Promise<void>;
  /** Whether this page was reloaded because the session ended in another tab or at the provider. */
  readonly hasEndedElsewhere: () => boolean;
  readonly exchange: TokenExchange;
  /**
   * Calls any path of the service with the session token. Does not retry, because the query cache
   * retries.
   */
  readonly http: HttpClient;
  /** Without a token. Does not retry. */
  readonly publicHttp: HttpClient;
  /**
   * Two clients like `http` and `publicHttp` for callers without a query cache, such as the vault's
   * worker. They retry failed reads.
   */
  readonly retryingClients: { readonly http: HttpClient; readonly publicHttp: HttpClient };
  readonly onLock: (listener: (reason: LockReason) => void | Promise<void>) => () => void;
  /** Makes every listener of `onLock` wipe keys and plaintext. */
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
  const { location } = window;
  const storage = pageStorage.session;
  const store = createStore(() => initialSessionState);
  const dispatch = (event: SessionEvent) => {
    store.setState(reduceSessionState(store.getState(), event), true);
  };

  const { manager, signInSilently, signInAgain, openSignIn } = createSignInClient(
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
  const { exchange, http, publicHttp, retryingClients } = createSessionHttpClients({
    deployment,
    storage,
    signInSilently,
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
  const accessTokenRenewal = createAccessTokenRenewal({
    renew: signInSilently,
    isTimeout: (error) => isPortalError(toSignInError(error), "timed_out"),
    isTransient: isTransientSignInError,
    onError: (error) => {
      const { code } = toSignInError(error);
      log("silent_renewal", code);
      // While the provider is briefly unreachable the screen stays as it is: the session token is
      // still valid, and the renewal is retried.
      if (isTransientSignInError(error)) return;
      dispatch({ type: "failed", code });
      // Otherwise the session monitors of the other tabs would take it for a sign-out.
      tabs.broadcast("sign_in_required", getPerson());
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
    if (kind === "sign_in_required") dispatch({ type: "failed", code: "login_required" });
    if (kind !== "lock") return; // the vault of this tab has its own channel; the link secret is the host's
    sweeps.dropLinkSecret().catch((error: unknown) => {
      log("fragment", error); // it expires after ten minutes
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
    isSignInRequired: () => getErrorCode(store.getState()) !== null,
    getPerson,
    dispatch,
    stopAccessTokenRenewal: accessTokenRenewal.stop,
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
      exchange.setAccessToken(user.access_token);
      accessTokenRenewal.schedule(user, "restored");
    },
    isEnding: sessionEnd.isEnding,
    log,
  });

  manager.events.addUserLoaded((user) => {
    if (sessionEnd.isEnding()) return;
    resetAuthErrors(storage);
    dispatch({ type: "user_loaded", user: toSessionUser(user) });
    exchange.setAccessToken(user.access_token);
    accessTokenRenewal.schedule(user, "new");
  });
  manager.events.addUserUnloaded(() => {
    dispatch({ type: "user_unloaded" });
  });
  manager.clearStaleState().catch((error: unknown) => {
    log("stale_state", error);
  });
  // A page restored from the back/forward cache would stay in the state in which it left for the
  // provider: loading forever.
  window.addEventListener("pageshow", ({ persisted }) => {
    if (persisted && store.getState().status === "loading") location.reload();
  });

  return Object.freeze<Session>({
    getState: store.getState,
    subscribe: store.subscribe,
    start: async () => {
      await signInFlow.start();
      startSessionMonitor({
        manager,
        clientId: deployment.identity.client_id,
        onSignedOut: sessionEnd.handleProviderSignOut,
        log,
      });
    },
    getExpectedPath: signInFlow.getExpectedPath,
    signIn: signInFlow.signIn,
    signInAgain: async () => {
      const startedAt = performance.now();
      try {
        const user = await signInAgain(getLanguage());
        const authTime = requireFreshAuthTime(user, (performance.now() - startedAt) / 1000);
        await exchange.renew("after").catch((error: unknown) => {
          log("exchange", error); // the exchange's state has the error too, and the next call tries again
        });
        return { authTime };
      } catch (error) {
        throw toSignInError(error);
      }
    },
    openSignIn: (address) => openSignIn(address, getLanguage(), deployment.vault_origin),
    signOut: sessionEnd.signOut,
    forgetDevice: sessionEnd.forgetDevice,
    hasEndedElsewhere: sessionEnd.hasEndedElsewhere,
    exchange,
    http,
    publicHttp,
    retryingClients,
    onLock: lockListeners.add,
    lock: async () => {
      const sweep = sweeps.prepare("lock", null);
      tabs.broadcast("lock", getPerson());
      await lockListeners.run("lock");
      await sweep().catch((error: unknown) => {
        log("sweep", error); // it is marked: the next page tries again
      });
    },
  });
}

/** Resolves once the page knows who is signed in. */
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
