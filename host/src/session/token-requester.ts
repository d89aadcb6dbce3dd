import { TokenExchangeBody as ExchangeBody } from "@relicario/shared/api";
import type { HttpClient } from "@relicario/shared/contract";
import { isPortalError } from "@relicario/shared/errors";

import { getChosenVendorId, vendorIdKey } from "./fragment.ts";

export interface TokenRequesterDeps {
  /** HTTP client without a token, which does not retry. */
  readonly publicHttp: HttpClient;
  readonly storage: Pick<Storage, "getItem" | "removeItem">;
  readonly defaultVendorId: string;
  /**
   * Called when the service does not know the vendor that a link chose. That choice was removed.
   */
  readonly onVendorIgnored: () => void;
  readonly renewAccessToken: () => Promise<string>;
}

export interface TokenRequester {
  readonly getVendorId: () => string;
  /** `POST /auth/token`: exchanges the provider's access token for a session token. */
  readonly requestToken: (accessToken: string) => Promise<string>;
}

export function createTokenRequester({
  publicHttp,
  storage,
  defaultVendorId,
  onVendorIgnored,
  renewAccessToken,
}: TokenRequesterDeps): TokenRequester {
  const getVendorId = () => getChosenVendorId(storage, defaultVendorId);
  const post = async (accessToken: string): Promise<string> => {
    const { token } = await publicHttp.request("POST", "/auth/token", ExchangeBody, {
      query: { app_vendor_id: getVendorId() },
      body: { token: accessToken },
    });
    return token;
  };
  return {
    getVendorId,
    requestToken: async (accessToken) => {
      try {
        return await post(accessToken);
      } catch (error) {
        if (isPortalError(error, "vendor_unknown") && getVendorId() !== defaultVendorId) {
          storage.removeItem(vendorIdKey);
          onVendorIgnored();
          return post(accessToken);
        }
        // The access token may have expired unnoticed, for example while the device slept.
        if (isPortalError(error, "token_expired", "token_invalid", "unauthorized"))
          return post(await renewAccessToken());
        throw error;
      }
    },
  };
}
