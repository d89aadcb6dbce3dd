import type { PasswordRejection } from "@relicario/shared/api";
import { z } from "zod";

import { callProvider, throwUnexpectedResponse } from "../auth/provider-call.ts";
import type { EmbeddedAdmin } from "../env/env.ts";
import { Problem } from "../http/problem.ts";
import type { PasswordProvider } from "./password-provider.ts";

const RulesBody = z.strictObject({ min_length: z.int(), max_length: z.int() });
const ProblemsBody = z.strictObject({
  problems: z.strictObject({
    old_password: z.literal("wrong").optional(),
    new_password: z
      .enum(["password_missing", "password_short", "password_long", "password_is_name", "password_common"])
      .optional(),
  }),
});

const ruleByProblem = {
  password_missing: "min_length",
  password_short: "min_length",
  password_long: "max_length",
  password_is_name: "not_name",
  password_common: "not_common",
} as const;

/** The identity provider of `npm start` (identity/admin-routes.ts). */
export function createEmbeddedPasswordProvider({ url, token }: EmbeddedAdmin): PasswordProvider {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };

  async function readRules(): Promise<z.infer<typeof RulesBody>> {
    const response = await callProvider(`${url}/admin/password-rules`, { method: "GET", headers });
    const rules = RulesBody.safeParse(response.body);
    return rules.success ? rules.data : throwUnexpectedResponse(response);
  }

  return {
    async readRules() {
      const { min_length, max_length } = await readRules();
      return [
        { rule: "min_length", value: min_length },
        { rule: "max_length", value: max_length },
        { rule: "not_name" },
        { rule: "not_email" },
        { rule: "not_common" },
      ];
    },
    async changePassword({ subject, oldPassword, newPassword, keepSessionId }) {
      const body = JSON.stringify({
        subject,
        old_password: oldPassword,
        new_password: newPassword,
        keep_session: keepSessionId,
      });
      const response = await callProvider(`${url}/admin/password`, { method: "POST", headers, body });
      if (response.status === 204) return [];
      if (response.status === 404)
        throw new Problem("not_found", { detail: "the identity provider does not know this person" });
      const parsedProblems = ProblemsBody.safeParse(response.body);
      if (!parsedProblems.success) return throwUnexpectedResponse(response);
      const { old_password: oldPasswordProblem, new_password: newPasswordProblem } = parsedProblems.data.problems;
      const rejections: PasswordRejection[] =
        oldPasswordProblem === undefined ? [] : [{ path: "/old_password", reason: oldPasswordProblem }];
      if (newPasswordProblem === undefined) return rejections;
      const rule = ruleByProblem[newPasswordProblem];
      const limits: Partial<Record<typeof rule, number>> =
        rule === "min_length" || rule === "max_length" ? await readRules() : {};
      const value = limits[rule];
      return [...rejections, { path: "/new_password", reason: rule, ...(value === undefined ? {} : { value }) }];
    },
  };
}
