import { userNameRejections, ValidateUserNameResponse } from "@relicario/shared/api";
import type { Portal } from "@relicario/shared/contract";
import { queryOptions } from "@tanstack/react-query";

import { getRefusals } from "./refusals.ts";

/**
 * Whether this account could have the name. Asked anew each time: somebody else may take it
 * meanwhile.
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

/** `unchecked`: the service could not be asked; it decides when the name is saved. */
export type UserNameProblem = (typeof userNameRejections)[number] | "unchecked";

export function toUserNameProblem(error: unknown): UserNameProblem {
  const reasons = getRefusals(error).map(({ reason }) => reason);
  return userNameRejections.find((reason) => reasons.includes(reason)) ?? "unchecked";
}
