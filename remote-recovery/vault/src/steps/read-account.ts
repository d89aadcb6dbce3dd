import { Id, type SecretPage, type StoredSecret } from "@relicario/shared/api";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import type { KeptRow, RowsRead } from "../device/kept-rows.ts";
import type { TitlesKeys } from "../seal/account-key.ts";
import { openLabel, revOf, type Label } from "../seal/label.ts";
import { labelDigest, rootOf } from "../seal/state.ts";
import type { AccountRow, HeldList, VaultContext } from "../vault-context.ts";
import { noteTime, timed } from "../timed.ts";
import { readKeyring, recall, withSecondReading, type KeyringView, type OpenedKeyring } from "./read-keyring.ts";

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
const patience = 3;

/**
 * Reads the keyring first, then the list, which must have its `state_rev`, its count and its root.
 * A vault that holds a list, or whose device keeps its rows, reads the changes since; when they do
 * not fit, everything is read anew before it counts as a mismatch. Null when nothing was ever kept.
 *
 * @param given a keyring that was read and opened a moment ago. It takes the place of the first
 *   reading: when the list does not fit it, both are read.
 * @throws PortalError `list_mismatch`, `older_state`, `keyring_missing`.
 */
export function readAccount(
  vault: VaultContext,
  signal?: AbortSignal,
  given?: KeyringView,
): Promise<AccountView | null> {
  let known = given;
  return withSecondReading(async () => {
    try {
      const first = known;
      known = undefined;
      return await readOnce(vault, signal, first);
    } catch (error) {
      if (isPortalError(error, "list_mismatch", "older_state", "keyring_missing")) await dropRows(vault);
      throw error;
    }
  });
}

/** What is held, here and on the device, does not fit: the next reading is of everything. */
export async function dropRows(vault: VaultContext): Promise<void> {
  vault.held = null;
  vault.kept.taken = Promise.resolve();
  await vault.kept.rows.drop();
}

async function readOnce(
  vault: VaultContext,
  signal: AbortSignal | undefined,
  given: KeyringView | undefined,
): Promise<AccountView | null> {
  for (let reading = 1; ; reading++) {
    const keyring = reading === 1 && given !== undefined ? given : timed("keyring", () => readKeyring(vault, signal));
    const [view] = await Promise.all([keyring, takeKeptRows(vault)]);
    if (view === null) return null;
    const list = await timed("pages", () => readList(vault, signal));
    if (list.stateRev === view.keyring.state_rev) {
      const compared = await timed("comparing", () => checkRows(vault, view, list));
      vault.held = compared ? list : { ...list, unkept: null };
      return { view, rows: list.rows };
    }
    if (list.stateRev < view.keyring.state_rev || reading >= patience) throw new PortalError("list_mismatch");
  }
}

/**
 * Takes the rows that an own device keeps, once in the life of a worker. They are believed no more
 * than those of the service.
 */
export function takeKeptRows(vault: VaultContext): Promise<void> {
  return (vault.kept.taken ??= timed("kept rows", () => holdKeptRows(vault)));
}

async function holdKeptRows(vault: VaultContext): Promise<void> {
  const list = (await vault.device.read()).kind === "own" ? await vault.kept.rows.read() : null;
  if (list === null || vault.held !== null) return;
  const rows = list.rows.map(({ rev, labelHex, row: { label: sealedLabel, ...stored } }): [string, AccountRow] => {
    const { secret_db_id: secretId, version } = stored;
    return [secretId, { secretId, version, rev, labelHex, stored, sealedLabel, unchecked: true, label: null }];
  });
  vault.held = { rows: new Map(rows), stateRev: list.stateRev, changes: list.changes, unkept: null };
}

/** Begins to write what was read since the last time to an own device. */
export function keepRows(vault: VaultContext): void {
  const { held, kept } = vault;
  const unkept = held?.unkept ?? null;
  if (held === null || unkept === null) return;
  vault.held = { ...held, unkept: null };
  kept.writing = kept.writing.then(() => kept.rows.write(unkept));
}

