import type { Vault } from "@relicario/shared/contract";
import { queryOptions } from "@tanstack/react-query";

/** Query keys per account. */
export const receivedKeys = {
  all: (userId: string) => ["received", userId] as const,
  list: (userId: string, includeEnded: boolean) => ["received", userId, "list", includeEnded] as const,
  people: (userId: string) => ["received", userId, "people"] as const,
  ownWords: (userId: string) => ["received", userId, "mine"] as const,
};

/**
 * How long names of people stay in the cache after the last screen that shows them closed. They are
 * plaintext from the sealed book.
 */
const plaintextCacheMilliseconds = 60_000;
/** Refetch interval while the list is shown, because shares may arrive at any time. */
const listPollMilliseconds = 60_000;

/** Shares for this account, newest first. */
export function receivedQuery(vault: Vault, userId: string, includeEnded: boolean) {
  return queryOptions({
    queryKey: receivedKeys.list(userId, includeEnded),
    queryFn: async ({ signal }) =>
      (await vault.received.list({ signal, includeEnded })).toSorted((a, b) => b.createdAt.localeCompare(a.createdAt)),
    staleTime: 0,
    gcTime: plaintextCacheMilliseconds,
    refetchInterval: listPollMilliseconds,
  });
}

/** People with pinned keys, sorted by name. */
export function peopleQuery(vault: Vault, userId: string) {
  return queryOptions({
    queryKey: receivedKeys.people(userId),
    queryFn: async () => (await vault.people.list()).toSorted((a, b) => a.userName.localeCompare(b.userName)),
    staleTime: 0,
    gcTime: plaintextCacheMilliseconds,
  });
}

export function ownWordsQuery(vault: Vault, userId: string) {
  return queryOptions({
    queryKey: receivedKeys.ownWords(userId),
    queryFn: () => vault.people.getOwnSafetyWords(),
    gcTime: plaintextCacheMilliseconds,
  });
}
