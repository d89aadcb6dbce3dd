import { TokenExchange as ExchangeBody } from "@relicario/shared/api";
import type { Http } from "@relicario/shared/contract";
import { isPortalError } from "@relicario/shared/errors";

import { chosenVendor, vendorIdKey } from "./fragment.ts";

export interface TokenCallParts {
  /** Without a token, and without attempts of its own. */
  readonly http: Http;
  readonly storage: Pick<Storage, "getItem" | "removeItem">;
  /** The deployment's vendor. */
  readonly ownVendor: string;
  /** A vendor named in an address is not known to the service, and was forgotten. */
  readonly onVendorIgnored: () => void;
  /** A newer access token, by the provider's session. */
  readonly renewAccessToken: () => Promise<string>;
}

export interface TokenCall {
  /** Whose token is asked for. */
  readonly vendorId: () => string;
  /** `POST /auth/token`: the provider's access token for the product's session token. */
  readonly ask: (accessToken: string) => Promise<string>;
}

export function createTokenCall({ http, storage, ownVendor, onVendorIgnored, renewAccessToken }: TokenCallParts): TokenCall {
  const vendorId = () => chosenVendor(storage, ownVendor);
  const post = async (accessToken: string): Promise<string> => {
    const { token } = await http.request("POST", "/auth/token", ExchangeBody, { query: { app_vendor_id: vendorId() }, body: { token: accessToken } });
    return token;
  };
  return {
    vendorId,
    ask: async (accessToken) => {
      try {
        return await post(accessToken);
      } catch (error) {
        if (isPortalError(error, "vendor_unknown") && vendorId() !== ownVendor) {
          storage.removeItem(vendorIdKey);
          onVendorIgnored();
          return post(accessToken);
        }
        // It ran out while nobody could renew it.
        if (isPortalError(error, "token_expired", "token_invalid", "unauthorized")) return post(await renewAccessToken());
        throw error;
      }
    },
  };
}
