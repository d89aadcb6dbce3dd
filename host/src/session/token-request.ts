import { TokenExchangeBody as ExchangeBody } from "@relicario/shared/api";
import type { HttpClient } from "@relicario/shared/contract";
import { isPortalError } from "@relicario/shared/errors";

import { getChosenVendorId, vendorIdKey } from "./fragment.ts";

export interface TokenRequesterDeps {
  /** Calls without a token, each made once. */
  readonly http: HttpClient;
  readonly storage: Pick<Storage, "getItem" | "removeItem">;
  /** The deployment's vendor. */
  readonly defaultVendorId: string;
  /** A vendor that a link named is unknown to the service and was forgotten. */
  readonly onVendorIgnored: () => void;
  /** Gets a new access token by the session at the provider. */
  readonly renewAccessToken: () => Promise<string>;
}

export interface TokenRequester {
  /** The vendor that the token is for. */
  readonly getVendorId: () => string;
  /** `POST /auth/token`: the provider's access token for the product's session token. */
  readonly send: (accessToken: string) => Promise<string>;
}

export function createTokenRequester({
  http,
  storage,
  defaultVendorId,
  onVendorIgnored,
  renewAccessToken,
}: TokenRequesterDeps): TokenRequester {
  const getVendorId = () => getChosenVendorId(storage, defaultVendorId);
  const post = async (accessToken: string): Promise<string> => {
    const { token } = await http.request("POST", "/auth/token", ExchangeBody, {
      query: { app_vendor_id: getVendorId() },
      body: { token: accessToken },
    });
    return token;
  };
  return {
    getVendorId,
    send: async (accessToken) => {
      try {
        return await post(accessToken);
      } catch (error) {
        if (isPortalError(error, "vendor_unknown") && getVendorId() !== defaultVendorId) {
          storage.removeItem(vendorIdKey);
          onVendorIgnored();
          return post(accessToken);
        }
        // The access token expired while nothing renewed it, such as while the device slept.
        if (isPortalError(error, "token_expired", "token_invalid", "unauthorized"))
          return post(await renewAccessToken());
        throw error;
      }
    },
  };
}
