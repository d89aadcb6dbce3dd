import { usePortal, type SecretRow, type Vault } from "@relicario/shared/contract";
import { useMutation, useQueryClient, type QueryClient } from "@tanstack/react-query";

import { secretKeys } from "./secrets.ts";

interface FavoriteChange {
  readonly secretId: string;
  readonly favorite: boolean;
}

/** Stars a secret at once, and takes the star back when the service refuses. */
export function useSetFavorite(vault: Vault) {
  const { user } = usePortal();
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ secretId, favorite }: FavoriteChange) => vault.setFavorite(secretId, favorite),
    onMutate: ({ secretId, favorite }) => {
      changeRow(client, user.userId, secretId, (row) => ({ ...row, favorite }));
    },
    onError: (_error, { secretId, favorite }) => {
      changeRow(client, user.userId, secretId, (row) => ({ ...row, favorite: !favorite }));
    },
  });
}

export function useTrash(vault: Vault) {
  const { user } = usePortal();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (secretId: string) => vault.trash(secretId),
    onSettled: () => client.invalidateQueries({ queryKey: secretKeys.all(user.userId) }),
  });
}

export function useRestore(vault: Vault) {
  const { user } = usePortal();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (secretId: string) => vault.restore(secretId),
    onSettled: () => client.invalidateQueries({ queryKey: secretKeys.all(user.userId) }),
  });
}

function changeRow(client: QueryClient, userId: string, secretId: string, change: (row: SecretRow) => SecretRow): void {
  client.setQueriesData<readonly SecretRow[]>({ queryKey: [...secretKeys.all(userId), "rows"] }, (rows) =>
    rows?.map((row) => (row.secretId === secretId ? change(row) : row)),
  );
}
