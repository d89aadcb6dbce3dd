import { z } from "zod";

import { buildResponseSchemas } from "../http/response-schemas.ts";

export const accountSchemas = {
  remove: {
    summary: "Deletes the account in 14 days; takes a sign-in that is not 5 minutes old",
    response: buildResponseSchemas(
      z.undefined().describe("asked for; `deletion_due_at` of the account says when"),
      204,
    ),
  },
  restore: {
    summary: "Calls the deletion off",
    response: buildResponseSchemas(z.undefined().describe("called off, or not asked for"), 204),
  },
};
