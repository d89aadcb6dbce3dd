import { Id, OwnSessions } from "@relicario/shared/api";
import { z } from "zod";

import { answers } from "../http/answers.ts";

const ended = answers(z.undefined().describe("ended"), 204);

export const sessionSchemas = {
  list: { summary: "Where the account is signed in", response: answers(OwnSessions) },
  end: {
    summary: "Ends a sign-in, with all sessions that came from it",
    params: z.strictObject({ id: Id }),
    response: ended,
  },
  endOthers: { summary: "Ends every sign-in but the one that asks", response: ended },
};
