import { usePortal } from "@relicario/shared/contract";
import { queryOptions, skipToken, useQuery, useQueryClient } from "@tanstack/react-query";

import { secretKeys } from "./keys.ts";

/** What the list restores when somebody comes back to it. */
export interface ListMemory {
  /** Tags that the list is filtered by. */
  readonly categories: readonly string[];
  /** Id of the row that was opened last: the list scrolls to it. */
  readonly selectedSecret: string | null;
}

const nothing: ListMemory = Object.freeze({ categories: [], selectedSecret: null });

/** Kept until lock, sign-out or the end of the page, however long the list is not visited. */
const gcTime = Infinity;

/**
 * Client state in the query cache: tags are plaintext, and the host clears that cache whenever the
 * vault locks, on any screen.
 */
function listMemoryQuery(userId: string) {
  return queryOptions<ListMemory>({ queryKey: secretKeys.listMemory(userId), queryFn: skipToken, gcTime });
}

export function useListMemory(): ListMemory {
  return useQuery(listMemoryQuery(usePortal().user.userId)).data ?? nothing;
}

export function useChangeListMemory(): (change: Partial<ListMemory>) => void {
  const { userId } = usePortal().user;
  const client = useQueryClient();
  return (change) => {
    const { queryKey } = listMemoryQuery(userId);
    client.setQueryDefaults(queryKey, { gcTime }); // when a row on the first screen writes, no observer has set it yet
    client.setQueryData(queryKey, (before = nothing) => ({ ...before, ...change }));
  };
}
