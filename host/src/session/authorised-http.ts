import { createHttpClient, type HttpClientSettings } from "@relicario/shared/api";
import type { HttpClient } from "@relicario/shared/contract";
import { isPortalError, PortalError, toPortalError } from "@relicario/shared/errors";

import type { TokenExchange } from "./token-exchange.ts";

/**
 * Calls to the service with the session token. When the answer says that the token expired, it is
 * renewed and the call is repeated, once. When that fails the caller gets `token_expired`.
 */
export function createAuthorisedHttpClient(
  settings: Omit<HttpClientSettings, "getToken">,
  exchange: Pick<TokenExchange, "getToken" | "renew">,
): HttpClient {
  /**
   * The exchange makes its own attempts. Its error becomes the cause of the one thrown here, by
   * which `readMayPass` knows not to repeat the call.
   */
  const getToken = async (): Promise<string> => {
    try {
      return await exchange.getToken();
    } catch (cause) {
      const { code, details } = toPortalError(cause);
      throw new PortalError(code, { cause, details });
    }
  };
  const http = createHttpClient({ ...settings, getToken });
  const renewOnce = async <T>(call: () => Promise<T>): Promise<T> => {
    try {
      return await call();
    } catch (error) {
      if (!isPortalError(error, "token_expired", "token_invalid", "unauthorized")) throw error;
      try {
        await exchange.renew("refused");
      } catch (cause) {
        throw isPortalError(cause, "offline") ? cause : new PortalError("token_expired", { cause });
      }
      return call();
    }
  };
  return Object.freeze<HttpClient>({
    request: (method, path, answer, options) => renewOnce(() => http.request(method, path, answer, options)),
    stream: (method, path, options) => renewOnce(() => http.stream(method, path, options)),
  });
}
