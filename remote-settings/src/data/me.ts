import { Me, type UpdateMeBody } from "@relicario/shared/api";
import { usePortal, type Portal } from "@relicario/shared/contract";
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { z } from "zod";

export const meKeys = { me: (userId: string) => ["user", "me", userId] as const };

/** The signed-in account. */
export function meQuery({ http, user }: Pick<Portal, "http" | "user">) {
  return queryOptions({
    queryKey: meKeys.me(user.userId),
    queryFn: ({ signal }) => http.request("GET", "/user/me", Me, { signal }),
  });
}

/**
 * Updates name and contact address. The response replaces the cached account (specification,
 * section 7).
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

/** Sends a mail with a link to the contact address. */
export function useSendValidation() {
  const { http } = usePortal();
  return useMutation({ mutationFn: () => http.request("POST", "/user/send-validate-email", z.null()) });
}
