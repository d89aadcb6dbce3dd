import { ProviderCerts, TokenCerts, TokenExchange, VendorId } from "@relicario/shared/api";
import { z } from "zod";

import { answers } from "../http/answers.ts";

export const authSchemas = {
  certs: { summary: "Keys of the identity provider as this service trusts it", response: answers(ProviderCerts) },
  tokenCerts: {
    summary: "Keys that session tokens are verified with: the current and the next",
    response: answers(TokenCerts),
  },
  exchange: {
    summary: "The identity provider's access token for the product's session token",
    querystring: z.strictObject({ app_vendor_id: VendorId }),
    body: TokenExchange,
    response: answers(TokenExchange),
  },
  signOut: { summary: "Ends the product session", response: answers(z.null().describe("nothing"), 204) },
};
