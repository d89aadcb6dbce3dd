import { usePortal } from "@relicario/shared/contract";
import { queryOptions, skipToken, useQuery, useQueryClient } from "@tanstack/react-query";

import { secretKeys } from "./keys.ts";

export interface SavedListState {
  readonly categories: readonly string[];
  /** Id of the row that was opened last, to which the list scrolls. */
  readonly selectedSecret: string | null;
}

const emptyState: SavedListState = Object.freeze({ categories: [], selectedSecret: null });

/** The state stays until a lock, a sign-out or a reload. */
const gcTime = Infinity;

/**
 * State of the list. It is in the query cache because tags are plaintext, and the host clears that
 * cache at every lock.
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
    client.setQueryDefaults(queryKey, { gcTime }); // a row may write before an observer has set the state
    client.setQueryData(queryKey, (previous = emptyState) => ({ ...previous, ...change }));
  };
}
