import type { PasswordRejection, PasswordRule } from "@relicario/shared/api";
import { z } from "zod";

import type { KeycloakAdmin } from "../env/env.ts";
import { Problem } from "../http/problem.ts";
import type { PasswordProvider } from "./password-provider.ts";
import { callProvider, throwUnexpectedResponse, type ProviderResponse } from "./provider-call.ts";

/*
 * [Note: Passwords at Keycloak]
 *
 * By the documented calls of its admin REST interface, as a confidential client with a service
 * account that has the realm's roles `manage-users` and `view-realm`:
 *
 * 1. token endpoint, `client_credentials`: the token for the calls below
 * 2. `GET users/{id}`: the name that the person signs in with
 * 3. token endpoint, `password`: whether the old password is right. The client needs "Direct access
 *    grants"; wrong ones count for the realm's brute-force detection. Of somebody with a second
 *    factor Keycloak takes none this way: they change it at Keycloak
 * 4. `PUT users/{id}/reset-password`: the new one, by the realm's password policy
 * 5. `GET users/{id}/sessions`, `DELETE sessions/{id}` for each but the one that goes on: the one
 *    of step 3 goes too
 */

const Token = z.looseObject({ access_token: z.string() });
const User = z.looseObject({ username: z.string() });
const Sessions = z.array(z.looseObject({ id: z.string() }));
const Realm = z.looseObject({ passwordPolicy: z.string().optional() });
const TokenErrorBody = z.looseObject({ error: z.string() });
const ErrorBody = z.looseObject({
  error: z.string().optional(),
  error_description: z.string().optional(),
  errorMessage: z.string().optional(),
});

/**
 * Its policies, by the names that stand in a realm's `passwordPolicy` and those of its messages.
 */
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
/** Of how hashes are made and how long a password lasts: they refuse none. */
const ignoredPolicies = new Set(["hashAlgorithm", "hashIterations", "forceExpiredPasswordChange", "maxAuthAge"]);

export function createKeycloakPasswordProvider({
  url,
  realm,
  client_id,
  client_secret,
}: KeycloakAdmin): PasswordProvider {
  const adminUrl = `${url}/admin/realms/${encodeURIComponent(realm)}`;
  const tokenUrl = `${url}/realms/${encodeURIComponent(realm)}/protocol/openid-connect/token`;
  const requestToken = (grant: Readonly<Record<string, string>>) =>
    callProvider(tokenUrl, { method: "POST", body: new URLSearchParams({ client_id, client_secret, ...grant }) });

  async function createAdminCall(): Promise<
    (method: string, path: string, body?: unknown) => Promise<ProviderResponse>
  > {
    const response = await requestToken({ grant_type: "client_credentials" });
    const token = Token.safeParse(response.body);
    if (response.status !== 200 || !token.success) return throwUnexpectedResponse(response);
    const headers = { authorization: `Bearer ${token.data.access_token}`, "content-type": "application/json" };
    return (method, path, body) =>
      callProvider(`${adminUrl}${path}`, {
        method,
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
  }

  async function isPasswordCorrect(username: string, password: string): Promise<boolean> {
    const response = await requestToken({ grant_type: "password", username, password, scope: "openid" });
    if (response.status === 200) return true;
    const errorBody = TokenErrorBody.safeParse(response.body);
    if (errorBody.success && errorBody.data.error === "invalid_grant") return false;
    return throwUnexpectedResponse(response); // this service's own client is refused
  }

  return {
    async rules() {
      const callAdminApi = await createAdminCall();
      const response = await callAdminApi("GET", "");
      const realmBody = Realm.safeParse(response.body);
      return response.status === 200 && realmBody.success
        ? parsePolicy(realmBody.data.passwordPolicy ?? "")
        : throwUnexpectedResponse(response);
    },
    async change({ subject, oldPassword, newPassword, keepSessionId }) {
      const callAdminApi = await createAdminCall();
      const userPath = `/users/${encodeURIComponent(subject)}`;
      const userResponse = await callAdminApi("GET", userPath);
      if (userResponse.status === 404)
        throw new Problem("not_found", { detail: "the identity provider does not know this person" });
      const user = User.safeParse(userResponse.body);
      if (!user.success) return throwUnexpectedResponse(userResponse);
      if (!(await isPasswordCorrect(user.data.username, oldPassword)))
        return [{ path: "/old_password", reason: "wrong" }];
      const resetResponse = await callAdminApi("PUT", `${userPath}/reset-password`, {
        type: "password",
        value: newPassword,
        temporary: false,
      });
      const isRejected = resetResponse.status !== 204;
      const errorBody = ErrorBody.safeParse(resetResponse.body);
      if (isRejected && (resetResponse.status !== 400 || !errorBody.success))
        return throwUnexpectedResponse(resetResponse);
      const sessionsResponse = await callAdminApi("GET", `${userPath}/sessions`);
      for (const { id } of Sessions.safeParse(sessionsResponse.body).data ??
        throwUnexpectedResponse(sessionsResponse)) {
        if (!isRejected && id !== keepSessionId) await callAdminApi("DELETE", `/sessions/${encodeURIComponent(id)}`);
      }
      return isRejected && errorBody.success ? [toRejection(errorBody.data)] : [];
    },
  };
}

/** `length(10) and notUsername(undefined)`, as a realm keeps it. */
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
