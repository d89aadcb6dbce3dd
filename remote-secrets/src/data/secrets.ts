import { usePortal, type SecretRow, type Vault, type VaultState } from "@relicario/shared/contract";
import { useVault, useVaultState, type VaultAccess } from "@relicario/shared/ui";
import { queryOptions, skipToken, useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";

/** Keys of everything that is known of the secrets of one account. Rows hold titles: they live in memory alone. */
export const secretKeys = {
  all: (userId: string) => ["secrets", userId] as const,
  standing: (userId: string) => ["secrets", userId, "standing"] as const,
  rows: (userId: string, status: VaultState["status"]) => ["secrets", userId, "rows", status] as const,
  images: (userId: string, status: VaultState["status"]) => ["secrets", userId, "images", status] as const,
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

/** All rows, trash included, newest first. What was read while locked is not what is read unlocked. */
export function rowsQuery(vault: Vault | null, userId: string, status: VaultState["status"]) {
  return queryOptions({
    queryKey: secretKeys.rows(userId, status),
    queryFn:
      vault === null || status === "unknown"
        ? skipToken
        : async ({ signal }): Promise<readonly SecretRow[]> => (status === "empty" ? [] : newestFirst(await vault.list({ signal }))),
    gcTime: plaintextMilliseconds,
  });
}

/** The recovery images in use, by name. */
export function imagesQuery(vault: Vault | null, userId: string, status: VaultState["status"]) {
  return queryOptions({
    queryKey: secretKeys.images(userId, status),
    queryFn: vault === null || status !== "unlocked" ? skipToken : () => vault.images(),
    gcTime: plaintextMilliseconds,
  });
}

/** What a screen needs of the secrets: one state instead of three queries. */
export type Secrets =
  | { readonly status: "loading" }
  | { readonly status: "failed"; readonly error: unknown; readonly vault: Vault | null; readonly retry: () => void }
  | { readonly status: "ready"; readonly vault: Vault; readonly standing: "empty" | "locked" | "unlocked"; readonly rows: readonly SecretRow[] };

export function useSecrets(): Secrets {
  const { user } = usePortal();
  const access = useVault();
  const state = useVaultState(access);
  const vault = vaultOf(access);
  const standing = useQuery(standingQuery(vault, user.userId));
  const rows = useQuery(rowsQuery(vault, user.userId, state.status));
  useForgetOnLock();

  if (access.status === "failed") return { status: "failed", error: access.error, vault: null, retry: access.retry };
  const failed = standing.isError ? standing : rows.isError ? rows : null;
  if (failed !== null) return { status: "failed", error: failed.error, vault, retry: () => void failed.refetch() };
  if (vault === null || state.status === "unknown" || rows.data === undefined) return { status: "loading" };
  return { status: "ready", vault, standing: state.status, rows: rows.data };
}

/** Drops every title from memory before the portal locks. */
export function useForgetOnLock(): void {
  const { onLock, user } = usePortal();
  const client = useQueryClient();
  useEffect(
    () =>
      onLock(() => {
        client.removeQueries({ queryKey: secretKeys.all(user.userId) });
      }),
    [onLock, client, user.userId],
  );
}

export function vaultOf(access: VaultAccess): Vault | null {
  return access.status === "ready" ? access.vault : null;
}

function newestFirst(rows: readonly SecretRow[]): readonly SecretRow[] {
  return rows.toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : a.updatedAt > b.updatedAt ? -1 : 0));
}
