import { ActivityResponse, ActivityQuery } from "@relicario/shared/api";

import { buildResponseSchemas } from "../http/response-schemas.ts";

export const activitySchemas = {
  list: {
    summary: "What happened in the account in the last 90 days, newest first",
    querystring: ActivityQuery,
    response: buildResponseSchemas(ActivityResponse),
  },
};
