import { usePortal, type SecretRow, type Vault, type VaultState } from "@relicario/shared/contract";
import { isPortalError } from "@relicario/shared/errors";
import { useVault, useVaultState, type VaultAccess } from "@relicario/shared/ui";
import { queryOptions, skipToken, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";

import { clearListMemory } from "./list-memory.ts";

/** Keys of everything that is known of the secrets of one account. Rows hold titles: they live in memory alone. */
export const secretKeys = {
  all: (userId: string) => ["secrets", userId] as const,
  standing: (userId: string) => ["secrets", userId, "standing"] as const,
  rows: (userId: string, status: VaultState["status"]) => ["secrets", userId, "rows", status] as const,
  opening: (userId: string, status: VaultState["status"]) => ["secrets", userId, "opening", status] as const,
  images: (userId: string, status: VaultState["status"]) => ["secrets", userId, "images", status] as const,
  history: (userId: string, secretId: string) => ["secrets", userId, "history", secretId] as const,
  uploads: (userId: string, status: VaultState["status"]) => ["secrets", userId, "uploads", status] as const,
};

/** Decrypted titles are dropped this soon after the last screen that shows them. */
const plaintextMilliseconds = 60_000;

/** How the account stands: nothing kept yet, locked or unlocked. */
export function standingQuery(vault: Vault | null, userId: string) {
  return queryOptions({
    queryKey: secretKeys.standing(userId),
    queryFn: vault === null ? skipToken : () => vault.refresh(),
    gcTime: plaintextMilliseconds,
  });
}

/** Rows that are there while the rest is still opening. */
interface OpeningRows {
  readonly rows: readonly SecretRow[];
  readonly opened: number;
  readonly total: number;
}

/**
 * All rows, trash included, newest first. What was read while locked is not what is read unlocked. The first time, what is
 * opened so far stands under the key `opening`; later the rows of before stay until the new ones are whole.
 */
export function rowsQuery(vault: Vault | null, userId: string, status: VaultState["status"]) {
  return queryOptions({
    queryKey: secretKeys.rows(userId, status),
    queryFn:
      vault === null || status === "unknown"
        ? skipToken
        : async ({ signal, client }): Promise<readonly SecretRow[]> => {
            if (status === "empty") return [];
            let rows: readonly SecretRow[] = [];
            const onRows = (batch: readonly SecretRow[], progress: { readonly opened: number; readonly total: number }) => {
              if (signal.aborted) return; // locked meanwhile: nothing plain may be put back
              rows = [...rows, ...batch];
              client.setQueryData<OpeningRows>(secretKeys.opening(userId, status), { rows, ...progress });
            };
            try {
              const first = client.getQueryData(secretKeys.rows(userId, status)) === undefined;
              return newestFirst(await vault.list({ signal, ...(first ? { onRows } : {}) }));
            } finally {
              client.removeQueries({ queryKey: secretKeys.opening(userId, status) });
            }
          },
    gcTime: plaintextMilliseconds,
  });
}

function openingQuery(userId: string, status: VaultState["status"]) {
  return queryOptions<OpeningRows>({ queryKey: secretKeys.opening(userId, status), queryFn: skipToken, gcTime: plaintextMilliseconds });
}

/** The recovery images in use, by name. */
export function imagesQuery(vault: Vault | null, userId: string, status: VaultState["status"]) {
  return queryOptions({
    queryKey: secretKeys.images(userId, status),
    queryFn: vault === null || status !== "unlocked" ? skipToken : () => vault.images(),
    gcTime: plaintextMilliseconds,
  });
}

/** How often the state of a running upload is asked for. */
const lookAgainMilliseconds = 1_000;

/** Uploads of this device that are not published. While one runs they are looked at again and again. */
export function uploadsQuery(vault: Vault | null, userId: string, status: VaultState["status"]) {
  return queryOptions({
    queryKey: secretKeys.uploads(userId, status),
    queryFn: vault === null || status === "unknown" ? skipToken : () => vault.uploads(),
    staleTime: 0,
    gcTime: plaintextMilliseconds,
    refetchInterval: ({ state }) => (state.data?.some((upload) => upload.state === "running") === true ? lookAgainMilliseconds : false),
  });
}

/** Why the secrets could not be read. */
export interface ReadFailure {
  readonly error: unknown;
  readonly vault: Vault | null;
  readonly retry: () => void;
}

/** What a screen needs of the secrets: one state instead of three queries. */
export type Secrets =
  | { readonly status: "loading" }
  | { readonly status: "failed"; readonly trouble: ReadFailure }
  | {
      readonly status: "ready";
      /** Connection or service failed when they were read again; what was read before is shown. */
      readonly trouble: ReadFailure | null;
      readonly vault: Vault;
      readonly standing: "empty" | "locked" | "unlocked";
      readonly rows: readonly SecretRow[];
      /** How far the opening is while `rows` are not all yet; null once they are. */
      readonly opening: { readonly opened: number; readonly total: number } | null;
    };

export function useSecrets(): Secrets {
  const { user } = usePortal();
  const access = useVault();
  const state = useVaultState(access);
  const vault = vaultOf(access);
  const standing = useQuery(standingQuery(vault, user.userId));
  const rows = useQuery(rowsQuery(vault, user.userId, state.status));
  const opening = useQuery(openingQuery(user.userId, state.status));
  // Asked for with the rows, so that what the screens show beside them comes with them.
  useQuery(uploadsQuery(vault, user.userId, state.status));
  useQuery(imagesQuery(vault, user.userId, state.status));
  useClearOnLock();

  if (access.status === "failed") return { status: "failed", trouble: { error: access.error, vault: null, retry: access.retry } };
  const failed = standing.isError ? standing : rows.isError ? rows : null;
  const trouble = failed === null ? null : { error: failed.error, vault, retry: () => void failed.refetch() };
  if (trouble !== null && (rows.data === undefined || !isOfConnection(trouble.error))) return { status: "failed", trouble };
  if (vault === null || state.status === "unknown") return { status: "loading" };
  if (rows.data !== undefined) return { status: "ready", trouble, vault, standing: state.status, rows: rows.data, opening: null };
  if (opening.data === undefined || opening.data.rows.length === 0) return { status: "loading" };
  return { status: "ready", trouble, vault, standing: state.status, rows: opening.data.rows, opening: opening.data };
}

/** Says nothing about the secrets themselves, unlike an older state or what does not open. */
function isOfConnection(error: unknown): boolean {
  return isPortalError(error, "offline", "service_unavailable", "timed_out", "too_many_requests", "internal_error");
}

/** Removes all plaintext of this remote from memory before the portal locks or signs out. */
export function useClearOnLock(): void {
  const { onLock, user } = usePortal();
  const client = useQueryClient();
  useEffect(
    () =>
      onLock(() => {
        clearListMemory();
        client.removeQueries({ queryKey: secretKeys.all(user.userId) });
      }),
    [onLock, client, user.userId],
  );
}

export function vaultOf(access: VaultAccess): Vault | null {
  return access.status === "ready" ? access.vault : null;
}

/** Tags in use, the most used first. */
export function tagsOf(rows: readonly SecretRow[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { label } of rows) for (const tag of label?.tags ?? []) counts.set(tag, (counts.get(tag) ?? 0) + 1);
  return [...counts].toSorted(([a, one], [b, other]) => other - one || (a < b ? -1 : 1)).map(([tag]) => tag);
}

function newestFirst(rows: readonly SecretRow[]): readonly SecretRow[] {
  return rows.toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : a.updatedAt > b.updatedAt ? -1 : 0));
}
