import { Me, UpdateMe } from "@relicario/shared/api";

import { answers } from "../http/answers.ts";

export const userSchemas = {
  me: { summary: "The account that is signed in", response: answers(Me) },
  update: { summary: "Changes user name or contact address; the answer is the account as it is then", body: UpdateMe, response: answers(Me) },
};
