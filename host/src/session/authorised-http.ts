import { createHttp, type HttpSettings } from "@relicario/shared/api";
import type { Http } from "@relicario/shared/contract";
import { isPortalError, PortalError, toPortalError } from "@relicario/shared/errors";

import type { TokenExchange } from "./token-exchange.ts";

/**
 * Calls to the service with the session token. A call that is answered "expired" makes one renewal and is repeated once,
 * never more; where that fails the caller gets `token_expired`, and keeps what was typed.
 */
export function createAuthorisedHttp(settings: Omit<HttpSettings, "token">, exchange: Pick<TokenExchange, "token" | "renew">): Http {
  /** The exchange makes its own attempts. Being the cause, what it met is told from a failure of the call, and no call is repeated for it. */
  const token = async (): Promise<string> => {
    try {
      return await exchange.token();
    } catch (cause) {
      const { code, details } = toPortalError(cause);
      throw new PortalError(code, { cause, details });
    }
  };
  const http = createHttp({ ...settings, token });
  const renewOnce = async <T>(call: () => Promise<T>): Promise<T> => {
    try {
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
