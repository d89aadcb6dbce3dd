import { maxFileNameLength, maxOpeners, toBase64url, type Slot } from "@relicario/shared/api";
import type { AccountOpener, OpenersOverview, RecoveryCode, SecretOpeners } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import type { AccountKey } from "../seal/account-key.ts";
import { completeBook, openBookInner, type Book, type BookOpener } from "../seal/book.ts";
import { newId, formatTimestamp } from "../seal/ids.ts";
import { deriveOpenerFromSeed, sealSlot, type SlotTarget } from "../seal/opener.ts";
import { generateRecoveryCode as generateCode } from "../seal/recovery-code.ts";
import { nonEmptyText } from "../seal/text.ts";
import type { PresentedOpener, PresentedKey } from "../rpc/presented-opener.ts";
import { validate } from "../secrets/validate-request.ts";
import { readLabelledRows, type LabelledRow } from "../secrets/portable-secret.ts";
import { publishWithRetry, requireOpenedKeyring, type Attempt } from "../keyring/publish.ts";
import { readAccount, type AccountView } from "../keyring/read-account.ts";
import { deriveKeySeed } from "../openers/recognise-opener.ts";
import { obtainAccountKey } from "../openers/obtain-account-key.ts";
import { buildNextChange } from "../keyring/build-keyring-change.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import { savePasskeyOpener } from "../device/saved-keys.ts";

/**
 * Lists which openers open which secrets, according to the labels.
 * @throws PortalError `vault_locked`, and errors of reading
 */
export async function listOpeners(vault: VaultSession, options: OperationOptions = {}): Promise<OpenersOverview> {
  const account = await readAccount(vault, options.signal);
  if (account === null) return { openers: [], secrets: [] };
  const { view } = account;
  if (view.openedKeyring === null) throw new PortalError("vault_locked");
  const { book } = view.openedKeyring;
  const labelledRows = await readOpenableRows(vault, account);
  const servedSlots = new Set(view.keyring.slots.map(({ opener_id: id, kind }) => `${kind} ${id}`));
  const secrets = labelledRows
    .map((row) => toSecretOpeners(row, book))
    .sort((left, right) => (left.secretId < right.secretId ? 1 : -1));
  return {
    openers: book.openers.map((opener) =>
      toAccountOpener(opener, labelledRows, secrets, servedSlots.has(`${opener.kind} ${opener.id}`)),
    ),
    secrets,
  };
}

/**
 * Rows with their labels, except rows whose content was dropped.
 * @throws PortalError `vault_locked`
 */
export function readOpenableRows(vault: VaultSession, account: AccountView): Promise<LabelledRow[]> {
  const ids = [...account.rows.values()]
    .filter(({ storedSecret }) => storedSecret.dropped_at === undefined)
    .map(({ secretId }) => secretId);
  return readLabelledRows(vault, account, ids);
}

function toSecretOpeners({ row: { secretId }, label }: LabelledRow, { openers }: Book): SecretOpeners {
  const { title, rehearsed } = label;
  const canOpen = ({ id }: BookOpener): boolean => label.openers.includes(id);
  return {
    secretId,
    title,
    openerIds: openers.filter(canOpen).map(({ id }) => id),
    missingOpenerIds: openers.filter((opener) => !canOpen(opener)).map(({ id }) => id),
    copyCheckedAt: findNewestDate(rehearsed),
  };
}

function toAccountOpener(
  { id, kind, name, created_at: createdAt }: BookOpener,
  rows: readonly LabelledRow[],
  secrets: readonly SecretOpeners[],
  hasSlot: boolean,
): AccountOpener {
  const openedSecrets = secrets.filter(({ openerIds }) => openerIds.includes(id));
  return {
    id,
    kind,
    name,
    createdAt,
    copyCheckedAt: findNewestDate(
      rows.flatMap(({ label }) => label.rehearsed.filter(({ opener_id: openerId }) => openerId === id)),
    ),
    secretCount: openedSecrets.length,
    soleOpenerOf: openedSecrets.filter(({ openerIds }) => openerIds.length === 1).map(({ secretId }) => secretId),
    hasSlot,
  };
}

function findNewestDate(rehearsed: readonly { readonly at: string }[]): string | null {
  return rehearsed.reduce<string | null>((latest, { at }) => (latest === null || at > latest ? at : latest), null);
}

/** Generates a recovery code, which is stored nowhere and opens nothing until it is added. */
export function generateRecoveryCode(): Promise<RecoveryCode> {
  return Promise.resolve(generateCode());
}

