import { maxFileNameLength, maxOpeners, toB64u, type Slot } from "@relicario/shared/api";
import type { AccountOpener, OpenersOverview, RecoveryCode, SecretOpeners } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import type { AccountKey } from "../seal/account-key.ts";
import { openBookInner, sealBookInner, type Book, type BookOpener } from "../seal/book.ts";
import { newId, timestamp } from "../seal/ids.ts";
import { openerFromSeed, sealSlot, type SlotMaker } from "../seal/opener.ts";
import { newRecoveryCode as newCode } from "../seal/recovery-code.ts";
import { text } from "../seal/text.ts";
import type { Shown, ShownKey } from "../shown-image.ts";
import { check } from "../steps/check-request.ts";
import { labelledRows, type LabelledRow } from "../steps/leaving-secret.ts";
import { publishUntilItFits, requireOpened, type Attempt } from "../steps/publish.ts";
import { readAccount, type AccountView } from "../steps/read-account.ts";
import { seedOfKey } from "../steps/recognise-opener.ts";
import { requireAccountKey } from "../steps/show-opener.ts";
import { nextChange } from "../steps/signed-change.ts";
import type { ActOptions, VaultContext } from "../vault-context.ts";
import { lockByPasskey } from "./unlock.ts";

/**
 * What opens what today, by the labels. @throws PortalError `vault_locked`, and those of reading.
 */
export async function listOpeners(vault: VaultContext, options: ActOptions = {}): Promise<OpenersOverview> {
  const account = await readAccount(vault, options.signal);
  if (account === null) return { openers: [], secrets: [] };
  const { view } = account;
  if (view.opened === null) throw new PortalError("vault_locked");
  const { book } = view.opened;
  const rows = await openableRows(vault, account);
  const served = new Set(view.keyring.slots.map(({ opener_id: id, kind }) => `${kind} ${id}`));
  const secrets = rows
    .map((row) => openersOf(row, book))
    .sort((left, right) => (left.secretId < right.secretId ? 1 : -1));
  return {
    openers: book.openers.map((opener) =>
      presentOpener(opener, rows, secrets, served.has(`${opener.kind} ${opener.id}`)),
    ),
    secrets,
  };
}

/** Rows whose content is there, with their labels. @throws PortalError `vault_locked`. */
export function openableRows(vault: VaultContext, account: AccountView): Promise<LabelledRow[]> {
  const ids = [...account.rows.values()]
    .filter(({ stored }) => stored.dropped_at === undefined)
    .map(({ secretId }) => secretId);
  return labelledRows(vault, account, ids);
}

function openersOf({ row: { secretId }, label }: LabelledRow, { openers }: Book): SecretOpeners {
  const { title, rehearsed } = label;
  const opens = ({ id }: BookOpener): boolean => label.openers.includes(id);
  return {
    secretId,
    title,
    openers: openers.filter(opens).map(({ id }) => id),
    missing: openers.filter((opener) => !opens(opener)).map(({ id }) => id),
    rehearsedAt: newest(rehearsed),
  };
}

function presentOpener(
  { id, kind, name, created_at: createdAt }: BookOpener,
  rows: readonly LabelledRow[],
  secrets: readonly SecretOpeners[],
  served: boolean,
): AccountOpener {
  const opened = secrets.filter(({ openers }) => openers.includes(id));
  return {
    id,
    kind,
    name,
    createdAt,
    rehearsedAt: newest(
      rows.flatMap(({ label }) => label.rehearsed.filter(({ opener_id: openerId }) => openerId === id)),
    ),
    opens: opened.length,
    onlyWayTo: opened.filter(({ openers }) => openers.length === 1).map(({ secretId }) => secretId),
    served,
  };
}

function newest(rehearsed: readonly { readonly at: string }[]): string | null {
  return rehearsed.reduce<string | null>((before, { at }) => (before === null || at > before ? at : before), null);
}

/** A code that opens nothing yet; it is kept nowhere. */
export function newRecoveryCode(): Promise<RecoveryCode> {
  return Promise.resolve(newCode());
}

