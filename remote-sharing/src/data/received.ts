import type { Vault } from "@relicario/shared/contract";
import { queryOptions } from "@tanstack/react-query";

/** Query keys, each with the account. */
export const receivedKeys = {
  all: (userId: string) => ["received", userId] as const,
  list: (userId: string, includeEnded: boolean) => ["received", userId, "list", includeEnded] as const,
  people: (userId: string) => ["received", userId, "people"] as const,
  ownWords: (userId: string) => ["received", userId, "mine"] as const,
};

/**
 * Names of people are plaintext of the sealed book: they leave the cache soon after the last screen
 * that shows them.
 */
const plaintextCacheMilliseconds = 60_000;
/**
 * So often the list is asked for again while it is on the screen: something may come at any time.
 */
const listPollMilliseconds = 60_000;

/** What others shared with this account, newest first. */
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

/** People whose keys are pinned, by name. */
export function peopleQuery(vault: Vault, userId: string) {
  return queryOptions({
    queryKey: receivedKeys.people(userId),
    queryFn: async () => (await vault.people.list()).toSorted((a, b) => a.userName.localeCompare(b.userName)),
    staleTime: 0,
    gcTime: plaintextCacheMilliseconds,
  });
}

/** The words of this account. */
export function ownWordsQuery(vault: Vault, userId: string) {
  return queryOptions({
    queryKey: receivedKeys.ownWords(userId),
    queryFn: () => vault.people.getOwnSafetyWords(),
    gcTime: plaintextCacheMilliseconds,
  });
}
