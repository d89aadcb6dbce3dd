import { usePortal, type SecretRow, type Vault } from "@relicario/shared/contract";
import { useMutation, useQueryClient, type QueryClient } from "@tanstack/react-query";

import { secretKeys } from "./keys.ts";

interface FavoriteChange {
  readonly secretIds: readonly string[];
  readonly favorite: boolean;
}

/**
 * Sets favourites, in the cache first. After an error, resets the failed row and the rows after it.
 */
export function useSetFavorite(vault: Vault) {
  const { user } = usePortal();
  const client = useQueryClient();
  return useMutation({
    mutationFn: async ({ secretIds, favorite }: FavoriteChange) => {
      for (const secretId of secretIds) {
        try {
          await vault.setFavorite(secretId, favorite);
        } catch (error) {
          const remainingIds = secretIds.slice(secretIds.indexOf(secretId));
          updateCachedRows(client, user.userId, remainingIds, (row) => ({ ...row, favorite: !favorite }));
          throw error;
        }
      }
    },
    onMutate: ({ secretIds, favorite }) => {
      updateCachedRows(client, user.userId, secretIds, (row) => ({ ...row, favorite }));
    },
  });
}

/** Trash and restore call the vault once per secret, one after another. */
export function useTrash(vault: Vault) {
  return useRowsMutation(async (secretIds) => {
    for (const secretId of secretIds) await vault.trash(secretId);
  });
}

export function useRestore(vault: Vault) {
  return useRowsMutation(async (secretIds) => {
    for (const secretId of secretIds) await vault.restore(secretId);
  });
}

function useRowsMutation(mutateRows: (secretIds: readonly string[]) => Promise<void>) {
  const { user } = usePortal();
  const client = useQueryClient();
  return useMutation({
    mutationFn: mutateRows,
    onSettled: () => client.invalidateQueries({ queryKey: secretKeys.all(user.userId) }),
  });
}

function updateCachedRows(
  client: QueryClient,
  userId: string,
  secretIds: readonly string[],
  updateRow: (row: SecretRow) => SecretRow,
): void {
  const affectedIds = new Set(secretIds);
  client.setQueriesData<readonly SecretRow[]>({ queryKey: [...secretKeys.all(userId), "rows"] }, (rows) =>
    rows?.map((row) => (affectedIds.has(row.secretId) ? updateRow(row) : row)),
  );
}
