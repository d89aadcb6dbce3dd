import { Activity, ActivityQuery } from "@relicario/shared/api";

import { answers } from "../http/answers.ts";

export const activitySchemas = {
  list: {
    summary: "What happened in the account in the last 90 days, newest first",
    querystring: ActivityQuery,
    response: answers(Activity),
  },
};
