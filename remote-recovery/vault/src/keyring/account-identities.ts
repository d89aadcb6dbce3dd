import { fromBase64url } from "@relicario/shared/api";

import type { AccountKey } from "../seal/account-key.ts";
import { encodeIdentity } from "../seal/age.ts";
import { openBookInner, type Book } from "../seal/book.ts";
import { wipe } from "../seal/bytes.ts";
import type { VaultSession } from "../session/vault-session.ts";

/**
 * Derives the identities that others may have sealed to: the current one, then those before
 * rotations, newest first. Secret.
 *
 * @throws PortalError `decryption_failed`
 */
export async function deriveAccountIdentities(
  vault: VaultSession,
  accountKey: AccountKey,
  book: Book,
): Promise<string[]> {
  const { old_identity_seeds: formerSeeds } = await openBookInner(accountKey, vault.userId, book);
  const seeds = [
    accountKey.derive("relicario/v1/identity"),
    ...formerSeeds.toSorted((left, right) => right.key_epoch - left.key_epoch).map(({ seed }) => fromBase64url(seed)),
  ];
  try {
    return seeds.map(encodeIdentity);
  } finally {
    wipe(...seeds);
  }
}
