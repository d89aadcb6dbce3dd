import { Id, OwnSessions, TokenExchangeBody, VendorId } from "@relicario/shared/api";
import { z } from "zod";

import { buildResponseSchemas } from "../http/response-schemas.ts";

const endedResponse = buildResponseSchemas(z.undefined().describe("ended"), 204);

export const sessionSchemas = {
  exchange: {
    summary: "The identity provider's access token for the product's session token",
    querystring: z.strictObject({ app_vendor_id: VendorId }),
    body: TokenExchangeBody,
    response: buildResponseSchemas(TokenExchangeBody),
  },
  signOut: { summary: "Ends the product session", response: buildResponseSchemas(z.null().describe("nothing"), 204) },
  list: { summary: "Where the account is signed in", response: buildResponseSchemas(OwnSessions) },
  end: {
    summary: "Ends a sign-in, with all sessions that came from it",
    params: z.strictObject({ id: Id }),
    response: endedResponse,
  },
  endOthers: { summary: "Ends every sign-in but the one that asks", response: endedResponse },
};
