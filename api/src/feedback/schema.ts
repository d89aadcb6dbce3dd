import { FeedbackBody } from "@relicario/shared/api";
import { z } from "zod";

import { buildResponseSchemas } from "../http/response-schemas.ts";

export const feedbackSchemas = {
  send: {
    summary: "Sends feedback to the operator; it must not contain secrets",
    body: FeedbackBody,
    response: buildResponseSchemas(z.undefined().describe("stored"), 204),
  },
};
