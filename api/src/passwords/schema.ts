import { ChangePassword, PasswordRules } from "@relicario/shared/api";
import { z } from "zod";

import { answers } from "../http/answers.ts";

export const passwordSchemas = {
  rules: {
    summary: "Whether passwords are changed here, and the identity provider's rules for them",
    response: answers(PasswordRules),
  },
  change: {
    summary:
      "Changes the password at the identity provider and signs out every other session; what the provider refuses is 422",
    body: ChangePassword,
    response: answers(z.undefined().describe("it is changed"), 204),
  },
};
