import { Id, type SecretPage, type StoredSecret } from "@relicario/shared/api";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import type { CachedRow, FetchedRows } from "../device/row-cache.ts";
import type { MetadataKeys } from "../seal/account-key.ts";
import { openLabel, parseUnverifiedRev, type Label } from "../seal/label.ts";
import { computeLabelDigest, computeRoot } from "../seal/state.ts";
import type { AccountRow, CachedList } from "../session/list-cache.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { recordDuration, measure } from "../session/measure.ts";
import { refreshKeyring, retryReadOnce } from "./refresh-keyring.ts";
import type { KeyringView, OpenedKeyring } from "../session/keyring-views.ts";

/** Keyring and rows of the account at one `state_rev`. */
export interface AccountView {
  readonly view: KeyringView;
  /** Rows by id, including the trash. */
  readonly rows: ReadonlyMap<string, AccountRow>;
}

/**
 * Limit of readings. Another device may write between reading keyring and list; after these
 * readings a difference is a mismatch.
 */
const maxReadings = 3;

/**
 * Reads the keyring, then the list, which must have the keyring's `state_rev`, count and root. If a
 * list is cached, fetches only changes; if these do not fit, fetches the whole list before
 * reporting a mismatch. Null if the account was never created.
 *
 * @param knownView a keyring that was just read, used in place of the first reading. If the list
 *   does not fit this keyring, both are read.
 * @throws PortalError `list_mismatch`, `older_state`, `keyring_missing`
 */
export function readAccount(
  vault: VaultSession,
  signal?: AbortSignal,
  knownView?: KeyringView,
): Promise<AccountView | null> {
  let unusedView = knownView;
  return retryReadOnce(async () => {
    try {
      const initialView = unusedView;
      unusedView = undefined;
      return await readOnce(vault, signal, initialView);
    } catch (error) {
      if (isPortalError(error, "list_mismatch", "older_state", "keyring_missing")) await vault.listCache.clear();
      throw error;
    }
  });
}

async function readOnce(
  vault: VaultSession,
  signal: AbortSignal | undefined,
  knownView: KeyringView | undefined,
): Promise<AccountView | null> {
  for (let reading = 1; ; reading++) {
    const viewOrPromise =
      reading === 1 && knownView !== undefined ? knownView : measure("keyring", () => refreshKeyring(vault, signal));
    const [view] = await Promise.all([viewOrPromise, vault.listCache.load()]);
    if (view === null) return null;
    const list = await measure("pages", () => readList(vault, signal));
    if (list.stateRev === view.keyring.state_rev) {
      const isVerified = await measure("comparing", () => verifyRows(vault, view, list));
      if (isVerified) await rememberVersions(vault, [...list.rows.values()]);
      vault.listCache.replace(isVerified ? list : { ...list, unsavedRows: null });
      return { view, rows: list.rows };
    }
    if (list.stateRev < view.keyring.state_rev || reading >= maxReadings) throw new PortalError("list_mismatch");
  }
}

/** Fetches all pages with one `state_rev`. Starts again if it changes between pages. */
async function readList(vault: VaultSession, signal: AbortSignal | undefined): Promise<CachedList> {
  const isOwnDevice = (await vault.device.read()).kind === "own";
  for (let reading = 1; reading <= maxReadings; reading++) {
    const cachedList = vault.listCache.get();
    const since = cachedList?.changes ?? null;
    const rows = new Map(cachedList?.rows);
    const newRows = new Map(cachedList?.unsavedRows?.rows);
    const firstPage = await vault.service.getListPage({ cursor: null, since }, signal);
    if (cachedList !== null && (firstPage.changes < cachedList.changes || firstPage.state_rev < cachedList.stateRev)) {
      vault.listCache.drop(); // lower counters: the cached list is useless
      continue;
    }
    if (since !== null && firstPage.purged === undefined) {
      vault.listCache.drop(); // the service no longer lists all purged rows
      continue;
    }
    let page = firstPage;
    for (
      let nextPagePromise = fetchNextPage(vault, page, since, signal);
      nextPagePromise !== null;
      nextPagePromise = fetchNextPage(vault, page, since, signal)
    ) {
      mergePage(rows, page, newRows); // processes a page while the next one is fetched
      page = await nextPagePromise;
      // an empty page with a cursor: the pages would never end
      if (page.secrets.length === 0) throw new PortalError("list_mismatch");
      if (page.state_rev !== firstPage.state_rev) break;
    }
    if (page.state_rev !== firstPage.state_rev) continue;
    mergePage(rows, page, newRows);
    for (const id of firstPage.purged ?? []) {
      rows.delete(id);
      newRows.delete(id);
    }
    if (rows.size !== page.total) throw new PortalError("list_mismatch");
    const counters = { stateRev: page.state_rev, changes: firstPage.changes };
    const purged = new Set([...(cachedList?.unsavedRows?.purged ?? []), ...(firstPage.purged ?? [])]);
    const unsaved: FetchedRows = {
      since: cachedList?.unsavedRows == null ? since : cachedList.unsavedRows.since,
      rows: newRows,
      purged,
      ...counters,
    };
    return { rows, ...counters, unsavedRows: isOwnDevice ? unsaved : null };
  }
  throw new PortalError("list_mismatch");
}

