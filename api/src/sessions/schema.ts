import { Id, OwnSessions, TokenExchangeBody, VendorId } from "@relicario/shared/api";
import { z } from "zod";

import { buildResponseSchemas } from "../http/response-schemas.ts";

const revokedResponse = buildResponseSchemas(z.undefined().describe("revoked"), 204);

export const sessionSchemas = {
  exchange: {
    summary: "Exchanges the identity provider's access token for a session token",
    querystring: z.strictObject({ app_vendor_id: VendorId }),
    body: TokenExchangeBody,
    response: buildResponseSchemas(TokenExchangeBody),
  },
  signOut: {
    summary: "Revokes the product session",
    response: buildResponseSchemas(z.null().describe("nothing"), 204),
  },
  providerSignOut: {
    summary: "Revokes the sessions that a sign-out at the identity provider ended (Back-Channel Logout 1.0)",
    body: z.looseObject({
      logout_token: z
        .string()
        .min(1)
        .max(16 * 1024),
    }),
    response: buildResponseSchemas(z.strictObject({})),
  },
  list: { summary: "Where the account is signed in", response: buildResponseSchemas(OwnSessions) },
  revoke: {
    summary: "Revokes a sign-in with all its sessions",
    params: z.strictObject({ id: Id }),
    response: revokedResponse,
  },
  revokeOthers: { summary: "Revokes all other sign-ins", response: revokedResponse },
};
