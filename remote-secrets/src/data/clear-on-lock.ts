import { usePortal } from "@relicario/shared/contract";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";

import { secretKeys } from "./keys.ts";

/** Removes this remote's plaintext from the query cache on lock and sign-out. */
export function useClearOnLock(): void {
  const { onLock, user } = usePortal();
  const queryClient = useQueryClient();
  useEffect(
    () =>
      onLock(() => {
        queryClient.removeQueries({ queryKey: secretKeys.all(user.userId) });
      }),
    [onLock, queryClient, user.userId],
  );
}