/**
 * Starts the next fetch before the current page is processed. A failure is thrown at the caller's
 * `await`; it never becomes an unhandled rejection, even if the current page fails first.
 */
function fetchNextPage(
  vault: VaultSession,
  { next_cursor: cursor }: SecretPage,
  since: number | null,
  signal: AbortSignal | undefined,
): Promise<SecretPage> | null {
  if (cursor === null) return null;
  const page = vault.service.getListPage({ cursor: Id.parse(cursor), since }, signal);
  page.catch(() => undefined);
  return page;
}

/** A repeated row counts once, so that the total does not match. */
function mergePage(rows: Map<string, AccountRow>, page: SecretPage, newRows: Map<string, CachedRow>): void {
  const start = performance.now();
  for (const row of page.secrets) {
    const accountRow = toAccountRow(row, rows.get(row.secret_db_id));
    rows.set(accountRow.secretId, accountRow);
    newRows.set(accountRow.secretId, { rev: accountRow.rev, labelHex: accountRow.labelHex, row });
  }
  recordDuration("digests", start);
}

/** @throws PortalError `list_mismatch` for a malformed label */
function toAccountRow({ label: sealedLabel, ...stored }: StoredSecret, previous: AccountRow | undefined): AccountRow {
  const rootRow = {
    secretId: stored.secret_db_id,
    version: stored.version,
    rev: requireRev(sealedLabel),
    labelHex: computeLabelDigest(sealedLabel),
  };
  const isUnchanged =
    previous?.labelHex === rootRow.labelHex && previous.version === rootRow.version && previous.labelPromise !== null;
  return {
    ...rootRow,
    storedSecret: stored,
    sealedLabel: isUnchanged ? previous.sealedLabel : sealedLabel,
    unchecked: isUnchanged && previous.unchecked,
    labelPromise: isUnchanged ? previous.labelPromise : null,
  };
}

function requireRev(label: string): number {
  try {
    return parseUnverifiedRev(label);
  } catch (cause) {
    if (isPortalError(cause, "decryption_failed")) throw new PortalError("list_mismatch", { cause });
    throw cause;
  }
}

/** Returns false if there is no verified state to compare with. */
async function verifyRows(vault: VaultSession, view: KeyringView, list: CachedList): Promise<boolean> {
  const checkpoint = await vault.loadCheckpoint();
  const expectedState =
    view.openedKeyring?.state ?? (checkpoint?.stateRev === view.keyring.state_rev ? checkpoint : null);
  // locked, and this device has never opened this state
  if (expectedState?.root == null) return false;
  if (expectedState.count !== list.rows.size || expectedState.root !== computeRoot([...list.rows.values()]))
    throw new PortalError("list_mismatch");
  return true;
}

/**
 * Remembers the highest version of each secret, in verified rows. Metadata keys alone can sign a
 * state with a lower one, which would pass for the first.
 *
 * @throws PortalError `list_mismatch` for a lower version than this device has seen.
 */
async function rememberVersions(vault: VaultSession, rows: readonly AccountRow[]): Promise<void> {
  const { versions } = await vault.device.read();
  if (rows.some(({ secretId, version }) => version < (versions[secretId] ?? 1))) throw new PortalError("list_mismatch");
  const newVersions = rows.filter(({ secretId, version }) => version > (versions[secretId] ?? 1));
  if (newVersions.length === 0) return;
  try {
    await vault.device.update((current) => ({
      versions: {
        ...current.versions,
        ...Object.fromEntries(
          newVersions.map(({ secretId, version }) => [secretId, Math.max(version, current.versions[secretId] ?? 1)]),
        ),
      },
    }));
  } catch (error) {
    if (!isPortalError(error, "storage_full")) throw error; // the next reading remembers
  }
}

/**
 * @throws PortalError `decryption_failed`; `list_mismatch` for a cached label that does not have
 *   the digest of the state
 */
export function openRowLabel(userId: string, keys: MetadataKeys, row: AccountRow): Promise<Label> {
  if (row.labelPromise !== null) return row.labelPromise;
  const { sealedLabel } = row;
  if (sealedLabel === null) throw new TypeError("an unopened row needs its sealed label");
  const labelPromise = decryptRowLabel(userId, keys, row, sealedLabel);
  row.labelPromise = labelPromise;
  labelPromise.then(
    () => {
      row.sealedLabel = null;
    },
    () => {
      row.labelPromise = null; // the next call tries again
    },
  );
  return labelPromise;
}

async function decryptRowLabel(
  userId: string,
  keys: MetadataKeys,
  row: AccountRow,
  sealedLabel: string,
): Promise<Label> {
  if (row.unchecked && computeLabelDigest(sealedLabel) !== row.labelHex) throw new PortalError("list_mismatch");
  return openLabel(keys, userId, row, sealedLabel);
}

/** @throws PortalError `not_found`, `vault_locked` */
export function requireRow(
  account: AccountView | null,
  secretId: string,
): { readonly openedKeyring: OpenedKeyring; readonly row: AccountRow } {
  const row = account?.rows.get(secretId);
  if (row === undefined) throw new PortalError("not_found");
  const openedKeyring = account?.view.openedKeyring ?? null;
  if (openedKeyring === null) throw new PortalError("vault_locked");
  return { openedKeyring, row };
}
