import { readMayPass, readRetries } from "@relicario/shared/api";
import { QueryClient } from "@tanstack/react-query";

/** How long data counts as fresh (specification, section 9), and is kept when no screen shows it. */
export const cacheNumbers = { staleMs: 5 * 60_000, keptMs: 10 * 60_000 } as const;

/** Plaintext may be in this cache: it lives in memory only and is cleared when the portal locks or signs out. */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: cacheNumbers.staleMs,
        gcTime: cacheNumbers.keptMs,
        refetchOnWindowFocus: false,
        refetchOnReconnect: false,
        networkMode: "always", // whether there is a network is for the call to find out, and to say
        retry: (failuresBefore, error) => failuresBefore < readRetries.times && readMayPass(error),
        retryDelay: (failuresBefore) => readRetries.firstPauseMs * readRetries.factor ** failuresBefore,
      },
      mutations: { retry: false, networkMode: "always" },
    },
  });
}

/**
 * The portal locked: nothing that was opened stays, neither what was read nor what was sent. What is on the screen is asked
 * for anew, and comes locked. Calls that are under way go on.
 */
export function forgetOpened(queryClient: QueryClient): void {
  queryClient.removeQueries({ type: "inactive" });
  const mutations = queryClient.getMutationCache();
  for (const mutation of mutations.getAll()) if (mutation.state.status !== "pending") mutations.remove(mutation);
  void queryClient.resetQueries();
}
