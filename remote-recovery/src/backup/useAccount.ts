import { usePortal, type RecoveryImage, type VaultState } from "@relicario/shared/contract";
import type { VaultAccess } from "@relicario/shared/ui";
import { skipToken, useQuery } from "@tanstack/react-query";

export type AccountState =
  | { readonly status: "loading" }
  | { readonly status: "failed"; readonly error: unknown; readonly retry: () => void }
  /** `isEmpty`: it never held a secret. `images` are those in use; empty while locked. */
  | { readonly status: "ready"; readonly isEmpty: boolean; readonly images: readonly RecoveryImage[] };

/**
 * Reads the account. The key contains the vault's status because images have names only while it is
 * unlocked.
 */
export function useAccount(access: VaultAccess, status: VaultState["status"]): AccountState {
  const { user } = usePortal();
  const vault = access.status === "ready" ? access.vault : null;
  const accountQuery = useQuery({
    queryKey: ["recovery", user.userId, "account", status],
    queryFn:
      vault === null
        ? skipToken
        : async () => {
            const state = await vault.refresh();
            return {
              isEmpty: state.status === "empty",
              images: state.status === "unlocked" ? await vault.listImages() : [],
            };
          },
    staleTime: 0,
    gcTime: 0, // names of images are plaintext
  });
  if (accountQuery.isError)
    return { status: "failed", error: accountQuery.error, retry: () => void accountQuery.refetch() };
  return accountQuery.data === undefined ? { status: "loading" } : { status: "ready", ...accountQuery.data };
}
