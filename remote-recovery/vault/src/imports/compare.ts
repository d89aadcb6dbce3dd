import { fromB64u } from "@relicario/shared/api";
import type { ImportItem, ImportStanding } from "@relicario/shared/contract";

import type { ActOptions, VaultContext } from "../vault-context.ts";
import { labelOf, readAccount, type AccountView } from "../steps/read-account.ts";
import { requireOpened } from "../steps/publish.ts";
import { refuseCancelled } from "../cancelled.ts";
import { sourcesOf, whichItem } from "./source.ts";

/**
 * An item with its mark, null before there is a key for marks; `version` is that of its secret, 0
 * of what is new.
 */
export type ComparedItem = ImportStanding & { readonly source: string | null; readonly version: number };

interface Kept {
  readonly secretId: string;
  readonly version: number;
  readonly source: string;
}

/**
 * Begins the origin of an item of this portal's own archives, before the id that the secret had.
 */
export const ownOrigin = "relicario:";

/**
 * How items stand to what is kept. Secrets in the trash do not count: who imports again wants them.
 *
 * @throws PortalError `vault_locked`, and those of reading.
 */
export async function compareImport(
  vault: VaultContext,
  items: readonly ImportItem[],
  options: ActOptions = {},
): Promise<ComparedItem[]> {
  return compareWith(vault, await readAccount(vault, options.signal), items, options);
}

/** The same with an account that was read a moment ago. */
export async function compareWith(
  vault: VaultContext,
  account: AccountView | null,
  items: readonly ImportItem[],
  options: ActOptions,
): Promise<ComparedItem[]> {
  const opened = requireOpened(account);
  const key = (opened ?? vault.pending)?.book.import_key ?? null;
  const importKey = key === null ? null : fromB64u(key);
  const rows = account?.rows ?? new Map<string, never>();
  const kept = new Map<string, Kept>();
  for (const row of importKey === null ? [] : rows.values()) {
    if (opened === null || row.stored.deleted_at !== undefined) continue;
    const { source } = await labelOf(vault.userId, opened.keys, row);
    if (source !== null) kept.set(whichItem(source), { secretId: row.secretId, version: row.version, source });
  }
  const compared: ComparedItem[] = [];
  for (const item of items) {
    refuseCancelled(options.signal);
    const ownId = item.origin.startsWith(ownOrigin) ? item.origin.slice(ownOrigin.length) : null;
    const own = ownId === null ? undefined : rows.get(ownId);
    const sources = importKey === null ? null : await sourcesOf(importKey, item);
    const source = sources?.[0] ?? null;
    const known = source === null ? undefined : kept.get(whichItem(source));
    if (known !== undefined)
      compared.push({
        standing: sources?.includes(known.source) === true ? "same" : "changed",
        secretId: known.secretId,
        source,
        version: known.version,
      });
    else if (own !== undefined && own.stored.deleted_at === undefined)
      compared.push({ standing: "same", secretId: own.secretId, source, version: own.version });
    else compared.push({ standing: "new", source, version: 0 });
  }
  return compared;
}
