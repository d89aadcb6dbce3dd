import { ActivityResponse, ActivityQuery } from "@relicario/shared/api";

import { responseSchemas } from "../http/response-schemas.ts";

export const activitySchemas = {
  list: {
    summary: "What happened in the account in the last 90 days, newest first",
    querystring: ActivityQuery,
    response: responseSchemas(ActivityResponse),
  },
};
