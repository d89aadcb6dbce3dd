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

/** Labels of the first batch: what a screen shows. */
const firstBatchSize = 100;
/** Labels opened at once after it: enough to keep WebCrypto busy, few enough to stay responsive. */
const laterBatchSize = 500;

/**
 * All rows, trash included, by id. Labels are null while locked. With `onRows` they come in
 * batches, the newest secrets first, once the whole list was checked: no row is shown that does not
 * fit the state.
 *
 * @param knownView a keyring that was read a moment ago; see {@link readAccount}
 * @throws PortalError `list_mismatch`, `older_state`, `keyring_missing`, `decryption_failed`,
 *   `cancelled`.
 */
export async function list(
  vault: VaultSession,
  { signal, onRows }: ListOptions = {},
  knownView?: KeyringView,
): Promise<SecretRow[]> {
  const delivered: SecretRow[] = [];
  const deliver = async (account: AccountView): Promise<void> => {
    const keys = account.view.openedKeyring?.keys ?? null;
    const deliveredIds = new Set(delivered.map(({ secretId }) => secretId));
    const newestFirst = [...account.rows.values()]
      .filter(({ secretId }) => !deliveredIds.has(secretId))
      .sort((left, right) => (left.secretId < right.secretId ? 1 : -1));
    const total = delivered.length + newestFirst.length;
    for (let start = 0, size = firstBatchSize; start < newestFirst.length; start += size, size = laterBatchSize) {
      throwIfCancelled(signal);
      const rows = newestFirst.slice(start, start + size);
      const labels =
        keys === null
          ? null
          : await measure(delivered.length === 0 ? "opening first" : "opening", () =>
              Promise.all(rows.map((row) => openRowLabel(vault.userId, keys, row))),
            );
      const batch = rows.map((row, index) => toSecretRow(row, labels?.[index] ?? null, keys?.keyEpoch ?? 0));
      delivered.push(...batch);
      onRows?.(batch, { opened: delivered.length, total });
    }
  };
  const account = await readAccount(vault, signal, knownView);
  if (account === null) return [];
  try {
    await deliver(account);
  } catch (error) {
    if (!isPortalError(error, "list_mismatch")) throw error;
    // a label that the device kept is not the one of the state: what is not shown yet comes from
    // the service
    await vault.list.clear();
    const refetched = await readAccount(vault, signal);
    if (refetched !== null) await deliver(refetched);
  }
  vault.list.save();
  return delivered.reverse();
}

function toSecretRow({ version, rev, secretId, stored }: AccountRow, label: Label | null, keyEpoch: number): SecretRow {
  return {
    secretId,
    version,
    rev,
    favorite: stored.favorite,
    sealedSize: stored.size,
    createdAt: stored.created_at,
    updatedAt: stored.updated_at,
    deletedAt: stored.deleted_at ?? null,
    droppedAt: stored.dropped_at ?? null,
    label: label === null ? null : toSecretLabel(label, keyEpoch),
  };
}

function toSecretLabel(label: Label, keyEpoch: number): SecretLabel {
  const { title, tags, name, size, openers, rehearsed } = label;
  const copyCheckedAt = rehearsed.reduce<string | null>(
    (newest, { at }) => (newest === null || at > newest ? at : newest),
    null,
  );
  const kits = label.kits.map((kit) => ({
    sha256: bytesToHex(fromBase64url(kit.sha256)),
    createdAt: kit.made_at,
    outdated: kit.ticket_sha256 !== label.ticket_sha256 || kit.key_epoch !== keyEpoch,
  }));
  return { title, tags, contentKind: label.content_kind, name, size, openers, copyCheckedAt, kits };
}
