import { isPortalError, PortalError, toPortalError } from "@relicario/shared/errors";
import type { SessionClaims } from "@relicario/shared/api";
import pRetry from "p-retry";
import { createStore } from "zustand/vanilla";

/** Numbers of the exchange (specification, section 9). */
export const exchangeNumbers = { initialDelayMs: 100, attempts: 3, pauseMs: 1000, renewAtShare: 0.9 } as const;

/** Session storage key of the product's session token. */
export const sessionTokenKey = "sessionToken";

/** A session token whose signature and claims were checked. */
export interface SessionToken {
  readonly token: string;
  readonly claims: SessionClaims;
}

/** `empty`: nobody is signed in, or all attempts failed; then `error` says why, and the frame offers another try. */
export type ExchangeState =
  | { readonly status: "empty"; readonly error: PortalError | null }
  | { readonly status: "exchanging"; readonly previous: SessionToken | null }
  | { readonly status: "ready"; readonly session: SessionToken };

export interface ExchangeParts {
  /** Asks the service: the provider's access token for the product's token. */
  readonly exchange: (accessToken: string) => Promise<string>;
  /** Checks signature and claims; null for a token that does not hold. */
  readonly verify: (token: string) => Promise<SessionClaims | null>;
  /** Whose tokens are wanted: one of another vendor is none. */
  readonly vendorId: () => string;
  readonly storage: Pick<Storage, "getItem" | "setItem" | "removeItem">;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export interface TokenExchange {
  readonly getState: () => ExchangeState;
  readonly subscribe: (listener: () => void) => () => void;
  /** The provider's access token is there, or a newer one. A stored token that still holds is kept. */
  readonly start: (accessToken: string) => void;
  /**
   * Exchanges at once: the service called the token expired, or the person asks for it. Joins an exchange that is under
   * way; with `after` it is a new one after that, because that one may have begun with an older access token.
   */
  readonly renew: (order?: "join" | "after") => Promise<SessionToken>;
  /** The token for a call; waits for an exchange that is under way. `token_expired`, or what the last attempt met. */
  readonly token: () => Promise<string>;
  /** Forgets everything. */
  readonly clear: () => void;
}

export function createTokenExchange({ exchange, verify, vendorId, storage, now }: ExchangeParts): TokenExchange {
  const store = createStore<ExchangeState>(() => ({ status: "empty", error: null }));
  let accessToken: string | null = null;
  let running: Promise<SessionToken> | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Aborted by `clear`, so that what comes in afterwards is dropped. */
  let current = new AbortController();

  const setState = (next: ExchangeState) => {
    store.setState(next, true);
  };
  const ours = async (token: string): Promise<SessionClaims | null> => {
    const claims = await verify(token);
    return claims?.vid === vendorId() ? claims : null;
  };
  const held = (): SessionToken | null => heldSession(store.getState());
  const lives = (session: SessionToken | null): session is SessionToken => session !== null && session.claims.exp * 1000 > now();

  const schedule = (session: SessionToken) => {
    clearTimeout(timer);
    const remaining = session.claims.exp * 1000 - now();
    timer = setTimeout(
      () => {
        renew().catch(() => undefined); // the state says it, and the frame offers another try
      },
      Math.max(remaining * exchangeNumbers.renewAtShare, exchangeNumbers.pauseMs),
    );
  };

  const keep = (session: SessionToken) => {
    storage.setItem(sessionTokenKey, session.token);
    schedule(session);
    setState({ status: "ready", session });
  };

  const exchangeOnce = async (signal: AbortSignal): Promise<SessionToken> => {
    try {
      if (accessToken === null) throw new PortalError("login_required");
      const token = await exchange(accessToken);
      const claims = await ours(token);
      if (claims === null) throw new PortalError("token_invalid");
      signal.throwIfAborted();
      const session = { token, claims };
      keep(session);
      return session;
    } catch (error) {
      throw toPortalError(error);
    }
  };

  const exchangeWithRetry = (signal: AbortSignal): Promise<SessionToken> =>
    pRetry(() => exchangeOnce(signal), {
      retries: exchangeNumbers.attempts - 1,
      minTimeout: exchangeNumbers.pauseMs,
      factor: 1,
      shouldRetry: ({ error }) => !isFinal(error),
      signal,
    });

  const run = (first: (signal: AbortSignal) => Promise<SessionToken | null>): Promise<SessionToken> => {
    const { signal } = current;
    const previous = held();
    setState({ status: "exchanging", previous });
    const promise = first(signal)
      .then((found) => found ?? exchangeWithRetry(signal))
      .catch((error: unknown) => {
        if (!signal.aborted) {
          // A token that still lives is worth more than none, and its renewal is tried again.
          if (lives(previous)) {
            schedule(previous);
            setState({ status: "ready", session: previous });
          } else setState({ status: "empty", error: toPortalError(error) });
        }
        throw error;
      })
      .finally(() => {
        if (running === promise) running = null;
      });
    running = promise;
    return promise;
  };

  const renew: TokenExchange["renew"] = async (order = "join") => {
    if (order === "after") await running?.catch(() => undefined); // whoever began it hears of it
    return running ?? run(() => Promise.resolve(null));
  };

  const restore = async (signal: AbortSignal): Promise<SessionToken | null> => {
    const stored = storage.getItem(sessionTokenKey);
    if (stored === null) return null;
    const claims = await ours(stored);
    signal.throwIfAborted();
    if (claims === null) {
      storage.removeItem(sessionTokenKey);
      return null;
    }
    const session = { token: stored, claims };
    keep(session);
    return session;
  };

  return Object.freeze<TokenExchange>({
    getState: store.getState,
    subscribe: store.subscribe,
    start: (token) => {
      accessToken = token;
      if (running !== null || lives(held())) return;
      run(async (signal) => {
        const stored = await restore(signal).catch((error: unknown) => {
          if (isPortalError(error, "cancelled")) throw error;
          return null; // the certificates cannot be had: the exchange meets the same trouble and reports it
        });
        if (stored !== null) return stored;
        await pause(exchangeNumbers.initialDelayMs);
        signal.throwIfAborted();
        return null;
      }).catch(() => undefined); // silently empty (specification, section 8): the state says it
    },
    renew,
    token: async () => {
      if (running !== null && !lives(held())) return (await running).token;
      const session = held();
      if (lives(session)) return session.token;
      return (await renew()).token;
    },
    clear: () => {
      current.abort(new PortalError("cancelled"));
      current = new AbortController();
      running = null;
      accessToken = null;
      clearTimeout(timer);
      storage.removeItem(sessionTokenKey);
      setState({ status: "empty", error: null });
    },
  });
}

/** The session token that is there, also while a newer one is asked for. */
export function heldSession(state: ExchangeState): SessionToken | null {
  if (state.status === "ready") return state.session;
  return state.status === "exchanging" ? state.previous : null;
}

/**
 * Whether another attempt with the same access token cannot help. Not the opposite of `isTransient`: a token that does not
 * verify, say, is asked for three times, too (specification, section 9).
 */
function isFinal(error: unknown): boolean {
  return isPortalError(error, "login_required", "vendor_unknown", "vendor_disabled", "cancelled");
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds);
  });
}
