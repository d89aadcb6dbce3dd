import { Me, type UpdateMeBody } from "@relicario/shared/api";
import { usePortal, type Portal } from "@relicario/shared/contract";
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { z } from "zod";

export const meKeys = { me: (userId: string) => ["user", "me", userId] as const };

export function meQuery({ http, user }: Pick<Portal, "http" | "user">) {
  return queryOptions({
    queryKey: meKeys.me(user.userId),
    queryFn: ({ signal }) => http.request("GET", "/user/me", Me, { signal }),
  });
}

/**
 * Updates name, contact address and notifications. The response replaces the cached account
 * (specification, section 7).
 */
export function useUpdateMe() {
  const { http, user } = usePortal();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (body: UpdateMeBody) => http.request("POST", "/user/me", Me, { body }),
    onSuccess: (me) => {
      client.setQueryData(meKeys.me(user.userId), me);
    },
  });
}

/** Mails a verification link to the contact address. */
export function useSendValidation() {
  const { http } = usePortal();
  return useMutation({ mutationFn: () => http.request("POST", "/user/send-validate-email", z.null()) });
}
