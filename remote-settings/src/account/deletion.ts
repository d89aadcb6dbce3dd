import { usePortal } from "@relicario/shared/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { z } from "zod";

import { meKeys } from "../data/me.ts";

/**
 * Requests the deletion after a fresh sign-in in a popup. Call it in the click handler, or browsers
 * block the popup.
 */
export function useRequestDeletion() {
  const { http, signInAgain } = usePortal();
  return useAccountMutation(async () => {
    await signInAgain();
    await http.request("DELETE", "/user/me", z.null());
  });
}

export function useCancelDeletion() {
  const { http } = usePortal();
  return useAccountMutation(() => http.request("POST", "/user/me/restore", z.null()));
}

/**
 * Refetches the account after the mutation. The host then shows or hides its notice of the deletion
 * on every page.
 */
function useAccountMutation(mutationFn: () => Promise<unknown>) {
  const { user } = usePortal();
  const client = useQueryClient();
  return useMutation({ mutationFn, onSettled: () => client.invalidateQueries({ queryKey: meKeys.me(user.userId) }) });
}
