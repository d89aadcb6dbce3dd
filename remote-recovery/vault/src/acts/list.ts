import { bytesToHex } from "@noble/hashes/utils.js";
import { fromB64u } from "@relicario/shared/api";
import type { ListOptions, SecretLabel, SecretRow } from "@relicario/shared/contract";

import { isPortalError } from "@relicario/shared/errors";

import type { Label } from "../seal/label.ts";
import { timed } from "../timed.ts";
import { refuseCancelled } from "../cancelled.ts";
import type { AccountRow, VaultContext } from "../vault-context.ts";
import type { KeyringView } from "../steps/read-keyring.ts";
import { dropRows, keepRows, labelOf, readAccount, type AccountView } from "../steps/read-account.ts";

/** Labels of the first batch: what a screen shows. */
const firstBatch = 100;
/** Labels opened at once after it: enough to keep WebCrypto busy, few enough to stay responsive. */
const laterBatch = 500;

/**
 * All rows, trash included, by id. Labels are null while locked. With `onRows` they come in
 * batches, the newest secrets first, once the whole list was checked: no row is shown that does not
 * fit the state.
 *
 * @param given a keyring that was read a moment ago; see {@link readAccount}
 * @throws PortalError `list_mismatch`, `older_state`, `keyring_missing`, `decryption_failed`,
 *   `cancelled`.
 */
export async function list(
  vault: VaultContext,
  { signal, onRows }: ListOptions = {},
  given?: KeyringView,
): Promise<SecretRow[]> {
  const shown: SecretRow[] = [];
  const show = async (account: AccountView): Promise<void> => {
    const keys = account.view.opened?.keys ?? null;
    const there = new Set(shown.map(({ secretId }) => secretId));
    const newestFirst = [...account.rows.values()]
      .filter(({ secretId }) => !there.has(secretId))
      .sort((left, right) => (left.secretId < right.secretId ? 1 : -1));
    const total = shown.length + newestFirst.length;
    for (let from = 0, size = firstBatch; from < newestFirst.length; from += size, size = laterBatch) {
      refuseCancelled(signal);
      const rows = newestFirst.slice(from, from + size);
      const labels =
        keys === null
          ? null
          : await timed(shown.length === 0 ? "opening first" : "opening", () =>
              Promise.all(rows.map((row) => labelOf(vault.userId, keys, row))),
            );
      const batch = rows.map((row, index) => presentRow(row, labels?.[index] ?? null, keys?.keyEpoch ?? 0));
      shown.push(...batch);
      onRows?.(batch, { opened: shown.length, total });
    }
  };
  const account = await readAccount(vault, signal, given);
  if (account === null) return [];
  try {
    await show(account);
  } catch (error) {
    if (!isPortalError(error, "list_mismatch")) throw error;
    // a label that the device kept is not the one of the state: what is not shown yet comes from
    // the service
    await dropRows(vault);
    const anew = await readAccount(vault, signal);
    if (anew !== null) await show(anew);
  }
  keepRows(vault);
  return shown.reverse();
}

function presentRow({ version, rev, secretId, stored }: AccountRow, label: Label | null, keyEpoch: number): SecretRow {
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
    label: label === null ? null : presentLabel(label, keyEpoch),
  };
}

function presentLabel(label: Label, keyEpoch: number): SecretLabel {
  const { title, tags, name, size, openers, rehearsed } = label;
  const rehearsedAt = rehearsed.reduce<string | null>(
    (newest, { at }) => (newest === null || at > newest ? at : newest),
    null,
  );
  const kits = label.kits.map((kit) => ({
    sha256: bytesToHex(fromB64u(kit.sha256)),
    madeAt: kit.made_at,
    outdated: kit.ticket_sha256 !== label.ticket_sha256 || kit.key_epoch !== keyEpoch,
  }));
  return { title, tags, contentKind: label.content_kind, name, size, openers, rehearsedAt, kits };
}
