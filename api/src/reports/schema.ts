import { ReportShare } from "@relicario/shared/api";
import { z } from "zod";

import { answers } from "../http/answers.ts";

export const reportSchemas = {
  share: {
    summary: "Tells the operator of a share, by its id alone; the answer is the same for one that is not there",
    body: ReportShare,
    response: answers(z.undefined().describe("it was taken down"), 204),
  },
};
