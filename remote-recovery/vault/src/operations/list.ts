import { bytesToHex } from "@noble/hashes/utils.js";
import { fromBase64url } from "@relicario/shared/api";
import type { ListOptions, SecretLabel, SecretRow } from "@relicario/shared/contract";

import { isPortalError } from "@relicario/shared/errors";

import type { Label } from "../seal/label.ts";
import { measure } from "../session/measure.ts";
import { throwIfCancelled } from "../rpc/throw-if-cancelled.ts";
import type { AccountRow } from "../session/list-cache.ts";
import type { VaultSession } from "../session/vault-session.ts";
import type { KeyringView } from "../session/keyring-views.ts";
import { openRowLabel, readAccount, type AccountView } from "../keyring/read-account.ts";

/** Number of labels in the first batch: about one screen. */
const firstBatchSize = 100;
/** Number of labels in later batches, which keeps WebCrypto busy and the page responsive. */
const laterBatchSize = 500;

/**
 * Returns all rows by id, including the trash. Labels are null while locked. `onRows` receives the
 * rows in batches, newest secrets first, after the whole list has been verified against the state;
 * a locked device without this state cannot verify.
 *
 * @param knownView a keyring that was just read; see {@link readAccount}
 * @throws PortalError `list_mismatch`, `older_state`, `keyring_missing`, `decryption_failed`,
 *   `cancelled`
 */
export async function list(
  vault: VaultSession,
  { signal, onRows }: ListOptions = {},
  knownView?: KeyringView,
): Promise<SecretRow[]> {
  const deliveredRows: SecretRow[] = [];
  const deliverBatches = async (account: AccountView): Promise<void> => {
    const keys = account.view.openedKeyring?.keys ?? null;
    const deliveredIds = new Set(deliveredRows.map(({ secretId }) => secretId));
    const newestFirst = [...account.rows.values()]
      .filter(({ secretId }) => !deliveredIds.has(secretId))
      .sort((left, right) => (left.secretId < right.secretId ? 1 : -1));
    const total = deliveredRows.length + newestFirst.length;
    for (let start = 0, size = firstBatchSize; start < newestFirst.length; start += size, size = laterBatchSize) {
      throwIfCancelled(signal);
      const rows = newestFirst.slice(start, start + size);
      const labels =
        keys === null
          ? null
          : await measure(deliveredRows.length === 0 ? "opening first" : "opening", () =>
              Promise.all(rows.map((row) => openRowLabel(vault.userId, keys, row))),
            );
      const batch = rows.map((row, index) => toSecretRow(row, labels?.[index] ?? null, keys?.keyEpoch ?? 0));
      deliveredRows.push(...batch);
      onRows?.(batch, { opened: deliveredRows.length, total });
    }
  };
  const account = await readAccount(vault, signal, knownView);
  if (account === null) return [];
  try {
    await deliverBatches(account);
  } catch (error) {
    if (!isPortalError(error, "list_mismatch")) throw error;
    // a cached label does not match the state: fetch the remaining rows again
    await vault.listCache.clear();
    const refetched = await readAccount(vault, signal);
    if (refetched !== null) await deliverBatches(refetched);
  }
  vault.listCache.save();
  return deliveredRows.reverse();
}

function toSecretRow(
  { version, rev, secretId, storedSecret }: AccountRow,
  label: Label | null,
  keyEpoch: number,
): SecretRow {
  return {
    secretId,
    version,
    rev,
    favorite: storedSecret.favorite,
    sealedSize: storedSecret.size,
    createdAt: storedSecret.created_at,
    updatedAt: storedSecret.updated_at,
    deletedAt: storedSecret.deleted_at ?? null,
    trashConfirmedAt: storedSecret.trash_confirmed_at ?? null,
    droppedAt: storedSecret.dropped_at ?? null,
    label: label === null ? null : toSecretLabel(label, keyEpoch),
  };
}

function toSecretLabel(label: Label, keyEpoch: number): SecretLabel {
  const { title, tags, name, size, openers: openerIds, rehearsed } = label;
  const copyCheckedAt = rehearsed.reduce<string | null>(
    (newest, { at }) => (newest === null || at > newest ? at : newest),
    null,
  );
  const kits = label.kits.map((kit) => ({
    sha256: bytesToHex(fromBase64url(kit.sha256)),
    createdAt: kit.made_at,
    outdated: kit.ticket_sha256 !== label.ticket_sha256 || kit.key_epoch !== keyEpoch,
  }));
  return { title, tags, contentKind: label.content_kind, name, size, openerIds, copyCheckedAt, kits };
}
