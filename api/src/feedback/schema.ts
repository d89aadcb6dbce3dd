import { FeedbackBody } from "@relicario/shared/api";
import { z } from "zod";

import { buildResponseSchemas } from "../http/response-schemas.ts";

export const feedbackSchemas = {
  send: {
    summary: "Tells the operator what somebody thinks of the portal; nothing of a secret belongs into it",
    body: FeedbackBody,
    response: buildResponseSchemas(z.undefined().describe("it is kept"), 204),
  },
};
