import { usePortal, type SecretRow, type Vault, type VaultState } from "@relicario/shared/contract";
import { isPortalError } from "@relicario/shared/errors";
import { useVault, useVaultState, type VaultAccess } from "@relicario/shared/ui";
import { queryOptions, skipToken, useQuery, useQueryClient, type UseQueryResult } from "@tanstack/react-query";
import { useState } from "react";

import { useClearOnLock } from "./clear-on-lock.ts";
import { secretKeys } from "./keys.ts";
import { readLiveShares } from "./live-shares.ts";

/**
 * `gcTime` of queries with decrypted labels. It starts when the last screen that uses a query
 * closes.
 */
const plaintextCacheMilliseconds = 60_000;

/**
 * Reads the account's keyring. The vault's state then changes from `unknown` to empty, locked or
 * unlocked.
 */
export function refreshQuery(vault: Vault | null, userId: string) {
  return queryOptions({
    queryKey: secretKeys.refresh(userId),
    queryFn: vault === null ? skipToken : () => vault.refresh(),
    gcTime: plaintextCacheMilliseconds,
  });
}

/** Rows decrypted so far while `vault.list` runs. */
interface PartialRows {
  readonly rows: readonly SecretRow[];
  readonly opened: number;
  readonly total: number;
}

/**
 * All rows, including the trash, newest first. The key contains the vault's status, because locked
 * rows have no label. The first fetch publishes rows under `partialRows` as they arrive. A refetch
 * keeps the previous rows instead.
 */
export function rowsQuery(vault: Vault | null, userId: string, status: VaultState["status"]) {
  return queryOptions({
    queryKey: secretKeys.rows(userId, status),
    queryFn:
      vault === null || status === "unknown"
        ? skipToken
        : async ({ signal, client }): Promise<readonly SecretRow[]> => {
            if (status === "empty") return [];
            const openedRows: SecretRow[] = [];
            let rows: readonly SecretRow[] = [];
            const onRows = (
              batch: readonly SecretRow[],
              progress: { readonly opened: number; readonly total: number },
            ) => {
              if (signal.aborted) return; // locked meanwhile: keep plaintext out of the cache
              // the complete list follows at once, so it is not rendered twice
              if (progress.opened === progress.total) return;
              openedRows.push(...batch);
              // each update sorts and renders all rows, so it is published only when their number
              // has doubled
              if (openedRows.length >= 2 * rows.length) rows = [...openedRows];
              client.setQueryData<PartialRows>(secretKeys.partialRows(userId, status), { rows, ...progress });
            };
            try {
              const isFirstFetch = client.getQueryData(secretKeys.rows(userId, status)) === undefined;
              return sortNewestFirst(await vault.list({ signal, ...(isFirstFetch ? { onRows } : {}) }));
            } finally {
              client.removeQueries({ queryKey: secretKeys.partialRows(userId, status) });
            }
          },
    structuralSharing: (previous, next) =>
      reuseUnchangedRows(previous as readonly SecretRow[] | undefined, next as readonly SecretRow[]),
    gcTime: plaintextCacheMilliseconds,
  });
}

function partialRowsQuery(userId: string, status: VaultState["status"]) {
  return queryOptions<PartialRows>({
    queryKey: secretKeys.partialRows(userId, status),
    queryFn: skipToken,
    structuralSharing: false,
    gcTime: plaintextCacheMilliseconds,
  });
}

/**
 * Keeps the row objects that a refetch did not change, and the whole array if no row changed. Does
 * not compare all members of labels, because with 10,000 rows that would block the page.
 */
export function reuseUnchangedRows(
  previous: readonly SecretRow[] | undefined,
  next: readonly SecretRow[],
): readonly SecretRow[] {
  if (previous === undefined) return next;
  const previousById = new Map(previous.map((row) => [row.secretId, row]));
  const merged = next.map((row) => {
    const previousRow = previousById.get(row.secretId);
    return previousRow !== undefined && isSameRow(previousRow, row) ? previousRow : row;
  });
  return merged.length === previous.length && merged.every((row, index) => row === previous[index]) ? previous : merged;
}

