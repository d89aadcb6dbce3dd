import { EndAccountResetQuery, AccountReset } from "@relicario/shared/api";

import { buildResponseSchemas } from "../http/response-schemas.ts";

export const accountResetSchemas = {
  readReset: {
    summary: "State of the account reset",
    response: buildResponseSchemas(AccountReset),
  },
  requestReset: {
    summary: "Requests an account reset; needs a sign-in within the last 5 minutes; idempotent",
    response: buildResponseSchemas(AccountReset),
  },
  endReset: {
    summary: "Objects to the account reset or cancels it; idempotent",
    querystring: EndAccountResetQuery,
    response: buildResponseSchemas(AccountReset),
  },
};
