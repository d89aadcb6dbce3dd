import { stringifyCanonical, toBase64url } from "@relicario/shared/api";
import type { PersonRecord, PersonKeys } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { completeBook, openBookInner, type Book } from "../seal/book.ts";
import { requireVerifiedInner } from "../keyring/verified-inner.ts";
import { publishWithRetry, type Attempt } from "../keyring/publish.ts";
import type { AccountView } from "../keyring/read-account.ts";
import { refreshKeyring } from "../keyring/refresh-keyring.ts";
import type { OpenedKeyring } from "../session/keyring-views.ts";
import { buildNextChange } from "../keyring/build-keyring-change.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import {
  lookUpKeys,
  toPersonRecord,
  requireUnchangedKeys,
  requireConfirmedKeys,
  markBlocked,
  addPin,
  deriveSafetyWords,
  type DirectoryEntry,
} from "./pinned-keys.ts";

/** @throws PortalError `vault_locked`, and those of {@link lookUpKeys} */
export async function findPerson(
  vault: VaultSession,
  userName: string,
  options: OperationOptions = {},
): Promise<PersonRecord> {
  const { book } = await readOpenedKeyring(vault, options.signal);
  return toPersonRecord(book.people, await lookUpKeys(vault, userName, options.signal));
}

/**
 * Lists pinned people, newest first; empty while locked. Reads only the book, so that the directory
 * does not learn whom this account knows.
 */
export async function listPeople(vault: VaultSession): Promise<(PersonRecord & { readonly pinnedAt: string })[]> {
  if (vault.keys === null) return [];
  const { book } = await readOpenedKeyring(vault);
  return book.people
    .map((person) => ({
      userId: person.user_id,
      userName: person.name,
      safetyWords: deriveSafetyWords(person),
      trust: person.compared ? ("compared" as const) : ("known" as const),
      formerSafetyWords: null,
      formerName: null,
      blocked: person.blocked,
      pinnedAt: person.pinned_at,
    }))
    .toSorted((left, right) => (left.pinnedAt < right.pinnedAt ? 1 : -1));
}

/**
 * Pins the keys whose safety words were shown.
 * @throws PortalError `person_changed` if the directory now has other keys
 */
export async function pinPerson(
  vault: VaultSession,
  person: PersonKeys,
  options: OperationOptions = {},
): Promise<void> {
  const entry = await lookUpKeys(vault, person.userName, options.signal);
  requireConfirmedKeys(person, entry);
  await changePeople(vault, (people) => addPin(vault, people, entry), options);
}

/**
 * Pins a person who is not pinned yet.
 * @throws PortalError `person_changed` if another device has pinned other keys
 */
export async function pinUnknownPerson(
  vault: VaultSession,
  entry: DirectoryEntry,
  options: OperationOptions = {},
): Promise<void> {
  const pinEntry = (people: Book["people"]): Book["people"] => {
    requireUnchangedKeys(people, entry);
    return addPin(vault, people, entry);
  };
  await changePeople(vault, pinEntry, options);
}

export function setCompared(vault: VaultSession, userId: string, compared: boolean): Promise<void> {
  return changePerson(vault, userId, { compared });
}

/**
 * Blocks or unblocks an account. Looks up an account without a pin in the directory first.
 *
 * @throws PortalError `person_changed` if the account's keys differ from those whose words were
 *   shown; `not_found` if the account has no keys, or to unblock an account without a pin
 */
export async function setBlocked(vault: VaultSession, person: PersonKeys, blocked: boolean): Promise<void> {
  const { book } = await readOpenedKeyring(vault);
  if (!blocked || book.people.some(({ user_id: userId }) => userId === person.userId))
    return changePerson(vault, person.userId, { blocked });
  const entry = await lookUpKeys(vault, person.userName);
  requireConfirmedKeys(person, entry);
  await changePeople(vault, (people) => markBlocked(vault, people, entry));
}

/** @throws PortalError `vault_locked` */
export async function readOwnWords(
  vault: VaultSession,
): Promise<{ readonly userName: string; readonly safetyWords: readonly string[] }> {
  const { recipient, signingKey, authorKey } = vault.requireKeys();
  const { user_name: userName } = await vault.service.shares.getMe();
  return {
    userName,
    safetyWords: deriveSafetyWords({
      user_id: vault.userId,
      recipient,
      signing_key: toBase64url(signingKey),
      author_key: toBase64url(authorKey),
    }),
  };
}

async function changePerson(
  vault: VaultSession,
  userId: string,
  change: Partial<Pick<Book["people"][number], "compared" | "blocked">>,
): Promise<void> {
  await changePeople(vault, (people) => {
    if (!people.some((person) => person.user_id === userId)) throw new PortalError("not_found");
    return people.map((person) => (person.user_id === userId ? { ...person, ...change } : person));
  });
}

/** Changes the pins of the book and its `inner`. @throws PortalError `show_opener_first` */
async function changePeople(
  vault: VaultSession,
  change: (people: Book["people"]) => Book["people"],
  options: OperationOptions = {},
): Promise<void> {
  const isUnchanged = ({ book }: OpenedKeyring): boolean =>
    stringifyCanonical(change(book.people)) === stringifyCanonical(book.people);
  const prepare = async (account: AccountView | null): Promise<Attempt<"done"> | { readonly done: "done" }> => {
    const openedKeyring = account?.view.openedKeyring ?? null;
    if (account === null || openedKeyring === null) throw new PortalError("vault_locked");
    if (isUnchanged(openedKeyring)) return { done: "done" };
    const people = change(openedKeyring.book.people);
    const book = await replacePeople(vault, openedKeyring, people);
    const signedChange = await buildNextChange(vault, account, openedKeyring, [...account.rows.values()], {
      documents: { book },
    });
    return {
      change: signedChange,
      send: () => vault.service.changeKeyring(signedChange.keyringChange),
      result: "done",
    };
  };
  const findPublished = ({ view }: AccountView): "done" | null =>
    view.openedKeyring !== null && isUnchanged(view.openedKeyring) ? "done" : null;
  await publishWithRetry(vault, { prepare, findPublished }, options);
}

/** @throws PortalError `show_opener_first`, `openers_changed`, `older_state` */
export async function replacePeople(
  vault: VaultSession,
  openedKeyring: OpenedKeyring,
  people: Book["people"],
): Promise<Book> {
  await requireVerifiedInner(vault, openedKeyring);
  const { keys, book } = openedKeyring;
  const accountKey = vault.requireAccountKeyOf(keys);
  const inner = await openBookInner(accountKey, vault.userId, book);
  return completeBook(accountKey, vault.userId, { ...book, people }, inner);
}

/** @throws PortalError `no_keyring`, `vault_locked`. */
async function readOpenedKeyring(vault: VaultSession, signal?: AbortSignal): Promise<OpenedKeyring> {
  const view = await refreshKeyring(vault, signal);
  if (view === null) throw new PortalError("no_keyring");
  if (view.openedKeyring === null) throw new PortalError("vault_locked");
  return view.openedKeyring;
}
