import { SendFeedback } from "@relicario/shared/api";
import { z } from "zod";

import { answers } from "../http/answers.ts";

export const feedbackSchemas = {
  send: {
    summary: "Tells the operator what somebody thinks of the portal; nothing of a secret belongs into it",
    body: SendFeedback,
    response: answers(z.undefined().describe("it is kept"), 204),
  },
};
