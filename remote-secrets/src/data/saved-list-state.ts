import { usePortal } from "@relicario/shared/contract";
import { queryOptions, skipToken, useQuery, useQueryClient } from "@tanstack/react-query";

import { secretKeys } from "./keys.ts";

/** What the list restores when somebody comes back to it. */
export interface SavedListState {
  /** Tags that the list is filtered by. */
  readonly categories: readonly string[];
  /** Id of the row that was opened last: the list scrolls to it. */
  readonly selectedSecret: string | null;
}

const emptyState: SavedListState = Object.freeze({ categories: [], selectedSecret: null });

/** Kept until lock, sign-out or the end of the page, however long the list is not visited. */
const gcTime = Infinity;

/**
 * Client state in the query cache: tags are plaintext, and the host clears that cache whenever the
 * vault locks, on any screen.
 */
function savedListStateQuery(userId: string) {
  return queryOptions<SavedListState>({ queryKey: secretKeys.savedListState(userId), queryFn: skipToken, gcTime });
}

export function useSavedListState(): SavedListState {
  return useQuery(savedListStateQuery(usePortal().user.userId)).data ?? emptyState;
}

export function useUpdateSavedListState(): (change: Partial<SavedListState>) => void {
  const { userId } = usePortal().user;
  const client = useQueryClient();
  return (change) => {
    const { queryKey } = savedListStateQuery(userId);
    client.setQueryDefaults(queryKey, { gcTime }); // when a row on the first screen writes, no observer has set it yet
    client.setQueryData(queryKey, (previous = emptyState) => ({ ...previous, ...change }));
  };
}
