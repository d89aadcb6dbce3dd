import { z } from "zod";

import { answers } from "../http/answers.ts";

export const accountSchemas = {
  remove: {
    summary: "Deletes the account in 14 days; takes a sign-in that is not 5 minutes old",
    response: answers(z.undefined().describe("asked for; `deletion_due_at` of the account says when"), 204),
  },
  restore: {
    summary: "Calls the deletion off",
    response: answers(z.undefined().describe("called off, or not asked for"), 204),
  },
};
