import { ChangePasswordBody, PasswordRules } from "@relicario/shared/api";
import { z } from "zod";

import { buildResponseSchemas } from "../http/response-schemas.ts";

export const passwordSchemas = {
  readRules: {
    summary: "Whether passwords are changed here, and the identity provider's rules for them",
    response: buildResponseSchemas(PasswordRules),
  },
  changePassword: {
    summary:
      "Changes the password at the identity provider and signs out every other session; what the provider refuses is 422",
    body: ChangePasswordBody,
    response: buildResponseSchemas(z.undefined().describe("it is changed"), 204),
  },
};
