import { ReportShareBody } from "@relicario/shared/api";
import { z } from "zod";

import { buildResponseSchemas } from "../http/response-schemas.ts";

export const reportSchemas = {
  share: {
    summary: "Tells the operator of a share, by its id alone; the answer is the same for one that is not there",
    body: ReportShareBody,
    response: buildResponseSchemas(z.undefined().describe("it was taken down"), 204),
  },
};