function isSameRow(left: SecretRow, right: SecretRow): boolean {
  const keys = Object.keys(left) as (keyof SecretRow)[];
  if (!keys.every((name) => name === "label" || left[name] === right[name])) return false;
  // Labels with the same `rev` differ at most in `outdated` of kits, which also depends on the
  // account key.
  if (left.label === null || right.label === null) return left.label === right.label;
  const { kits } = right.label;
  return (
    left.label.kits.length === kits.length &&
    left.label.kits.every(({ outdated }, index) => outdated === kits[index]?.outdated)
  );
}

export function imagesQuery(vault: Vault | null, userId: string, status: VaultState["status"]) {
  return queryOptions({
    queryKey: secretKeys.images(userId, status),
    queryFn: vault === null || status !== "unlocked" ? skipToken : () => vault.listImages(),
    gcTime: plaintextCacheMilliseconds,
  });
}

/** Shares that can still be opened, for marks in lists. Empty while locked. */
export function liveSharesQuery(vault: Vault | null, userId: string, status: VaultState["status"]) {
  return queryOptions({
    queryKey: secretKeys.liveShares(userId, status),
    queryFn: async () => (vault === null || status !== "unlocked" ? [] : readLiveShares(vault)),
    staleTime: 0, // another remote changes them
    retry: false, // screens render without marks rather than wait
    gcTime: plaintextCacheMilliseconds,
  });
}

/** Versions of a secret, newest first. */
export function historyQuery(vault: Vault | null, userId: string, secretId: string) {
  return queryOptions({
    queryKey: secretKeys.history(userId, secretId),
    queryFn: vault === null ? skipToken : ({ signal }) => vault.listVersions(secretId, { signal }),
    staleTime: 0,
    retry: false,
  });
}

/**
 * Refetch intervals in milliseconds: while an upload runs, and while uploads wait, whose expiry is
 * shown.
 */
const uploadPollMilliseconds = { running: 1_000, waiting: 60_000 };

/** Unpublished uploads of this device. Refetched as long as there are any. */
export function uploadsQuery(vault: Vault | null, userId: string, status: VaultState["status"]) {
  return queryOptions({
    queryKey: secretKeys.uploads(userId, status),
    queryFn: vault === null || status === "unknown" ? skipToken : () => vault.listUploads(),
    staleTime: 0,
    gcTime: plaintextCacheMilliseconds,
    refetchInterval: ({ state: { data = [] } }) => {
      if (data.length === 0) return false;
      return data.some(({ state }) => state === "running")
        ? uploadPollMilliseconds.running
        : uploadPollMilliseconds.waiting;
    },
  });
}

export interface ReadFailure {
  readonly error: unknown;
  readonly vault: Vault | null;
  readonly retry: () => void;
}

export type SecretsState =
  | { readonly status: "loading" }
  | { readonly status: "failed"; readonly failure: ReadFailure }
  | {
      readonly status: "ready";
      /**
       * Failure of the connection or the service during a refetch. `rows` are then from the last
       * success.
       */
      readonly failure: ReadFailure | null;
      readonly vault: Vault;
      readonly vaultStatus: "empty" | "locked" | "unlocked";
      readonly rows: readonly SecretRow[];
      /** Progress of opening the rows; null once `rows` is complete. */
      readonly openingProgress: { readonly opened: number; readonly total: number } | null;
      /**
       * Whether uploads and share marks are loaded too, and `rows` include the changes of earlier
       * screens, so that no arrival moves the rows.
       */
      readonly layoutSettled: boolean;
    };

