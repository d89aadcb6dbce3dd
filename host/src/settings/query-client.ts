import { isRetryableRead, readRetryPolicy } from "@relicario/shared/api";
import { QueryClient } from "@tanstack/react-query";

/**
 * How long data counts as fresh (specification, section 9), and is kept when no screen shows it.
 */
const cacheTimes = { staleMs: 5 * 60_000, gcMs: 10 * 60_000 } as const;

/**
 * Plaintext may be in this cache: it lives in memory only and is cleared when the portal locks or
 * signs out.
 */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: cacheTimes.staleMs,
        gcTime: cacheTimes.gcMs,
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
        networkMode: "always", // a call that fails says itself that there is no network
        retry: (failuresBefore, error) => failuresBefore < readRetryPolicy.retries && isRetryableRead(error),
        retryDelay: (failuresBefore) => readRetryPolicy.firstDelayMs * readRetryPolicy.factor ** failuresBefore,
      },
      mutations: { retry: false, networkMode: "always" },
    },
  });
}

/**
 * Drops all results of queries and mutations when the portal locks, since they may hold plaintext.
 * Queries that are on the screen are fetched again and show the locked state. Mutations that are
 * under way go on.
 */
export function clearOpenedData(queryClient: QueryClient): void {
  queryClient.removeQueries({ type: "inactive" });
  const mutations = queryClient.getMutationCache();
  for (const mutation of mutations.getAll()) if (mutation.state.status !== "pending") mutations.remove(mutation);
  void queryClient.resetQueries();
}
