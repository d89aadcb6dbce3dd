import { usePortal } from "@relicario/shared/contract";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { z } from "zod";

import { meKeys } from "../data/me.ts";

/** Asks for the deletion after a fresh sign-in in a window: call it from a click. */
export function useRequestDeletion() {
  const { http, signInAgain } = usePortal();
  return useAccountMutation(async () => {
    await signInAgain();
    await http.request("DELETE", "/user/me", z.null());
  });
}

/** Calls it off. */
export function useCancelDeletion() {
  const { http } = usePortal();
  return useAccountMutation(() => http.request("POST", "/user/me/restore", z.null()));
}

/**
 * A call after which the account is read anew: also by the host, which says on every page that it
 * is to be deleted.
 */
function useAccountMutation(mutationFn: () => Promise<unknown>) {
  const { user } = usePortal();
  const client = useQueryClient();
  return useMutation({ mutationFn, onSettled: () => client.invalidateQueries({ queryKey: meKeys.me(user.userId) }) });
}
