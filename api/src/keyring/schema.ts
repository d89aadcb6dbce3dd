import {
  ImageRecords,
  Keyring,
  KeyringChange,
  KeyringChangeResponse,
  KeyStatement,
  UserName,
} from "@relicario/shared/api";
import { z } from "zod";

import { buildResponseSchemas } from "../http/response-schemas.ts";

export const keyringSchemas = {
  readKeyring: {
    summary:
      "Slots, book, shares, requests and state; with states_since the chain of states after it; with or_none=true 204 where there is no keyring yet",
    querystring: z.strictObject({
      states_since: z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
      or_none: z.literal("true").optional(),
    }),
    response: { ...buildResponseSchemas(Keyring), ...buildResponseSchemas(z.null().describe("nothing"), 204) },
  },
  applyChange: {
    summary: "A keyring change without a secret",
    body: KeyringChange,
    response: buildResponseSchemas(KeyringChangeResponse),
  },
  readImageRecords: {
    summary: "Helpers of the image openers; no other call returns them",
    response: buildResponseSchemas(ImageRecords),
  },
  readKeyStatement: {
    summary: "The published key of a person of the same vendor",
    params: z.strictObject({ user_name: UserName }),
    response: buildResponseSchemas(KeyStatement),
  },
};
