import { EndStartAnew, StartAnew } from "@relicario/shared/api";

import { answers } from "../http/answers.ts";

export const startAnewSchemas = {
  get: {
    summary: "Whether somebody asked to start the account anew, and what came of it",
    response: answers(StartAnew),
  },
  ask: {
    summary:
      "Asks to start the account anew, with a sign-in less than 5 minutes old; asked already, it is the same one",
    response: answers(StartAnew),
  },
  end: {
    summary: "Objects to it or calls it off; without effect when it has ended",
    querystring: EndStartAnew,
    response: answers(StartAnew),
  },
};
