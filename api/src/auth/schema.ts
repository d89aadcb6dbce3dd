import { ProviderJwks, TokenJwks } from "@relicario/shared/api";

import { buildResponseSchemas } from "../http/response-schemas.ts";

export const authSchemas = {
  certs: {
    summary: "Keys of the trusted identity provider",
    response: buildResponseSchemas(ProviderJwks),
  },
  tokenCerts: {
    summary: "Keys that session tokens are verified with: the current and the next",
    response: buildResponseSchemas(TokenJwks),
  },
};
