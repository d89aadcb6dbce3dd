import { HttpError, isPortalError, PortalError, toPortalError } from "@relicario/shared/errors";
import type { SessionClaims } from "@relicario/shared/api";
import pRetry from "p-retry";
import { createStore } from "zustand/vanilla";

/** Times of the exchange (specification, section 9). */
export const exchangeTimes = { initialDelayMs: 100, attempts: 3, retryDelayMs: 1000, renewAtShare: 0.9 } as const;

/** Session storage key of the session token. */
export const sessionTokenKey = "sessionToken";

/** A session token with verified signature and claims. */
export interface SessionToken {
  readonly token: string;
  readonly claims: SessionClaims;
}

/**
 * State of the exchange. `empty`: no one is signed in, or all attempts failed. If `error` is set,
 * the frame shows it and offers a retry.
 *
 * `ready` with `error`: the service refused this token, for example after a password change
 * elsewhere, and no other token could be obtained. The screen and its input stay.
 */
export type ExchangeState =
  | { readonly status: "empty"; readonly error: PortalError | null }
  | { readonly status: "exchanging"; readonly previous: SessionToken | null }
  | { readonly status: "ready"; readonly sessionToken: SessionToken; readonly error?: PortalError };

export interface TokenExchangeDeps {
  /** Exchanges the provider's access token for a session token at the service. */
  readonly requestToken: (accessToken: string) => Promise<string>;
  /** Verifies signature and claims; null when the token is invalid. Throws `token_expired`. */
  readonly verify: (token: string) => Promise<SessionClaims | null>;
  /**
   * Compares the account with the one that this device has pinned. Rejects with `account_changed`;
   * the token is then not used.
   */
  readonly checkAccount: (claims: SessionClaims) => Promise<void>;
  /** The vendor that each session token must name. */
  readonly getVendorId: () => string;
  readonly storage: Pick<Storage, "getItem" | "setItem" | "removeItem">;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export interface TokenExchange {
  readonly getState: () => ExchangeState;
  readonly subscribe: (listener: () => void) => () => void;
  /**
   * Call it with each new access token of the provider. Exchanges the access token unless the
   * session token is still valid or an exchange is in progress.
   */
  readonly setAccessToken: (accessToken: string) => void;
  /**
   * Exchanges now, or awaits an exchange that is in progress (`join`). `after`: waits for that
   * exchange, then exchanges again, because it may have begun with an older access token.
   * `refused`: like `join`, after the service has refused the current token.
   */
  readonly renew: (mode?: "join" | "after" | "refused") => Promise<SessionToken>;
  /**
   * Returns the session token for a call. Waits for an exchange in progress if the current token is
   * not valid. Rejects with the error of the exchange.
   */
  readonly getToken: () => Promise<string>;
  /** Drops tokens, timers and the exchange in progress. */
  readonly clear: () => void;
}

export function createTokenExchange({
  requestToken,
  verify,
  checkAccount,
  getVendorId,
  storage,
  now,
}: TokenExchangeDeps): TokenExchange {
  const store = createStore<ExchangeState>(() => ({ status: "empty", error: null }));
  let accessToken: string | null = null;
  let pendingExchange: Promise<SessionToken> | null = null;
  let refusedToken: string | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Aborted by `clear`, so that late responses are dropped. */
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
        renew().catch(() => undefined); // the state has the error, and the frame offers a retry
      },
      Math.max(remainingMs * exchangeTimes.renewAtShare, exchangeTimes.retryDelayMs),
    );
  };

  const saveSessionToken = (sessionToken: SessionToken) => {
    try {
      storage.setItem(sessionTokenKey, sessionToken.token);
    } catch {
      // Storage is full: a reload exchanges again.
    }
    schedule(sessionToken);
    setState({ status: "ready", sessionToken });
  };

  /**
   * Converts the expiry of a new token to `clock_wrong`: a token that was just issued can only have
   * expired by this device's clock.
   */
  const explainExpiry = (error: unknown): never => {
    const { issuedAt } = isPortalError(error, "token_expired") ? error.details : {};
    if (typeof issuedAt !== "number") throw error;
    throw new PortalError("clock_wrong", { cause: error, details: { device: now(), service: issuedAt } });
  };

  const exchangeOnce = async (signal: AbortSignal): Promise<SessionToken> => {
    try {
      if (accessToken === null) throw new PortalError("login_required");
      const token = await requestToken(accessToken);
      const claims = await verifyForVendor(token).catch(explainExpiry);
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
      .then((restoredToken) => restoredToken ?? exchangeWithRetry(signal))
      .catch((error: unknown) => {
        if (!signal.aborted) {
          // Keeps the previous token while it is valid, and schedules its renewal again. Drops it
          // when the service refused the sign-in, because its session has ended.
          if (isSignInRefused(error)) {
            storage.removeItem(sessionTokenKey);
            setState({ status: "empty", error: toPortalError(error) });
          } else if (isValid(previous)) {
            schedule(previous);
            setState({ status: "ready", sessionToken: previous });
          } else if (isUnexpired(previous)) {
            setState({ status: "ready", sessionToken: previous, error: toPortalError(error) });
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
    if (mode === "after") await pendingExchange?.catch(() => undefined); // the caller that started it handles the error
    return pendingExchange ?? runExchange(() => Promise.resolve(null));
  };

  const restore = async (signal: AbortSignal): Promise<SessionToken | null> => {
    const storedToken = storage.getItem(sessionTokenKey);
    if (storedToken === null) return null;
    const claims = await verifyForVendor(storedToken).catch((error: unknown) => {
      if (isPortalError(error, "token_expired")) return null;
      throw error;
    });
    signal.throwIfAborted();
    if (claims === null) {
      storage.removeItem(sessionTokenKey);
      return null;
    }
    const sessionToken = { token: storedToken, claims };
    saveSessionToken(sessionToken);
    return sessionToken;
  };

  return Object.freeze<TokenExchange>({
    getState: store.getState,
    subscribe: store.subscribe,
    setAccessToken: (token) => {
      accessToken = token;
      if (pendingExchange !== null || isValid(getCurrentToken())) return;
      runExchange(async (signal) => {
        const restoredToken = await restore(signal).catch((error: unknown) => {
          if (isPortalError(error, "cancelled")) throw error;
          return null; // for example no keys: the exchange then fails for the same reason and reports it
        });
        if (restoredToken !== null) return restoredToken;
        await delay(exchangeTimes.initialDelayMs);
        signal.throwIfAborted();
        return null;
      }).catch(() => undefined); // no message (specification, section 8), because the state has the error
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
 * Whether the service knows the access token and refuses it. Session tokens of the same sign-in are
 * then revoked too.
 */
function isSignInRefused(error: unknown): boolean {
  return isPortalError(error, "token_invalid") && error.cause instanceof HttpError && error.cause.status === 401;
}

/** The current session token, also while it is being renewed. */
export function getSessionToken(state: ExchangeState): SessionToken | null {
  if (state.status === "ready") return state.sessionToken;
  return state.status === "exchanging" ? state.previous : null;
}

export function getClaims(state: ExchangeState): SessionClaims | null {
  return getSessionToken(state)?.claims ?? null;
}

/**
 * Whether a retry with the same access token cannot help. This is not the opposite of
 * `isTransient`: a token that fails verification is also requested three times (specification,
 * section 9).
 */
function isFinalError(error: unknown): boolean {
  return isPortalError(
    error,
    "login_required",
    "vendor_unknown",
    "vendor_disabled",
    "account_changed",
    "clock_wrong",
    "cancelled",
  );
}

function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}
