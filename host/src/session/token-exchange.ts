import { HttpError, isPortalError, PortalError, toPortalError } from "@relicario/shared/errors";
import type { SessionClaims } from "@relicario/shared/api";
import pRetry from "p-retry";
import { createStore } from "zustand/vanilla";

/** Times of the exchange (specification, section 9). */
export const exchangeTimes = { initialDelayMs: 100, attempts: 3, retryDelayMs: 1000, renewAtShare: 0.9 } as const;

/** Session storage key of the product's session token. */
export const sessionTokenKey = "sessionToken";

/** A session token whose signature and claims were checked. */
export interface SessionToken {
  readonly token: string;
  readonly claims: SessionClaims;
}

/**
 * `empty`: nobody is signed in, or all attempts failed. Then `error` says why, and the frame offers
 * to try again. `ready` with an `error`: the service takes this session no more, such as after a
 * change of password elsewhere, and another could not be had; the screen and what is typed in it
 * stay.
 */
export type ExchangeState =
  | { readonly status: "empty"; readonly error: PortalError | null }
  | { readonly status: "exchanging"; readonly previous: SessionToken | null }
  | { readonly status: "ready"; readonly session: SessionToken; readonly error?: PortalError };

export interface ExchangeDeps {
  /** Gets the product's session token from the service for the provider's access token. */
  readonly requestToken: (accessToken: string) => Promise<string>;
  /** Verifies signature and claims; null for an invalid token. */
  readonly verify: (token: string) => Promise<SessionClaims | null>;
  /**
   * Compares the account with the one that this device knows. Throws `account_changed`: the token
   * is not used.
   */
  readonly checkAccount: (claims: SessionClaims) => Promise<void>;
  /** The vendor that tokens must be for. */
  readonly getVendorId: () => string;
  readonly storage: Pick<Storage, "getItem" | "setItem" | "removeItem">;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export interface TokenExchange {
  readonly getState: () => ExchangeState;
  readonly subscribe: (listener: () => void) => () => void;
  /**
   * Called with each new access token of the provider. Exchanges it, unless a stored session token
   * is still valid.
   */
  readonly start: (accessToken: string) => void;
  /**
   * Exchanges at once. `join`: an exchange that is under way is awaited instead. `after`: a new
   * exchange follows the one that is under way, which may have begun with an older access token.
   * `refusedToken`: as `join`, and the service said that it takes the present token no more.
   */
  readonly renew: (mode?: "join" | "after" | "refused") => Promise<SessionToken>;
  /**
   * The token for a call; waits for an exchange that is under way. Rejects with the error of the
   * last attempt.
   */
  readonly getToken: () => Promise<string>;
  /** Forgets everything. */
  readonly clear: () => void;
}

export function createTokenExchange({
  requestToken,
  verify,
  checkAccount,
  getVendorId,
  storage,
  now,
}: ExchangeDeps): TokenExchange {
  const store = createStore<ExchangeState>(() => ({ status: "empty", error: null }));
  let accessToken: string | null = null;
  let pendingExchange: Promise<SessionToken> | null = null;
  let refusedToken: string | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Aborted by `clear`, so that what comes in afterwards is dropped. */
  let controller = new AbortController();

  const setState = (next: ExchangeState) => {
    store.setState(next, true);
  };
  const verifyForVendor = async (token: string): Promise<SessionClaims | null> => {
    const claims = await verify(token);
    if (claims?.vid !== getVendorId()) return null;
    await checkAccount(claims);
    return claims;
  };
  const getCurrentToken = (): SessionToken | null => getSessionToken(store.getState());
  const isUnexpired = (sessionToken: SessionToken | null): sessionToken is SessionToken =>
    sessionToken !== null && sessionToken.claims.exp * 1000 > now();
  const isValid = (sessionToken: SessionToken | null): sessionToken is SessionToken =>
    isUnexpired(sessionToken) && sessionToken.token !== refusedToken;

  const schedule = (sessionToken: SessionToken) => {
    clearTimeout(timer);
    const remainingMs = sessionToken.claims.exp * 1000 - now();
    timer = setTimeout(
      () => {
        renew().catch(() => undefined); // the state has the error, and the frame offers to try again
      },
      Math.max(remainingMs * exchangeTimes.renewAtShare, exchangeTimes.retryDelayMs),
    );
  };

  const saveSessionToken = (sessionToken: SessionToken) => {
    storage.setItem(sessionTokenKey, sessionToken.token);
    schedule(sessionToken);
    setState({ status: "ready", session: sessionToken });
  };

  const exchangeOnce = async (signal: AbortSignal): Promise<SessionToken> => {
    try {
      if (accessToken === null) throw new PortalError("login_required");
      const token = await requestToken(accessToken);
      const claims = await verifyForVendor(token);
      if (claims === null) throw new PortalError("token_invalid");
      signal.throwIfAborted();
      const sessionToken = { token, claims };
      saveSessionToken(sessionToken);
      return sessionToken;
    } catch (error) {
      throw toPortalError(error);
    }
  };

  const exchangeWithRetry = (signal: AbortSignal): Promise<SessionToken> =>
    pRetry(() => exchangeOnce(signal), {
      retries: exchangeTimes.attempts - 1,
      minTimeout: exchangeTimes.retryDelayMs,
      factor: 1,
      shouldRetry: ({ error }) => !isFinalError(error),
      signal,
    });

  const runExchange = (
    initialAttempt: (signal: AbortSignal) => Promise<SessionToken | null>,
  ): Promise<SessionToken> => {
    const { signal } = controller;
    const previous = getCurrentToken();
    setState({ status: "exchanging", previous });
    const promise = initialAttempt(signal)
      .then((restoredSession) => restoredSession ?? exchangeWithRetry(signal))
      .catch((error: unknown) => {
        if (!signal.aborted) {
          // The previous token is kept while it is valid, and its renewal scheduled again. Not
          // where the sign-in was refused: it was ended.
          if (isSignInRefused(error)) {
            storage.removeItem(sessionTokenKey);
            setState({ status: "empty", error: toPortalError(error) });
          } else if (isValid(previous)) {
            schedule(previous);
            setState({ status: "ready", session: previous });
          } else if (isUnexpired(previous)) {
            setState({ status: "ready", session: previous, error: toPortalError(error) });
          } else setState({ status: "empty", error: toPortalError(error) });
        }
        throw error;
      })
      .finally(() => {
        if (pendingExchange === promise) pendingExchange = null;
      });
    pendingExchange = promise;
    return promise;
  };

  const renew: TokenExchange["renew"] = async (mode = "join") => {
    const currentToken = getCurrentToken();
    if (mode === "refused" && pendingExchange === null && currentToken !== null) {
      refusedToken = currentToken.token;
      storage.removeItem(sessionTokenKey);
    }
    if (mode === "after") await pendingExchange?.catch(() => undefined); // handled by whoever began it
    return pendingExchange ?? runExchange(() => Promise.resolve(null));
  };

  const restore = async (signal: AbortSignal): Promise<SessionToken | null> => {
    const stored = storage.getItem(sessionTokenKey);
    if (stored === null) return null;
    const claims = await verifyForVendor(stored);
    signal.throwIfAborted();
    if (claims === null) {
      storage.removeItem(sessionTokenKey);
      return null;
    }
    const sessionToken = { token: stored, claims };
    saveSessionToken(sessionToken);
    return sessionToken;
  };

  return Object.freeze<TokenExchange>({
    getState: store.getState,
    subscribe: store.subscribe,
    start: (token) => {
      accessToken = token;
      if (pendingExchange !== null || isValid(getCurrentToken())) return;
      runExchange(async (signal) => {
        const stored = await restore(signal).catch((error: unknown) => {
          if (isPortalError(error, "cancelled")) throw error;
          return null; // its keys could not be fetched: the exchange will fail for the same reason and report it
        });
        if (stored !== null) return stored;
        await delay(exchangeTimes.initialDelayMs);
        signal.throwIfAborted();
        return null;
      }).catch(() => undefined); // silently empty (specification, section 8): the state has the error
    },
    renew,
    getToken: async () => {
      if (pendingExchange !== null && !isValid(getCurrentToken())) return (await pendingExchange).token;
      const sessionToken = getCurrentToken();
      if (isValid(sessionToken)) return sessionToken.token;
      return (await renew()).token;
    },
    clear: () => {
      controller.abort(new PortalError("cancelled"));
      controller = new AbortController();
      pendingExchange = null;
      accessToken = null;
      refusedToken = null;
      clearTimeout(timer);
      storage.removeItem(sessionTokenKey);
      setState({ status: "empty", error: null });
    },
  });
}

/**
 * The service knows the access token and takes it no more: a session token of the same sign-in is
 * revoked as well.
 */
function isSignInRefused(error: unknown): boolean {
  return isPortalError(error, "token_invalid") && error.cause instanceof HttpError && error.cause.status === 401;
}

/** The current session token, also while it is being renewed. */
export function getSessionToken(state: ExchangeState): SessionToken | null {
  if (state.status === "ready") return state.session;
  return state.status === "exchanging" ? state.previous : null;
}

/** The claims of the current session token. */
export function getClaims(state: ExchangeState): SessionClaims | null {
  return getSessionToken(state)?.claims ?? null;
}

/**
 * Whether another attempt with the same access token cannot help. Not the opposite of
 * `isTransient`: a token that does not verify, say, is asked for three times, too (specification,
 * section 9).
 */
function isFinalError(error: unknown): boolean {
  return isPortalError(error, "login_required", "vendor_unknown", "vendor_disabled", "account_changed", "cancelled");
}

function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}
