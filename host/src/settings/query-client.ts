import { isPortalError } from "@relicario/shared/errors";
import { QueryClient } from "@tanstack/react-query";

/** How long data counts as fresh (specification, section 9), and how often a query is tried again. */
export const cacheNumbers = { staleMs: 5 * 60_000, keptMs: 10 * 60_000, retries: 3 } as const;

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
        retry: (failures, error) => failures < cacheNumbers.retries && isPortalError(error, "service_unavailable", "internal_error"),
      },
      mutations: { retry: false, networkMode: "always" },
    },
  });
}
