import type { PasswordRejection } from "@relicario/shared/api";
import { z } from "zod";

import type { EmbeddedAdmin } from "../env/env.ts";
import { Problem } from "../http/problem.ts";
import type { PasswordProvider } from "./password-provider.ts";
import { callProvider, throwUnexpected } from "./provider-call.ts";

const Rules = z.strictObject({ min_length: z.int(), max_length: z.int() });
const RefusalBody = z.strictObject({
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

/** The provider of `npm start` (identity/administration.ts). */
export function createEmbeddedPasswordProvider({ url, token }: EmbeddedAdmin): PasswordProvider {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };

  async function readRules(): Promise<z.infer<typeof Rules>> {
    const answer = await callProvider(`${url}/admin/password-rules`, { method: "GET", headers });
    const rules = Rules.safeParse(answer.body);
    return rules.success ? rules.data : throwUnexpected(answer);
  }

  return {
    async rules() {
      const { min_length, max_length } = await readRules();
      return [
        { rule: "min_length", value: min_length },
        { rule: "max_length", value: max_length },
        { rule: "not_name" },
        { rule: "not_email" },
        { rule: "not_common" },
      ];
    },
    async change({ subject, oldPassword, newPassword, keepSessionId }) {
      const body = JSON.stringify({
        subject,
        old_password: oldPassword,
        new_password: newPassword,
        keep_session: keepSessionId,
      });
      const answer = await callProvider(`${url}/admin/password`, { method: "POST", headers, body });
      if (answer.status === 204) return [];
      if (answer.status === 404)
        throw new Problem("not_found", { detail: "the identity provider does not know this person" });
      const refusal = RefusalBody.safeParse(answer.body);
      if (!refusal.success) return throwUnexpected(answer);
      const { old_password: wrong, new_password: problem } = refusal.data.problems;
      const refusals: PasswordRejection[] = wrong === undefined ? [] : [{ path: "/old_password", reason: wrong }];
      if (problem === undefined) return refusals;
      const rule = ruleByProblem[problem];
      const limits: Partial<Record<typeof rule, number>> =
        rule === "min_length" || rule === "max_length" ? await readRules() : {};
      const value = limits[rule];
      return [...refusals, { path: "/new_password", reason: rule, ...(value === undefined ? {} : { value }) }];
    },
  };
}
