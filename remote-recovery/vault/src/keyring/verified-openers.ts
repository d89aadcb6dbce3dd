import { PortalError } from "@relicario/shared/errors";

import { saveCheckedOpeners, type VerifiedOpeners } from "../device/checked-openers.ts";
import type { AccountKey } from "../seal/account-key.ts";
import { openBookInner, computeOpenersDigest, type Book } from "../seal/book.ts";
import type { OpenedKeyring } from "../session/keyring-views.ts";
import type { VaultSession } from "../session/vault-session.ts";

/** Openers outside must be those inside. @throws PortalError `openers_changed`. */
export async function verifyOpeners(userId: string, accountKey: AccountKey, book: Book): Promise<VerifiedOpeners> {
  const digest = computeOpenersDigest(book.openers);
  const inner = await openBookInner(accountKey, userId, book);
  if (digest !== computeOpenersDigest(inner.openers)) throw new PortalError("openers_changed");
  return { digest, sketches: new Set(inner.sketches.map(({ sketch }) => sketch)) };
}

/**
 * Sealing to a list of openers that the account key never vouched for on this device takes an
 * opener first.
 *
 * @throws PortalError `show_opener_first`, `openers_changed`.
 */
export async function requireVerifiedOpeners(vault: VaultSession, { book }: OpenedKeyring): Promise<void> {
  if (vault.accountKey !== null) {
    await saveCheckedOpeners(vault.device, await verifyOpeners(vault.userId, vault.accountKey, book));
    return;
  }
  const { checkedOpeners } = await vault.device.read();
  if (checkedOpeners !== computeOpenersDigest(book.openers)) throw new PortalError("show_opener_first");
}
