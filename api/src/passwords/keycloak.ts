import type { PasswordRejection, PasswordRule } from "@relicario/shared/api";
import { z } from "zod";

import type { KeycloakAdmin } from "../auth/keycloak-admin.ts";
import { throwUnexpectedResponse } from "../auth/provider-call.ts";
import { Problem } from "../http/problem.ts";
import type { PasswordProvider } from "./password-provider.ts";

/*
 * [Note: Passwords at Keycloak]
 *
 * Uses the documented admin REST API, as a confidential client whose service account has the
 * realm's roles `manage-users` and `view-realm`:
 *
 * 1. token endpoint, `client_credentials`: the token for the calls below
 * 2. `GET users/{id}`: the user name
 * 3. token endpoint, `password`: verifies the old password. The client needs "Direct access
 *    grants"; wrong ones count for the realm's brute-force detection. People with a second factor
 *    cannot use it: they change the password at Keycloak
 * 4. `PUT users/{id}/reset-password`: sets the new one, under the realm's password policy
 * 5. `GET users/{id}/sessions`, `DELETE sessions/{id}` for each but the kept one, including that of
 *    step 3
 */

const User = z.looseObject({ username: z.string() });
const Sessions = z.array(z.looseObject({ id: z.string() }));
const Realm = z.looseObject({ passwordPolicy: z.string().optional() });
const TokenErrorBody = z.looseObject({ error: z.string() });
const ErrorBody = z.looseObject({
  error: z.string().optional(),
  error_description: z.string().optional(),
  errorMessage: z.string().optional(),
});

/** Policies by their names in a realm's `passwordPolicy`, with their error messages. */
const rulesByPolicy: Readonly<
  Record<string, { readonly rule: PasswordRule["rule"]; readonly message: string; readonly hasNumber: boolean }>
> = {
  length: { rule: "min_length", message: "invalidPasswordMinLengthMessage", hasNumber: true },
  maxLength: { rule: "max_length", message: "invalidPasswordMaxLengthMessage", hasNumber: true },
  digits: { rule: "digits", message: "invalidPasswordMinDigitsMessage", hasNumber: true },
  lowerCase: { rule: "lower_case", message: "invalidPasswordMinLowerCaseCharsMessage", hasNumber: true },
  upperCase: { rule: "upper_case", message: "invalidPasswordMinUpperCaseCharsMessage", hasNumber: true },
  specialChars: { rule: "special_chars", message: "invalidPasswordMinSpecialCharsMessage", hasNumber: true },
  notUsername: { rule: "not_name", message: "invalidPasswordNotUsernameMessage", hasNumber: false },
  notEmail: { rule: "not_email", message: "invalidPasswordNotEmailMessage", hasNumber: false },
  passwordBlacklist: { rule: "not_common", message: "invalidPasswordBlacklistedMessage", hasNumber: false },
  passwordHistory: { rule: "history", message: "invalidPasswordHistoryMessage", hasNumber: true },
};
/** About hashing and expiry: they refuse no password. */
const ignoredPolicies = new Set(["hashAlgorithm", "hashIterations", "forceExpiredPasswordChange", "maxAuthAge"]);

export function createKeycloakPasswordProvider(admin: KeycloakAdmin): PasswordProvider {
  async function isPasswordCorrect(username: string, password: string): Promise<boolean> {
    const response = await admin.requestToken({ grant_type: "password", username, password, scope: "openid" });
    if (response.status === 200) return true;
    const errorBody = TokenErrorBody.safeParse(response.body);
    if (errorBody.success && errorBody.data.error === "invalid_grant") return false;
    return throwUnexpectedResponse(response); // this service's own client is refused
  }

  return {
    async readRules() {
      const response = await admin.call("GET", "");
      const realmBody = Realm.safeParse(response.body);
      return response.status === 200 && realmBody.success
        ? parsePolicy(realmBody.data.passwordPolicy ?? "")
        : throwUnexpectedResponse(response);
    },
    async changePassword({ subject, oldPassword, newPassword, keepSessionId }) {
      const userPath = `/users/${encodeURIComponent(subject)}`;
      const userResponse = await admin.call("GET", userPath);
      if (userResponse.status === 404)
        throw new Problem("not_found", { detail: "the identity provider does not know this person" });
      const user = User.safeParse(userResponse.body);
      if (!user.success) return throwUnexpectedResponse(userResponse);
      if (!(await isPasswordCorrect(user.data.username, oldPassword)))
        return [{ path: "/old_password", reason: "wrong" }];
      const resetResponse = await admin.call("PUT", `${userPath}/reset-password`, {
        type: "password",
        value: newPassword,
        temporary: false,
      });
      const isRejected = resetResponse.status !== 204;
      const errorBody = ErrorBody.safeParse(resetResponse.body);
      if (isRejected && (resetResponse.status !== 400 || !errorBody.success))
        return throwUnexpectedResponse(resetResponse);
      const sessionsResponse = await admin.call("GET", `${userPath}/sessions`);
      for (const { id } of Sessions.safeParse(sessionsResponse.body).data ??
        throwUnexpectedResponse(sessionsResponse)) {
        if (!isRejected && id !== keepSessionId) await admin.call("DELETE", `/sessions/${encodeURIComponent(id)}`);
      }
      return isRejected && errorBody.success ? [toRejection(errorBody.data)] : [];
    },
  };
}

/** Parses `length(10) and notUsername(undefined)`. */
function parsePolicy(policy: string): PasswordRule[] {
  return policy
    .split(" and ")
    .map((part) => part.trim())
    .filter((part) => part !== "")
    .flatMap((part): PasswordRule[] => {
      const [, name = part, argument = ""] = /^(\w+)(?:\((.*)\))?$/.exec(part) ?? [];
      if (ignoredPolicies.has(name)) return [];
      const policyRule = rulesByPolicy[name];
      if (policyRule === undefined) return [{ rule: "other", text: part }];
      return [
        {
          rule: policyRule.rule,
          ...(policyRule.hasNumber && /^\d+$/.test(argument) ? { value: Number(argument) } : {}),
        },
      ];
    });
}

function toRejection({
  error,
  error_description: description,
  errorMessage,
}: z.infer<typeof ErrorBody>): PasswordRejection {
  const policyRule = Object.values(rulesByPolicy).find(({ message }) => message === error);
  const text = description ?? errorMessage;
  const [, number] = /(\d+)/.exec(text ?? "") ?? [];
  return {
    path: "/new_password",
    reason: policyRule?.rule ?? "refused",
    ...(policyRule?.hasNumber === true && number !== undefined ? { value: Number(number) } : {}),
    ...(text === undefined ? {} : { text }),
  };
}
