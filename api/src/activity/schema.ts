import { ActivityResponse, ActivityQuery } from "@relicario/shared/api";

import { buildResponseSchemas } from "../http/response-schemas.ts";

export const activitySchemas = {
  list: {
    summary: "Events of the account in the last 90 days, newest first",
    querystring: ActivityQuery,
    response: buildResponseSchemas(ActivityResponse),
  },
};
