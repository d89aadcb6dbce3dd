import { ReportShareBody } from "@relicario/shared/api";
import { z } from "zod";

import { buildResponseSchemas } from "../http/response-schemas.ts";

export const reportSchemas = {
  reportShare: {
    summary: "Reports a share to the operator by its id; an unknown id gets the same response",
    body: ReportShareBody,
    response: buildResponseSchemas(z.undefined().describe("reported"), 204),
  },
};