const NameInput = z.object({ name: nonEmptyText(maxFileNameLength) });

/**
 * Adds a recovery code or passkey to the book, and a slot, with one signed change. Needs the
 * account key, from an earlier opener or from `presentedOpener`; the new key cannot authorise
 * itself.
 *
 * @throws PortalError `validation_error` for the name, `show_opener_first`,
 *   `recovery_code_unreadable`, `passkey_without_prf`, `limit_reached`, `no_keyring`, and errors of
 *   presenting and publishing
 */
export async function addOpener(
  vault: VaultSession,
  { key, name }: { readonly key: PresentedKey; readonly name: string },
  presentedOpener: PresentedOpener | null,
  options: OperationOptions = {},
): Promise<{ readonly openerId: string }> {
  validate(NameInput, { name });
  // first, so that an unreadable key is refused before an opener is presented
  const opener = await deriveOpenerFromSeed(newId(vault.now()), deriveKeySeed(key));
  try {
    const accountKey = await obtainAccountKey(vault, presentedOpener, options);
    const openerId = await registerOpener(vault, accountKey, { ...opener, kind: key.kind, name }, options);
    if (key.kind === "passkey") await savePasskeyOpener(vault, openerId);
    return { openerId };
  } finally {
    opener.wipe();
  }
}

/** An opener whose seed may be on another device. */
export interface NewOpener extends SlotTarget {
  readonly kind: BookOpener["kind"];
  readonly name: string;
}

/**
 * Adds an opener and its slot with one signed change. Idempotent by recipient.
 *
 * @returns the opener's id in the book
 * @throws PortalError `id_taken` if another opener or image has this id, `limit_reached`,
 *   `no_keyring`, and errors of publishing
 */
export function registerOpener(
  vault: VaultSession,
  accountKey: AccountKey,
  opener: NewOpener,
  options: OperationOptions,
): Promise<string> {
  const { openerId: id, kind, name, recipient } = opener;
  const entry = { id, kind, name, recipient, created_at: formatTimestamp(vault.now()) };
  const prepare = (account: AccountView | null): Promise<Attempt<string> | { done: string }> =>
    prepareRegistration(vault, account, accountKey, opener, entry);
  const findPublished = ({ view }: AccountView): string | null =>
    findByRecipient(view.openedKeyring?.book, opener)?.id ?? null;
  return publishWithRetry(vault, { prepare, findPublished }, options);
}

async function prepareRegistration(
  vault: VaultSession,
  account: AccountView | null,
  accountKey: AccountKey,
  opener: SlotTarget,
  entry: BookOpener,
): Promise<Attempt<string> | { done: string }> {
  const openedKeyring = requireOpenedKeyring(account);
  if (account === null || openedKeyring === null) throw new PortalError("no_keyring");
  const existing = findByRecipient(openedKeyring.book, opener);
  if (existing !== undefined) return { done: existing.id };
  if ([...openedKeyring.book.openers, ...openedKeyring.book.images].some(({ id }) => id === entry.id))
    throw new PortalError("id_taken"); // the slot would replace that of another opener
  if (openedKeyring.book.openers.length >= maxOpeners) throw new PortalError("limit_reached");
  const book = await buildBookWithOpeners(vault, accountKey, openedKeyring.book, [
    ...openedKeyring.book.openers,
    entry,
  ]);
  const slot: Slot = {
    opener_id: entry.id,
    kind: entry.kind,
    slot: toBase64url(await sealSlot(opener, vault.userId, accountKey)),
  };
  const change = await buildNextChange(vault, account, openedKeyring, [...account.rows.values()], {
    documents: { book },
    slots: { set: [slot], remove: [] },
  });
  return { change, send: () => vault.service.changeKeyring(change.keyringChange), result: entry.id };
}

function findByRecipient(book: Book | undefined, { recipient }: SlotTarget): BookOpener | undefined {
  return book?.openers.find((opener) => opener.recipient === recipient);
}

/**
 * Replaces the openers in the book and in its `inner`.
 * @throws PortalError `decryption_failed`
 */
export async function buildBookWithOpeners(
  vault: VaultSession,
  accountKey: AccountKey,
  book: Book,
  openers: readonly BookOpener[],
): Promise<Book> {
  const inner = await openBookInner(accountKey, vault.userId, book);
  return completeBook(accountKey, vault.userId, { ...book, openers: [...openers] }, inner);
}