/** Pages that all carry one `state_rev`; when it changes between pages, reading starts anew. */
async function readList(vault: VaultContext, signal: AbortSignal | undefined): Promise<HeldList> {
  const own = (await vault.device.read()).kind === "own";
  for (let reading = 1; reading <= patience; reading++) {
    const { held } = vault;
    const since = held?.changes ?? null;
    const rows = new Map(held?.rows);
    const read = new Map(held?.unkept?.rows);
    const first = await vault.service.page({ cursor: null, since }, signal);
    if (held !== null && (first.changes < held.changes || first.state_rev < held.stateRev)) {
      vault.held = null; // its counters went back: nothing that we hold helps
      continue;
    }
    if (since !== null && first.purged === undefined) {
      vault.held = null; // more went since then than are named
      continue;
    }
    let page = first;
    for (
      let following = nextPage(vault, page, since, signal);
      following !== null;
      following = nextPage(vault, page, since, signal)
    ) {
      enter(rows, page, read); // while the next one is under way
      page = await following;
      // a cursor that leads nowhere would never end
      if (page.secrets.length === 0) throw new PortalError("list_mismatch");
      if (page.state_rev !== first.state_rev) break;
    }
    if (page.state_rev !== first.state_rev) continue;
    enter(rows, page, read);
    for (const id of first.purged ?? []) {
      rows.delete(id);
      read.delete(id);
    }
    if (rows.size !== page.total) throw new PortalError("list_mismatch");
    const at = { stateRev: page.state_rev, changes: first.changes };
    const purged = new Set([...(held?.unkept?.purged ?? []), ...(first.purged ?? [])]);
    const unkept: RowsRead = { since: held?.unkept == null ? since : held.unkept.since, rows: read, purged, ...at };
    return { rows, ...at, unkept: own ? unkept : null };
  }
  throw new PortalError("list_mismatch");
}

/**
 * Asked for before the page at hand is looked at. Its failure is heard where it is awaited, even
 * when that page fails first.
 */
function nextPage(
  vault: VaultContext,
  { next_cursor: cursor }: SecretPage,
  since: number | null,
  signal: AbortSignal | undefined,
): Promise<SecretPage> | null {
  if (cursor === null) return null;
  const following = vault.service.page({ cursor: Id.parse(cursor), since }, signal);
  following.catch(() => undefined);
  return following;
}

/** A row that is given twice in one reading counts once; the total then does not fit. */
function enter(rows: Map<string, AccountRow>, page: SecretPage, read: Map<string, KeptRow>): void {
  const start = performance.now();
  for (const row of page.secrets) {
    const held = heldRow(row, rows.get(row.secret_db_id));
    rows.set(held.secretId, held);
    read.set(held.secretId, { rev: held.rev, labelHex: held.labelHex, row });
  }
  noteTime("digests", start);
}

/** @throws PortalError `list_mismatch` for a label that is not one. */
function heldRow({ label: sealedLabel, ...stored }: StoredSecret, before: AccountRow | undefined): AccountRow {
  const place = {
    secretId: stored.secret_db_id,
    version: stored.version,
    rev: revIn(sealedLabel),
    labelHex: labelDigest(sealedLabel),
  };
  const same = before?.labelHex === place.labelHex && before.version === place.version && before.label !== null;
  return {
    ...place,
    stored,
    sealedLabel: same ? before.sealedLabel : sealedLabel,
    unchecked: same && before.unchecked,
    label: same ? before.label : null,
  };
}

function revIn(label: string): number {
  try {
    return revOf(label);
  } catch (cause) {
    if (isPortalError(cause, "decryption_failed")) throw new PortalError("list_mismatch", { cause });
    throw cause;
  }
}

/** False where there is nothing to compare with. */
async function checkRows(vault: VaultContext, view: KeyringView, list: HeldList): Promise<boolean> {
  const remembered = await recall(vault);
  const expected = view.opened?.state ?? (remembered?.stateRev === view.keyring.state_rev ? remembered : null);
  // locked, and this device never opened this state: nothing to compare with yet
  if (expected?.root == null) return false;
  if (expected.count !== list.rows.size || expected.root !== rootOf([...list.rows.values()]))
    throw new PortalError("list_mismatch");
  return true;
}

/**
 * @throws PortalError `decryption_failed`; `list_mismatch` for a label that the device kept and
 *   that is not the one of the state.
 */
export function labelOf(userId: string, keys: TitlesKeys, row: AccountRow): Promise<Label> {
  if (row.label !== null) return row.label;
  const { sealedLabel } = row;
  if (sealedLabel === null) throw new TypeError("a row without its label");
  const opening = openLabelOf(userId, keys, row, sealedLabel);
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

async function openLabelOf(userId: string, keys: TitlesKeys, row: AccountRow, sealedLabel: string): Promise<Label> {
  if (row.unchecked && labelDigest(sealedLabel) !== row.labelHex) throw new PortalError("list_mismatch");
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
): { readonly opened: OpenedKeyring; readonly row: AccountRow } {
  const row = account?.rows.get(secretId);
  if (row === undefined) throw new PortalError("not_found");
  const opened = account?.view.opened ?? null;
  if (opened === null) throw new PortalError("vault_locked");
  return { opened, row };
}
