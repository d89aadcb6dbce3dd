import { EndAccountResetQuery, AccountReset } from "@relicario/shared/api";

import { buildResponseSchemas } from "../http/response-schemas.ts";

export const accountResetSchemas = {
  get: {
    summary: "Whether somebody asked to start the account anew, and what came of it",
    response: buildResponseSchemas(AccountReset),
  },
  request: {
    summary:
      "Asks to start the account anew, with a sign-in less than 5 minutes old; asked already, it is the same one",
    response: buildResponseSchemas(AccountReset),
  },
  end: {
    summary: "Objects to it or calls it off; without effect when it has ended",
    querystring: EndAccountResetQuery,
    response: buildResponseSchemas(AccountReset),
  },
};
