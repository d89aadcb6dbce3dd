import { fromBase64url } from "@relicario/shared/api";
import type { ImportItem, ImportComparison } from "@relicario/shared/contract";

import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { openRowLabel, readAccount, type AccountView } from "../keyring/read-account.ts";
import { requireOpenedKeyring } from "../keyring/publish.ts";
import { throwIfCancelled } from "../rpc/throw-if-cancelled.ts";
import { computeSources, extractItemMark } from "./source.ts";

/**
 * Comparison of an item with the account. `source` is the item's mark, null before the account has
 * an import key. `version` is that of the item's secret, 0 for a new item.
 */
export type ComparedItem = ImportComparison & { readonly source: string | null; readonly version: number };

interface MarkedSecret {
  readonly secretId: string;
  readonly version: number;
  readonly source: string;
}

/**
 * Prefix of the origin of an item from this portal's own archives. The secret's former id follows.
 */
const ownOriginPrefix = "relicario:";

/**
 * Compares items with the secrets of the account. Ignores secrets in the trash, so that they can be
 * imported again.
 *
 * @throws PortalError `vault_locked`, and errors of reading.
 */
export async function compareImport(
  vault: VaultSession,
  items: readonly ImportItem[],
  options: OperationOptions = {},
): Promise<ComparedItem[]> {
  return compareWithAccount(vault, await readAccount(vault, options.signal), items, options);
}

/** Like {@link compareImport}, with an account that was just read. */
export async function compareWithAccount(
  vault: VaultSession,
  account: AccountView | null,
  items: readonly ImportItem[],
  options: OperationOptions,
): Promise<ComparedItem[]> {
  const openedKeyring = requireOpenedKeyring(account);
  const importKeyB64u = (openedKeyring ?? vault.adoptedAccount?.documents)?.book.import_key ?? null;
  const importKey = importKeyB64u === null ? null : fromBase64url(importKeyB64u);
  const rows = account?.rows ?? new Map<string, never>();
  const markedSecrets = new Map<string, MarkedSecret>();
  for (const row of importKey === null ? [] : rows.values()) {
    if (openedKeyring === null || row.storedSecret.deleted_at !== undefined) continue;
    const { source } = await openRowLabel(vault.userId, openedKeyring.keys, row);
    if (source !== null)
      markedSecrets.set(extractItemMark(source), { secretId: row.secretId, version: row.version, source });
  }
  const comparisons: ComparedItem[] = [];
  for (const item of items) {
    throwIfCancelled(options.signal);
    const ownId = item.sourceId.startsWith(ownOriginPrefix) ? item.sourceId.slice(ownOriginPrefix.length) : null;
    const ownRow = ownId === null ? undefined : rows.get(ownId);
    const sources = importKey === null ? null : await computeSources(importKey, item);
    const source = sources?.[0] ?? null;
    const marked = source === null ? undefined : markedSecrets.get(extractItemMark(source));
    if (marked !== undefined)
      comparisons.push({
        status: sources?.includes(marked.source) === true ? "same" : "changed",
        secretId: marked.secretId,
        source,
        version: marked.version,
      });
    else if (ownRow !== undefined && ownRow.storedSecret.deleted_at === undefined)
      comparisons.push({ status: "same", secretId: ownRow.secretId, source, version: ownRow.version });
    else comparisons.push({ status: "new", source, version: 0 });
  }
  return comparisons;
}
