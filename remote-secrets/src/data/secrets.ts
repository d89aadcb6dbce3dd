import { usePortal, type SecretRow, type Vault, type VaultState } from "@relicario/shared/contract";
import { isPortalError } from "@relicario/shared/errors";
import { useVault, useVaultState, type VaultAccess } from "@relicario/shared/ui";
import { queryOptions, skipToken, useQuery, type UseQueryResult } from "@tanstack/react-query";

import { useClearOnLock } from "./clear-on-lock.ts";
import { secretKeys } from "./keys.ts";
import { readLiveShares } from "./live-shares.ts";

/**
 * `gcTime` of queries with decrypted labels: they are dropped this long after the last screen that
 * uses them.
 */
const plaintextCacheMilliseconds = 60_000;

/**
 * Reads the account's keyring. Afterwards the vault knows whether the account is empty, locked or
 * unlocked.
 */
export function refreshQuery(vault: Vault | null, userId: string) {
  return queryOptions({
    queryKey: secretKeys.refresh(userId),
    queryFn: vault === null ? skipToken : () => vault.refresh(),
    gcTime: plaintextCacheMilliseconds,
  });
}

/** Rows decrypted so far, while `vault.list` is still running. */
interface PartialRows {
  readonly rows: readonly SecretRow[];
  readonly opened: number;
  readonly total: number;
}

/**
 * All rows including the trash, newest first. The vault's status is part of the key, because locked
 * rows have no label. The first fetch publishes its rows under `partialRows` while more are to
 * come; a refetch does not, so the previous rows stay.
 */
export function rowsQuery(vault: Vault | null, userId: string, status: VaultState["status"]) {
  return queryOptions({
    queryKey: secretKeys.rows(userId, status),
    queryFn:
      vault === null || status === "unknown"
        ? skipToken
        : async ({ signal, client }): Promise<readonly SecretRow[]> => {
            if (status === "empty") return [];
            const opened: SecretRow[] = [];
            let rows: readonly SecretRow[] = [];
            const onRows = (
              batch: readonly SecretRow[],
              progress: { readonly opened: number; readonly total: number },
            ) => {
              if (signal.aborted) return; // locked meanwhile: plaintext must not be put back into the cache
              // all of them: the answer follows, and nothing is drawn twice
              if (progress.opened === progress.total) return;
              opened.push(...batch);
              // each time all are sorted and drawn anew: as seldom as keeps that work in proportion
              // to their number
              if (opened.length >= 2 * rows.length) rows = [...opened];
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
 * The rows after a refetch, with the objects of before where nothing changed, and their list itself
 * where nothing did. A row is as it was when what the service counts and what the account signed of
 * it is: comparing every member of 10,000 rows blocks the page.
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
  // One revision has one label; only whether a kit is outdated also depends on the account's key.
  if (left.label === null || right.label === null) return left.label === right.label;
  const { kits } = right.label;
  return (
    left.label.kits.length === kits.length &&
    left.label.kits.every(({ outdated }, index) => outdated === kits[index]?.outdated)
  );
}

/** Names and ids of the recovery images in use. */
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
    staleTime: 0, // another area changes them
    retry: false, // what waits for them goes on without
    gcTime: plaintextCacheMilliseconds,
  });
}

/** The versions of one secret, newest first. */
export function historyQuery(vault: Vault | null, userId: string, secretId: string) {
  return queryOptions({
    queryKey: secretKeys.history(userId, secretId),
    queryFn: vault === null ? skipToken : ({ signal }) => vault.listVersions(secretId, { signal }),
    staleTime: 0,
    retry: false,
  });
}

/** Intervals of refetching while an upload runs, and while one waits, whose end comes nearer. */
const uploadPollMilliseconds = { running: 1_000, waiting: 60_000 };

/** Unpublished uploads of this device; polled while there are any. */
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

/** Why the secrets could not be read, and what the screen needs to offer a retry. */
export interface ReadFailure {
  readonly error: unknown;
  readonly vault: Vault | null;
  readonly retry: () => void;
}

/** State of the secrets for a screen, combined from the vault and its queries. */
export type SecretsState =
  | { readonly status: "loading" }
  | { readonly status: "failed"; readonly failure: ReadFailure }
  | {
      readonly status: "ready";
      /**
       * A refetch failed because of the connection or the service; `rows` are those of the last
       * success.
       */
      readonly failure: ReadFailure | null;
      readonly vault: Vault;
      readonly vaultStatus: "empty" | "locked" | "unlocked";
      readonly rows: readonly SecretRow[];
      /** Progress while `rows` are incomplete; null once they are complete. */
      readonly openingProgress: { readonly opened: number; readonly total: number } | null;
      /**
       * Whether uploads, which stand above the rows, and the marks of shares in them are known too,
       * so that neither moves a row.
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
  // Prefetched with the rows, for the components of the screens that use them.
  const uploads = useQuery(uploadsQuery(vault, user.userId, state.status));
  const shares = useQuery(liveSharesQuery(vault, user.userId, state.status));
  useQuery(imagesQuery(vault, user.userId, state.status));
  useClearOnLock();

  if (access.status === "failed")
    return { status: "failed", failure: { error: access.error, vault: null, retry: access.retry } };
  const failedQuery = refresh.isError ? refresh : rows.isError ? rows : null;
  const failure =
    failedQuery === null ? null : { error: failedQuery.error, vault, retry: () => void failedQuery.refetch() };
  if (failure !== null && (rows.data === undefined || !isConnectionError(failure.error)))
    return { status: "failed", failure };
  if (vault === null || state.status === "unknown") return { status: "loading" };
  const layoutSettled = !isFirstFetchPending(uploads) && !isFirstFetchPending(shares);
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
 * Whether a first answer is still to come, for what stands below it. A failure ends that for good:
 * nothing waits for further tries.
 */
export function isFirstFetchPending({
  isFetched,
  isFetching,
  failureCount,
}: Pick<UseQueryResult, "isFetched" | "isFetching" | "failureCount">): boolean {
  return isFetching && !isFetched && failureCount === 0;
}

/**
 * A failure of transport or service: unlike `older_state` or a failed decryption it casts no doubt
 * on the rows already read.
 */
function isConnectionError(error: unknown): boolean {
  return isPortalError(error, "offline", "service_unavailable", "timed_out", "too_many_requests", "internal_error");
}

/** Null until the vault is loaded, and when loading failed. */
export function getVault(access: VaultAccess): Vault | null {
  return access.status === "ready" ? access.vault : null;
}

/** Tags in use, the most used first. */
export function collectTags(rows: readonly SecretRow[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { label } of rows) for (const tag of label?.tags ?? []) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  return [...counts].toSorted(([a, left], [b, right]) => right - left || (a < b ? -1 : 1)).map(([tag]) => tag);
}

function sortNewestFirst(rows: readonly SecretRow[]): readonly SecretRow[] {
  return rows.toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : a.updatedAt > b.updatedAt ? -1 : 0));
}
