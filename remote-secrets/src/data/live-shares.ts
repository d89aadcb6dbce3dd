import type { ShareSummary, Vault } from "@relicario/shared/contract";

/**
 * Returns the shares that can still be opened, from the account's sealed state. Makes no call to
 * the service. Empty while locked.
 */
export async function readLiveShares(vault: Vault): Promise<readonly ShareSummary[]> {
  return (await vault.shares.list()).filter(
    ({ revokedAt, expiresAt }) => revokedAt === null && Date.parse(expiresAt) > Date.now(),
  );
}

/**
 * Counts the live shares that an operation would end. Returns 0 if the list cannot be read, because
 * the operation then fails with the same error.
 */
export async function countLiveShares(vault: Vault, predicate: (share: ShareSummary) => boolean): Promise<number> {
  try {
    return (await readLiveShares(vault)).filter(predicate).length;
  } catch {
    return 0;
  }
}
