import { z } from "zod";

import { buildResponseSchemas } from "../http/response-schemas.ts";

export const accountSchemas = {
  requestDeletion: {
    summary: "Deletes the account in 14 days; needs a sign-in within the last 5 minutes",
    response: buildResponseSchemas(
      z.undefined().describe("requested; `deletion_due_at` of the account says when"),
      204,
    ),
  },
  cancelDeletion: {
    summary: "Cancels the deletion",
    response: buildResponseSchemas(z.undefined().describe("cancelled, or not requested"), 204),
  },
};
