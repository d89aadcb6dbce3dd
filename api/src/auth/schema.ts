import { ProviderCerts, TokenCerts, TokenExchange, VendorId } from "@relicario/shared/api";
import { z } from "zod";

import { responseSchemas } from "../http/response-schemas.ts";

export const authSchemas = {
  certs: {
    summary: "Keys of the identity provider as this service trusts it",
    response: responseSchemas(ProviderCerts),
  },
  tokenCerts: {
    summary: "Keys that session tokens are verified with: the current and the next",
    response: responseSchemas(TokenCerts),
  },
  exchange: {
    summary: "The identity provider's access token for the product's session token",
    querystring: z.strictObject({ app_vendor_id: VendorId }),
    body: TokenExchange,
    response: responseSchemas(TokenExchange),
  },
  signOut: { summary: "Ends the product session", response: responseSchemas(z.null().describe("nothing"), 204) },
};
