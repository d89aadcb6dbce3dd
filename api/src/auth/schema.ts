import { ProviderJwks, TokenJwks } from "@relicario/shared/api";

import { buildResponseSchemas } from "../http/response-schemas.ts";

export const authSchemas = {
  certs: {
    summary: "Keys of the identity provider as this service trusts it",
    response: buildResponseSchemas(ProviderJwks),
  },
  tokenCerts: {
    summary: "Keys that session tokens are verified with: the current and the next",
    response: buildResponseSchemas(TokenJwks),
  },
};
