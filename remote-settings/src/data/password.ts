import { PasswordRules, type ChangePasswordBody } from "@relicario/shared/api";
import { usePortal, type Portal } from "@relicario/shared/contract";
import { toPortalError } from "@relicario/shared/errors";
import { queryOptions, useMutation } from "@tanstack/react-query";
import { z } from "zod";

/** Whether the password can be changed here, and the identity provider's rules. */
export function passwordRulesQuery({ http, user }: Pick<Portal, "http" | "user">) {
  return queryOptions({
    queryKey: ["user", "password", user.userId],
    queryFn: ({ signal }) => http.request("GET", "/user/password", PasswordRules, { signal }),
  });
}

/**
 * Changes the password. Reports a failure only by its code: passwords are in no report and, after
 * the call, in no cache.
 */
export function useChangePassword(onFailure: (error: unknown) => void) {
  const { http, report } = usePortal();
  return useMutation({
    mutationFn: (body: ChangePasswordBody) => http.request("POST", "/user/change-password", z.null(), { body }),
    gcTime: 0,
    onError: (error) => {
      report({ remote: "settings", phase: "call", code: toPortalError(error).code });
      onFailure(error);
    },
  });
}
