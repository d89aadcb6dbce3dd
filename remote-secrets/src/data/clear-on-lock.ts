import { usePortal } from "@relicario/shared/contract";
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";

import { secretKeys } from "./keys.ts";

/** Removes all plaintext of this remote from memory before the portal locks or signs out. */
export function useClearOnLock(): void {
  const { onLock, user } = usePortal();
  const client = useQueryClient();
  useEffect(
    () =>
      onLock(() => {
        client.removeQueries({ queryKey: secretKeys.all(user.userId) });
      }),
    [onLock, client, user.userId],
  );
}
