import { PasswordRules, type ChangePasswordBody } from "@relicario/shared/api";
import { usePortal, type Portal } from "@relicario/shared/contract";
import { toPortalError } from "@relicario/shared/errors";
import { queryOptions, useMutation } from "@tanstack/react-query";
import { z } from "zod";

/** Whether the password is changed here, and by which rules of the identity provider. */
export function passwordRulesQuery({ http, user }: Pick<Portal, "http" | "user">) {
  return queryOptions({
    queryKey: ["user", "password", user.userId],
    queryFn: ({ signal }) => http.request("GET", "/user/password", PasswordRules, { signal }),
  });
}

/**
 * Changes the password. A failure is reported by its code; passwords stand in no report, and in no
 * cache once the call is over.
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
