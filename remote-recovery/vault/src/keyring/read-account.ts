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

/** Everything of the account at one `state_rev`: keyring and rows that fit each other. */
export interface AccountView {
  readonly view: KeyringView;
  /** By id, trash included. */
  readonly rows: ReadonlyMap<string, AccountRow>;
}

/**
 * Another device may write between reading the keyring and reading the list: so many readings
 * before it is a mismatch.
 */
const maxReadings = 3;

/**
 * Reads the keyring first, then the list, which must have its `state_rev`, its count and its root.
 * A vault that holds a list, or whose device keeps its rows, reads the changes since; when they do
 * not fit, everything is read anew before it counts as a mismatch. Null when nothing was ever kept.
 *
 * @param knownView a keyring that was read and opened a moment ago. It takes the place of the first
 *   reading: when the list does not fit it, both are read.
 * @throws PortalError `list_mismatch`, `older_state`, `keyring_missing`.
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
      if (isPortalError(error, "list_mismatch", "older_state", "keyring_missing")) await vault.list.clear();
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
    const keyring =
      reading === 1 && knownView !== undefined ? knownView : measure("keyring", () => refreshKeyring(vault, signal));
    const [view] = await Promise.all([keyring, vault.list.load()]);
    if (view === null) return null;
    const list = await measure("pages", () => readList(vault, signal));
    if (list.stateRev === view.keyring.state_rev) {
      const isVerified = await measure("comparing", () => verifyRows(vault, view, list));
      vault.list.replace(isVerified ? list : { ...list, unsaved: null });
      return { view, rows: list.rows };
    }
    if (list.stateRev < view.keyring.state_rev || reading >= maxReadings) throw new PortalError("list_mismatch");
  }
}

/** Pages that all carry one `state_rev`; when it changes between pages, reading starts anew. */
async function readList(vault: VaultSession, signal: AbortSignal | undefined): Promise<CachedList> {
  const isOwnDevice = (await vault.device.read()).kind === "own";
  for (let reading = 1; reading <= maxReadings; reading++) {
    const cachedList = vault.list.get();
    const since = cachedList?.changes ?? null;
    const rows = new Map(cachedList?.rows);
    const newRows = new Map(cachedList?.unsaved?.rows);
    const firstPage = await vault.service.getListPage({ cursor: null, since }, signal);
    if (cachedList !== null && (firstPage.changes < cachedList.changes || firstPage.state_rev < cachedList.stateRev)) {
      vault.list.drop(); // its counters went back: nothing that we hold helps
      continue;
    }
    if (since !== null && firstPage.purged === undefined) {
      vault.list.drop(); // more went since then than are named
      continue;
    }
    let page = firstPage;
    for (
      let upcoming = fetchNextPage(vault, page, since, signal);
      upcoming !== null;
      upcoming = fetchNextPage(vault, page, since, signal)
    ) {
      mergePage(rows, page, newRows); // while the next one is under way
      page = await upcoming;
      // a cursor that leads nowhere would never end
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
    const purged = new Set([...(cachedList?.unsaved?.purged ?? []), ...(firstPage.purged ?? [])]);
    const unsaved: FetchedRows = {
      since: cachedList?.unsaved == null ? since : cachedList.unsaved.since,
      rows: newRows,
      purged,
      ...counters,
    };
    return { rows, ...counters, unsaved: isOwnDevice ? unsaved : null };
  }
  throw new PortalError("list_mismatch");
}

/**
 * Asked for before the page at hand is looked at. Its failure is heard where it is awaited, even
 * when that page fails first.
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

/** A row that is given twice in one reading counts once; the total then does not fit. */
function mergePage(rows: Map<string, AccountRow>, page: SecretPage, newRows: Map<string, CachedRow>): void {
  const start = performance.now();
  for (const row of page.secrets) {
    const accountRow = toAccountRow(row, rows.get(row.secret_db_id));
    rows.set(accountRow.secretId, accountRow);
    newRows.set(accountRow.secretId, { rev: accountRow.rev, labelHex: accountRow.labelHex, row });
  }
  recordDuration("digests", start);
}

/** @throws PortalError `list_mismatch` for a label that is not one. */
function toAccountRow({ label: sealedLabel, ...stored }: StoredSecret, previous: AccountRow | undefined): AccountRow {
  const rootRow = {
    secretId: stored.secret_db_id,
    version: stored.version,
    rev: requireRev(sealedLabel),
    labelHex: computeLabelDigest(sealedLabel),
  };
  const isUnchanged =
    previous?.labelHex === rootRow.labelHex && previous.version === rootRow.version && previous.label !== null;
  return {
    ...rootRow,
    stored,
    sealedLabel: isUnchanged ? previous.sealedLabel : sealedLabel,
    unchecked: isUnchanged && previous.unchecked,
    label: isUnchanged ? previous.label : null,
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

/** False where there is nothing to compare with. */
async function verifyRows(vault: VaultSession, view: KeyringView, list: CachedList): Promise<boolean> {
  const checkpoint = await vault.loadCheckpoint();
  const expected = view.openedKeyring?.state ?? (checkpoint?.stateRev === view.keyring.state_rev ? checkpoint : null);
  // locked, and this device never opened this state: nothing to compare with yet
  if (expected?.root == null) return false;
  if (expected.count !== list.rows.size || expected.root !== computeRoot([...list.rows.values()]))
    throw new PortalError("list_mismatch");
  return true;
}

/**
 * @throws PortalError `decryption_failed`; `list_mismatch` for a label that the device kept and
 *   that is not the one of the state.
 */
export function openRowLabel(userId: string, keys: MetadataKeys, row: AccountRow): Promise<Label> {
  if (row.label !== null) return row.label;
  const { sealedLabel } = row;
  if (sealedLabel === null) throw new TypeError("a row without its label");
  const opening = decryptRowLabel(userId, keys, row, sealedLabel);
  row.label = opening;
  opening.then(
    () => {
      row.sealedLabel = null;
    },
    () => {
      row.label = null; // whoever asks again hears it again
    },
  );
  return opening;
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

/**
 * One row of an unlocked account.
 *
 * @throws PortalError `not_found`, `vault_locked`.
 */
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
