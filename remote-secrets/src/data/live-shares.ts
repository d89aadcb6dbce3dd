import type { ShareMark, Vault } from "@relicario/shared/contract";

/**
 * Shares that can still be opened, by the account's own sealed document: the service is not asked.
 * Empty while locked.
 */
export async function readLiveShares(vault: Vault): Promise<readonly ShareMark[]> {
  return (await vault.shares.all()).filter(
    ({ revokedAt, expiresAt }) => revokedAt === null && Date.parse(expiresAt) > Date.now(),
  );
}

/**
 * How many shares an act on these secrets would end. An act that cannot be told so fails by itself:
 * 0 then, and the question before it says nothing of shares.
 */
export async function countLiveShares(vault: Vault, ends: (share: ShareMark) => boolean): Promise<number> {
  try {
    return (await readLiveShares(vault)).filter(ends).length;
  } catch {
    return 0;
  }
}
