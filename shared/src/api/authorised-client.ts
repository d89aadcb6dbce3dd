import type { HttpClient } from "../contract/http-client.ts";
import { isPortalError, PortalError, toPortalError } from "../errors/index.ts";
import { createHttpClient, type HttpClientSettings } from "./client.ts";

/** Gives session tokens; each call may reject with a PortalError. */
export interface TokenSource {
  readonly getToken: () => Promise<string>;
  /** Replaces the token, which the service refused. */
  readonly renew: (reason: "refused") => Promise<unknown>;
}

/**
 * HTTP client with the session token. When the service refuses the token, renews it and repeats the
 * call once. If the renewal fails, the call rejects with `token_expired`, `offline` or
 * `vendor_disabled`. The frame explains `vendor_disabled` and offers a way back.
 */
export function createAuthorisedHttpClient(
  settings: Omit<HttpClientSettings, "getToken">,
  tokens: TokenSource,
): HttpClient {
  /**
   * Gets the token. Wraps an error of the exchange as the cause, so that `isRetryableRead` does not
   * repeat the call: the exchange has already retried.
   */
  const getToken = async (): Promise<string> => {
    try {
      return await tokens.getToken();
    } catch (cause) {
      const { code, details } = toPortalError(cause);
      throw new PortalError(code, { cause, details });
    }
  };
  const http = createHttpClient({ ...settings, getToken });
  const callWithRenewal = async <T>(call: () => Promise<T>): Promise<T> => {
    try {
      return await call();
    } catch (error) {
      if (!isPortalError(error, "token_expired", "token_invalid", "unauthorized", "vendor_disabled")) throw error;
      try {
        await tokens.renew("refused");
      } catch (cause) {
        throw isPortalError(cause, "offline", "vendor_disabled") ? cause : new PortalError("token_expired", { cause });
      }
      return call();
    }
  };
  return Object.freeze<HttpClient>({
    request: (method, path, schema, options) => callWithRenewal(() => http.request(method, path, schema, options)),
    stream: (method, path, options) => callWithRenewal(() => http.stream(method, path, options)),
  });
}
