import { usePortal, type Vault } from "@relicario/shared/contract";
import { queryOptions, useQueryClient } from "@tanstack/react-query";

/**
 * Query keys per account. Titles and names are plaintext: the host clears this cache on every lock.
 */
const sharingKeys = {
  all: (userId: string) => ["given", userId] as const,
  refresh: (userId: string) => ["given", userId, "refresh"] as const,
  title: (userId: string, secretId: string) => ["given", userId, "title", secretId] as const,
  shares: (userId: string, secretId: string, includeEnded: boolean) =>
    ["given", userId, "shares", secretId, includeEnded] as const,
  requests: (userId: string, includeEnded: boolean) => ["given", userId, "requests", includeEnded] as const,
};

const plaintextCacheMilliseconds = 60_000;
/** Refetch interval while the list of requests is shown, because answers may arrive at any time. */
const requestsPollMilliseconds = 60_000;

/**
 * Reads the account's keyring. The vault's state then changes from `unknown` to empty, locked or
 * unlocked.
 */
export function refreshQuery(vault: Vault, userId: string) {
  return queryOptions({ queryKey: sharingKeys.refresh(userId), queryFn: () => vault.refresh() });
}

/** Title of a secret. `missing`: the id is unknown or in the trash. */
export function titleQuery(vault: Vault, userId: string, secretId: string) {
  return queryOptions({
    queryKey: sharingKeys.title(userId, secretId),
    queryFn: async ({
      signal,
    }): Promise<{ readonly status: "found"; readonly title: string } | { readonly status: "missing" }> => {
      const row = (await vault.list({ signal })).find((candidate) => candidate.secretId === secretId);
      return row?.deletedAt === null ? { status: "found", title: row.label?.title ?? "" } : { status: "missing" };
    },
    gcTime: plaintextCacheMilliseconds,
  });
}

/** Shares of a secret, newest first. */
export function sharesQuery(vault: Vault, userId: string, secretId: string, includeEnded: boolean) {
  return queryOptions({
    queryKey: sharingKeys.shares(userId, secretId, includeEnded),
    queryFn: ({ signal }) => vault.shares.listForSecret(secretId, { signal, includeEnded }),
    staleTime: 0,
    gcTime: plaintextCacheMilliseconds,
  });
}

/** Requests of this account, newest first. */
export function requestsQuery(vault: Vault, userId: string, includeEnded: boolean) {
  return queryOptions({
    queryKey: sharingKeys.requests(userId, includeEnded),
    queryFn: ({ signal }) => vault.requests.list({ signal, includeEnded }),
    staleTime: 0,
    gcTime: plaintextCacheMilliseconds,
    refetchInterval: requestsPollMilliseconds,
  });
}

/** Returns a function that refetches all queries of this file, for use after a change. */
export function useRefetch(): () => Promise<void> {
  const { userId } = usePortal().user;
  const client = useQueryClient();
  return () => client.invalidateQueries({ queryKey: sharingKeys.all(userId) });
}
