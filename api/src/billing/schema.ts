import { Billing } from "@relicario/shared/api";

import { answers } from "../http/answers.ts";

export const billingSchemas = {
  read: {
    summary:
      "Plan, use and invoices of the account, from the operator's billing system; the free plan and no invoices without one",
    response: answers(Billing),
  },
};
