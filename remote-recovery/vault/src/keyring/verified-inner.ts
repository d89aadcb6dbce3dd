import { fromBase64url, toBase64url } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import { isLaterInner, saveVerifiedInner, type VerifiedInner } from "../device/verified-inner.ts";
import type { AccountKey } from "../seal/account-key.ts";
import { matchesInner, openBookInner } from "../seal/book.ts";
import { computeJweDigest } from "../seal/document.ts";
import type { OpenedKeyring } from "../session/keyring-views.ts";
import type { VaultSession } from "../session/vault-session.ts";

/**
 * Opens the book's `inner` and compares it with the book and with what this device remembers.
 *
 * @throws PortalError `openers_changed` when openers or people outside differ; `older_state` for a
 *   lower `inner_rev`, or another `inner` of the same one.
 */
export async function openVerifiedInner(
  vault: VaultSession,
  accountKey: AccountKey,
  { keys, book, state }: OpenedKeyring,
): Promise<VerifiedInner> {
  const inner = await openBookInner(accountKey, vault.userId, book);
  if (!matchesInner(book, inner)) throw new PortalError("openers_changed");
  const reference = {
    keyEpoch: keys.keyEpoch,
    rev: inner.inner_rev,
    sha256: toBase64url(computeJweDigest(book.inner)),
  };
  if (!isLaterInner((await vault.device.read()).bookInner, reference))
    throw new PortalError("older_state", { details: { given: state.state_rev } });
  return {
    reference,
    sketches: new Set(inner.sketches.map(({ sketch }) => sketch)),
    oldAuthorKeys: inner.old_author_keys.map((oldKey) => ({
      keyEpoch: oldKey.key_epoch,
      authorKey: fromBase64url(oldKey.author_key),
    })),
  };
}

/**
 * Refuses to seal to openers and people that were not verified with the account key.
 *
 * @throws PortalError `show_opener_first`, and those of {@link openVerifiedInner}.
 */
export async function requireVerifiedInner(vault: VaultSession, openedKeyring: OpenedKeyring): Promise<void> {
  const accountKey = vault.requireAccountKeyOf(openedKeyring.keys);
  await saveVerifiedInner(vault.device, await openVerifiedInner(vault, accountKey, openedKeyring));
}
