import type { ShareSummary, Vault } from "@relicario/shared/contract";

/**
 * Shares that can still be opened, by the account's own sealed document: the service is not asked.
 * Empty while locked.
 */
export async function readLiveShares(vault: Vault): Promise<readonly ShareSummary[]> {
  return (await vault.shares.list()).filter(
    ({ revokedAt, expiresAt }) => revokedAt === null && Date.parse(expiresAt) > Date.now(),
  );
}

/**
 * How many shares an act on these secrets would end. An act that cannot be told so fails by itself:
 * 0 then, and the question before it says nothing of shares.
 */
export async function countLiveShares(vault: Vault, predicate: (share: ShareSummary) => boolean): Promise<number> {
  try {
    return (await readLiveShares(vault)).filter(predicate).length;
  } catch {
    return 0;
  }
}
