import { usePortal, type RecoveryImage, type VaultState } from "@relicario/shared/contract";
import type { VaultAccess } from "@relicario/shared/ui";
import { skipToken, useQuery } from "@tanstack/react-query";

/** What the flow needs to know of the account. */
export type Account =
  | { readonly status: "loading" }
  | { readonly status: "failed"; readonly error: unknown; readonly retry: () => void }
  /** `first`: nothing was ever kept in it. Images are those in use; none while locked. */
  | { readonly status: "ready"; readonly first: boolean; readonly images: readonly RecoveryImage[] };

/**
 * Reads the account. The vault's status is part of the key: images have names only while it is
 * unlocked.
 */
export function useAccount(access: VaultAccess, status: VaultState["status"]): Account {
  const { user } = usePortal();
  const vault = access.status === "ready" ? access.vault : null;
  const read = useQuery({
    queryKey: ["recovery", user.userId, "account", status],
    queryFn:
      vault === null
        ? skipToken
        : async () => {
            const state = await vault.refresh();
            return { first: state.status === "empty", images: state.status === "unlocked" ? await vault.images() : [] };
          },
    staleTime: 0,
    gcTime: 0, // names of images are plaintext
  });
  if (read.isError) return { status: "failed", error: read.error, retry: () => void read.refetch() };
  return read.data === undefined ? { status: "loading" } : { status: "ready", ...read.data };
}