export function useSecrets(): SecretsState {
  const { user } = usePortal();
  const access = useVault();
  const state = useVaultState(access);
  const vault = getVault(access);
  const refresh = useQuery(refreshQuery(vault, user.userId));
  const rows = useQuery(rowsQuery(vault, user.userId, state.status));
  const partialRows = useQuery(partialRowsQuery(user.userId, state.status));
  // Fetched together with the rows, for the components below.
  const uploads = useQuery(uploadsQuery(vault, user.userId, state.status));
  const shares = useQuery(liveSharesQuery(vault, user.userId, state.status));
  useQuery(imagesQuery(vault, user.userId, state.status));
  useClearOnLock();
  const hasChangesToRead = useChangesToRead(user.userId, state.status, rows);

  if (access.status === "failed")
    return { status: "failed", failure: { error: access.error, vault: null, retry: access.retry } };
  const failedQuery = refresh.isError ? refresh : rows.isError ? rows : null;
  const failure =
    failedQuery === null ? null : { error: failedQuery.error, vault, retry: () => void failedQuery.refetch() };
  if (failure !== null && (rows.data === undefined || !isConnectionError(failure.error)))
    return { status: "failed", failure };
  if (vault === null || state.status === "unknown") return { status: "loading" };
  const layoutSettled = !hasChangesToRead && !isFirstFetchPending(uploads) && !isFirstFetchPending(shares);
  if (rows.data !== undefined)
    return {
      status: "ready",
      failure,
      vault,
      vaultStatus: state.status,
      rows: rows.data,
      openingProgress: null,
      layoutSettled,
    };
  if (partialRows.data === undefined || partialRows.data.rows.length === 0) return { status: "loading" };
  return {
    status: "ready",
    failure,
    vault,
    vaultStatus: state.status,
    rows: partialRows.data.rows,
    openingProgress: partialRows.data,
    layoutSettled,
  };
}

/**
 * Whether the screen opened with cached rows that a change has invalidated, such as an added
 * secret, and their refetch has not ended. False after its first failure.
 */
function useChangesToRead(
  userId: string,
  status: VaultState["status"],
  { data, isFetching, failureCount }: Pick<UseQueryResult, "data" | "isFetching" | "failureCount">,
): boolean {
  const client = useQueryClient();
  const [isWaiting, setIsWaiting] = useState(true);
  const isInvalidated = client.getQueryState(secretKeys.rows(userId, status))?.isInvalidated === true;
  const hasEnded = data !== undefined && !(isInvalidated && isFetching && failureCount === 0);
  if (isWaiting && hasEnded) setIsWaiting(false); // later changes are refetched under the shown rows
  return isWaiting && !hasEnded && data !== undefined;
}

/**
 * Whether the first fetch is still running. False after its first failure, so that the screen does
 * not wait for retries.
 */
export function isFirstFetchPending({
  isFetched,
  isFetching,
  failureCount,
}: Pick<UseQueryResult, "isFetched" | "isFetching" | "failureCount">): boolean {
  return isFetching && !isFetched && failureCount === 0;
}

/**
 * Whether the connection or the service failed. The rows that were already read stay valid then,
 * unlike after `older_state` or a failed decryption.
 */
function isConnectionError(error: unknown): boolean {
  return isPortalError(error, "offline", "service_unavailable", "timed_out", "too_many_requests", "internal_error");
}

/** Null while the vault is loading or has failed to load. */
export function getVault(access: VaultAccess): Vault | null {
  return access.status === "ready" ? access.vault : null;
}

/** Tags in use, most used first. */
export function collectTags(rows: readonly SecretRow[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { label } of rows) for (const tag of label?.tags ?? []) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  return [...counts].toSorted(([a, left], [b, right]) => right - left || (a < b ? -1 : 1)).map(([tag]) => tag);
}

function sortNewestFirst(rows: readonly SecretRow[]): readonly SecretRow[] {
  return rows.toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : a.updatedAt > b.updatedAt ? -1 : 0));
}