const Named = z.object({ name: text(maxFileNameLength) });

/**
 * Enters a code or a passkey into the book, with a slot of its own, by one signed change. The
 * account key is there already or comes by an opener that is shown; what is added cannot vouch for
 * itself.
 *
 * @throws PortalError `validation_error` for its name, `show_opener_first`,
 *   `recovery_code_unreadable`, `passkey_without_prf`, `limit_reached`, `no_keyring`, and those of
 *   showing and publishing.
 */
export async function addOpener(
  vault: VaultContext,
  { key, name }: { readonly key: ShownKey; readonly name: string },
  shown: Shown | null,
  options: ActOptions = {},
): Promise<{ readonly openerId: string }> {
  check(Named, { name });
  // first: what cannot be read is refused before anything is shown
  const opener = await openerFromSeed(newId(vault.now()), seedOfKey(key));
  try {
    const accountKey = await requireAccountKey(vault, shown, options);
    const openerId = await enterOpener(vault, accountKey, { ...opener, kind: key.kind, name }, options);
    if (key.kind === "passkey") await lockByPasskey(vault, openerId);
    return { openerId };
  } finally {
    opener.forget();
  }
}

/** What enters the book. Its seed may be on another device. */
export interface NewOpener extends SlotMaker {
  readonly kind: BookOpener["kind"];
  readonly name: string;
}

/**
 * Book and slot, by one signed change. The same opener once more is there already.
 *
 * @returns its id in the book
 * @throws PortalError `id_taken` when something else has its id, `limit_reached`, `no_keyring`, and
 *   those of publishing.
 */
export function enterOpener(
  vault: VaultContext,
  accountKey: AccountKey,
  opener: NewOpener,
  options: ActOptions,
): Promise<string> {
  const { openerId: id, kind, name, recipient } = opener;
  const entry = { id, kind, name, recipient, created_at: timestamp(vault.now()) };
  const prepare = (account: AccountView | null): Promise<Attempt<string> | { done: string }> =>
    enter(vault, account, accountKey, opener, entry);
  const published = ({ view }: AccountView): string | null => standing(view.opened?.book, opener)?.id ?? null;
  return publishUntilItFits(vault, { prepare, published }, options);
}

async function enter(
  vault: VaultContext,
  account: AccountView | null,
  accountKey: AccountKey,
  opener: SlotMaker,
  entry: BookOpener,
): Promise<Attempt<string> | { done: string }> {
  const opened = requireOpened(account);
  if (account === null || opened === null) throw new PortalError("no_keyring");
  const there = standing(opened.book, opener);
  if (there !== undefined) return { done: there.id };
  if ([...opened.book.openers, ...opened.book.images].some(({ id }) => id === entry.id))
    throw new PortalError("id_taken"); // its slot would replace another's
  if (opened.book.openers.length >= maxOpeners) throw new PortalError("limit_reached");
  const book = await withOpeners(vault, accountKey, opened.book, [...opened.book.openers, entry]);
  const slot: Slot = {
    opener_id: entry.id,
    kind: entry.kind,
    slot: toB64u(await sealSlot(opener, vault.userId, accountKey)),
  };
  const change = await nextChange(vault, account, opened, [...account.rows.values()], {
    documents: { book },
    slots: { set: [slot], remove: [] },
  });
  return { change, send: () => vault.service.changeKeyring(change.keyring), result: entry.id };
}

function standing(book: Book | undefined, { recipient }: SlotMaker): BookOpener | undefined {
  return book?.openers.find((one) => one.recipient === recipient);
}

/** The book with these openers, outside and inside. @throws PortalError `decryption_failed`. */
export async function withOpeners(
  vault: VaultContext,
  accountKey: AccountKey,
  book: Book,
  openers: readonly BookOpener[],
): Promise<Book> {
  const inner = await openBookInner(accountKey, vault.userId, book);
  const sealed = await sealBookInner(accountKey, vault.userId, {
    ...inner,
    openers: openers.map(({ id, recipient }) => ({ id, recipient })),
  });
  return { ...book, openers: [...openers], inner: sealed };
}
