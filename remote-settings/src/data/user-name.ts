import { userNameRejections, ValidateUserNameResponse } from "@relicario/shared/api";
import type { Portal } from "@relicario/shared/contract";
import { queryOptions } from "@tanstack/react-query";

import { getInvalidFields } from "./invalid-fields.ts";

/**
 * Whether this account can take the name. Never cached, because another account may take the name
 * in the meantime.
 */
export function userNameQuery({ http, user }: Pick<Portal, "http" | "user">, name: string) {
  return queryOptions({
    queryKey: ["user", "validate-username", user.userId, name],
    queryFn: ({ signal }) =>
      http.request("POST", "/user/validate-username", ValidateUserNameResponse, { query: { username: name }, signal }),
    retry: false,
    staleTime: 0,
    gcTime: 0,
  });
}

/** `unchecked`: the check failed, so the service decides when the name is saved. */
export type UserNameProblem = (typeof userNameRejections)[number] | "unchecked";

export function toUserNameProblem(error: unknown): UserNameProblem {
  const reasons = getInvalidFields(error).map(({ reason }) => reason);
  return userNameRejections.find((reason) => reasons.includes(reason)) ?? "unchecked";
}
