import { isRetryableRead, readRetryPolicy } from "@relicario/shared/api";
import { QueryClient } from "@tanstack/react-query";

/**
 * How long data stays fresh (specification, section 9), and how long the cache keeps data that no
 * screen shows.
 */
const cacheTimes = { staleMs: 5 * 60_000, gcMs: 10 * 60_000 } as const;

/**
 * Creates the query cache. It may contain plaintext, so it is only in memory, and is cleared when
 * the portal locks or signs out.
 */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: cacheTimes.staleMs,
        gcTime: cacheTimes.gcMs,
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
        networkMode: "always", // a failing call reports a missing network itself
        retry: (failuresBefore, error) => failuresBefore < readRetryPolicy.retries && isRetryableRead(error),
        retryDelay: (failuresBefore) => readRetryPolicy.firstDelayMs * readRetryPolicy.factor ** failuresBefore,
      },
      mutations: { retry: false, networkMode: "always" },
    },
  });
}

/**
 * Removes all results of queries and mutations at a lock, because they may contain plaintext.
 * Queries on the screen are refetched and show the locked state. Pending mutations continue.
 */
export function clearOpenedData(queryClient: QueryClient): void {
  queryClient.removeQueries({ type: "inactive" });
  const mutations = queryClient.getMutationCache();
  for (const mutation of mutations.getAll()) if (mutation.state.status !== "pending") mutations.remove(mutation);
  void queryClient.resetQueries();
}
