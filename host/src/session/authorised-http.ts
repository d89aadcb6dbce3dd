import { createHttp, type HttpSettings } from "@relicario/shared/api";
import type { Http } from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import type { TokenExchange } from "./token-exchange.ts";

/**
 * Calls to the service with the session token. A call that is answered "expired" makes one renewal and is repeated once,
 * never more; where that fails the caller gets `token_expired`, and keeps what was typed.
 */
export function createAuthorisedHttp(settings: Omit<HttpSettings, "token">, exchange: Pick<TokenExchange, "token" | "renew">): Http {
  const http = createHttp({ ...settings, token: () => exchange.token() });
  const renewOnce = async <T>(call: () => Promise<T>): Promise<T> => {
    try {
      await exchange.token(); // makes its own attempts, which must not be made again for each attempt of the call
      return await call();
    } catch (error) {
      if (!isPortalError(error, "token_expired", "token_invalid", "unauthorized")) throw error;
      try {
        await exchange.renew();
      } catch (cause) {
        throw isPortalError(cause, "offline") ? cause : new PortalError("token_expired", { cause });
      }
      return call();
    }
  };
  return Object.freeze<Http>({
    request: (method, path, answer, options) => renewOnce(() => http.request(method, path, answer, options)),
    stream: (method, path, options) => renewOnce(() => http.stream(method, path, options)),
  });
}
