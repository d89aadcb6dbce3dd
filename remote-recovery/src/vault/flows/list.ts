import { Id, type StoredSecret } from "@relicario/shared/api";
import type { SecretLabel, SecretRow } from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import { openLabel, revOf, type Label } from "../seal/label.ts";
import { rootOf, type RootRow } from "../seal/state.ts";
import type { Session } from "../session.ts";
import { readKeyring, recall, withSecondReading, type KeyringView, type OpenedKeyring } from "./read-keyring.ts";

/** Everything of the account at one `state_rev`: keyring and rows that fit each other. */
export interface AccountView {
  readonly view: KeyringView;
  /** Sorted by id, trash included. */
  readonly rows: readonly StoredSecret[];
}

/** Labels opened at once: enough to keep WebCrypto busy, few enough to stay responsive. */
const batch = 500;

/** Writers move on between our two calls; so often we read again before it counts as a mismatch. */
const patience = 3;

/**
 * All rows, trash included. Labels are null while locked.
 *
 * @throws PortalError `list_mismatch`, `older_state`, `keyring_missing`.
 */
export async function list(session: Session, signal?: AbortSignal): Promise<SecretRow[]> {
  const account = await readAccount(session, signal);
  if (account === null) return [];
  const { view, rows } = account;
  if (view.opened === null) return rows.map((row) => presentRow(row, null));
  const labels = await openLabels(session, view.opened, rows);
  return rows.map((row, index) => presentRow(row, labels[index] ?? null));
}

/**
 * Reads the keyring first, then the whole list, which must have its `state_rev`, its count and its root. Null when
 * nothing was ever kept.
 */
export function readAccount(session: Session, signal?: AbortSignal): Promise<AccountView | null> {
  return withSecondReading(async () => {
    for (let reading = 1; ; reading++) {
      const view = await readKeyring(session, signal);
      if (view === null) return null;
      const { rows, stateRev } = await readRows(session, signal);
      if (stateRev === view.keyring.state_rev) {
        await checkRows(session, view, rows);
        return { view, rows };
      }
      if (stateRev < view.keyring.state_rev || reading >= patience) throw new PortalError("list_mismatch");
    }
  });
}

/** Pages of the list that all carry one `state_rev`; when it changes between pages, reading starts anew. */
async function readRows(session: Session, signal: AbortSignal | undefined): Promise<{ rows: StoredSecret[]; stateRev: number }> {
  for (let reading = 1; reading <= patience; reading++) {
    const first = await session.service.page(null, signal);
    const rows = [...first.secrets];
    let page = first;
    while (page.next_cursor !== null && page.state_rev === first.state_rev) {
      page = await session.service.page(Id.parse(page.next_cursor), signal);
      if (page.secrets.length === 0) throw new PortalError("list_mismatch"); // a cursor that leads nowhere would never end
      rows.push(...page.secrets);
    }
    if (page.state_rev !== first.state_rev) continue;
    if (rows.length !== page.total) throw new PortalError("list_mismatch");
    rows.sort((left, right) => (left.secret_db_id < right.secret_db_id ? -1 : 1));
    return { rows, stateRev: page.state_rev };
  }
  throw new PortalError("list_mismatch");
}

async function checkRows(session: Session, view: KeyringView, rows: readonly StoredSecret[]): Promise<void> {
  if (new Set(rows.map((row) => row.secret_db_id)).size !== rows.length) throw new PortalError("list_mismatch");
  const remembered = await recall(session);
  const expected = view.opened?.state ?? (remembered?.stateRev === view.keyring.state_rev ? remembered : null);
  if (expected === null) return; // locked, and this device never saw this state: nothing to compare with yet
  if (expected.count !== rows.length || expected.root !== rootOf(rows.map(rootRow))) throw new PortalError("list_mismatch");
}

/** A row as the root sees it. @throws PortalError `list_mismatch` for a label that is not one. */
export function rootRow(row: StoredSecret): RootRow {
  try {
    return { secretId: row.secret_db_id, version: row.version, rev: revOf(row.label), label: row.label };
  } catch (cause) {
    if (isPortalError(cause, "decryption_failed")) throw new PortalError("list_mismatch", { cause });
    throw cause;
  }
}

async function openLabels(session: Session, opened: OpenedKeyring, rows: readonly StoredSecret[]): Promise<Label[]> {
  const labels: Label[] = [];
  for (let start = 0; start < rows.length; start += batch) {
    labels.push(...(await Promise.all(rows.slice(start, start + batch).map((row) => openLabel(opened.keys, session.userId, rootRow(row), row.label)))));
  }
  return labels;
}

export function presentRow(row: StoredSecret, label: Label | null): SecretRow {
  return {
    secretId: row.secret_db_id,
    version: row.version,
    rev: rootRow(row).rev,
    favorite: row.favorite,
    sealedSize: row.size,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    deletedAt: row.deleted_at ?? null,
    label: label === null ? null : presentLabel(label),
  };
}

function presentLabel(label: Label): SecretLabel {
  const { title, tags, name, size, openers } = label;
  return { title, tags, contentKind: label.content_kind, name, size, openers, rehearsedAt: label.rehearsed_at };
}
