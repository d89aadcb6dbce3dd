import type { PasswordRefusal } from "@relicario/shared/api";
import { z } from "zod";

import type { EmbeddedAdmin } from "../env.ts";
import { Problem } from "../http/problem.ts";
import { callProvider, unexpected } from "./provider-call.ts";
import type { PasswordProvider } from "./password-provider.ts";

const Rules = z.strictObject({ min_length: z.int(), max_length: z.int() });
const Refused = z.strictObject({
  problems: z.strictObject({
    old_password: z.literal("wrong").optional(),
    new_password: z
      .enum(["password_missing", "password_short", "password_long", "password_is_name", "password_common"])
      .optional(),
  }),
});

const ruleOf = {
  password_missing: "min_length",
  password_short: "min_length",
  password_long: "max_length",
  password_is_name: "not_name",
  password_common: "not_common",
} as const;

/** The provider of `npm start` (identity/administration.ts). */
export function createEmbeddedPasswords({ url, token }: EmbeddedAdmin): PasswordProvider {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };

  async function readRules(): Promise<z.infer<typeof Rules>> {
    const answer = await callProvider(`${url}/admin/password-rules`, { method: "GET", headers });
    const rules = Rules.safeParse(answer.body);
    return rules.success ? rules.data : unexpected(answer);
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
    async change({ subject, before, after, keepSession }) {
      const body = JSON.stringify({ subject, old_password: before, new_password: after, keep_session: keepSession });
      const answer = await callProvider(`${url}/admin/password`, { method: "POST", headers, body });
      if (answer.status === 204) return [];
      if (answer.status === 404)
        throw new Problem("not_found", { detail: "the identity provider does not know this person" });
      const refused = Refused.safeParse(answer.body);
      if (!refused.success) return unexpected(answer);
      const { old_password: wrong, new_password: problem } = refused.data.problems;
      const refusals: PasswordRefusal[] = wrong === undefined ? [] : [{ path: "/old_password", reason: wrong }];
      if (problem === undefined) return refusals;
      const rule = ruleOf[problem];
      const limits: Partial<Record<typeof rule, number>> =
        rule === "min_length" || rule === "max_length" ? await readRules() : {};
      const value = limits[rule];
      return [...refusals, { path: "/new_password", reason: rule, ...(value === undefined ? {} : { value }) }];
    },
  };
}
