import { ProviderCerts, TokenCerts } from "@relicario/shared/api";

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
};
