import { Billing } from "@relicario/shared/api";

import { buildResponseSchemas } from "../http/response-schemas.ts";

export const billingSchemas = {
  read: {
    summary:
      "Plan, use and invoices of the account, from the operator's billing system; the free plan and no invoices without one",
    response: buildResponseSchemas(Billing),
  },
};
