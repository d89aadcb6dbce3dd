import { stringifyCanonical, toBase64url } from "@relicario/shared/api";
import type { PersonRecord, PersonKeys } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import type { Book } from "../seal/book.ts";
import { publishWithRetry, type Attempt } from "../keyring/publish.ts";
import type { AccountView } from "../keyring/read-account.ts";
import { refreshKeyring } from "../keyring/refresh-keyring.ts";
import type { OpenedKeyring } from "../session/keyring-views.ts";
import { buildNextChange } from "../keyring/build-keyring-change.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import type { VaultSession } from "../session/vault-session.ts";
import {
  lookUpKeys,
  toFoundPerson,
  requireUnchangedKeys,
  requireConfirmedKeys,
  withBlocked,
  withPinned,
  safetyWordsOf,
  type DirectoryEntry,
} from "./pinned-keys.ts";

/** @throws PortalError `vault_locked`, and those of {@link lookUpKeys}. */
export async function findPerson(
  vault: VaultSession,
  userName: string,
  options: OperationOptions = {},
): Promise<PersonRecord> {
  const { book } = await requireOpenedKeyring(vault, options.signal);
  return toFoundPerson(book.people, await lookUpKeys(vault, userName, options.signal));
}

/**
 * Those in the book, the newest first, by what is pinned: the directory does not learn whom this
 * account knows. Empty while locked.
 */
export async function listPeople(vault: VaultSession): Promise<(PersonRecord & { readonly pinnedAt: string })[]> {
  if (vault.keys === null) return [];
  const { book } = await requireOpenedKeyring(vault);
  return book.people
    .map((person) => ({
      userId: person.user_id,
      userName: person.name,
      safetyWords: safetyWordsOf(person),
      trust: person.compared ? ("compared" as const) : ("known" as const),
      formerSafetyWords: null,
      formerName: null,
      blocked: person.blocked,
      pinnedAt: person.pinned_at,
    }))
    .toSorted((left, right) => (left.pinnedAt < right.pinnedAt ? 1 : -1));
}

/**
 * Pins the keys that the person has seen the words of. @throws PortalError `person_changed` when
 * the directory gives yet others.
 */
export async function pinPerson(
  vault: VaultSession,
  person: PersonKeys,
  options: OperationOptions = {},
): Promise<void> {
  const entry = await lookUpKeys(vault, person.userName, options.signal);
  requireConfirmedKeys(person, entry);
  await changePeople(vault, (people) => withPinned(vault, people, entry), options);
}

/**
 * Pins somebody of whom nothing is. @throws PortalError `person_changed` where another device
 * pinned other keys.
 */
export async function pinUnknown(
  vault: VaultSession,
  entry: DirectoryEntry,
  options: OperationOptions = {},
): Promise<void> {
  const addPin = (people: Book["people"]): Book["people"] => {
    requireUnchangedKeys(people, entry);
    return withPinned(vault, people, entry);
  };
  await changePeople(vault, addPin, options);
}

export function setCompared(vault: VaultSession, userId: string, compared: boolean): Promise<void> {
  return changePerson(vault, userId, { compared });
}

/**
 * Blocks an account, whether it is pinned or not; the directory is asked about one that is not.
 *
 * @throws PortalError `person_changed` when it gives other keys than those whose words were shown;
 *   `not_found` when it has none, or when an account that is not pinned is to be unblocked.
 */
export async function setBlocked(vault: VaultSession, person: PersonKeys, blocked: boolean): Promise<void> {
  const { book } = await requireOpenedKeyring(vault);
  if (!blocked || book.people.some(({ user_id: userId }) => userId === person.userId))
    return changePerson(vault, person.userId, { blocked });
  const entry = await lookUpKeys(vault, person.userName);
  requireConfirmedKeys(person, entry);
  await changePeople(vault, (people) => withBlocked(vault, people, entry));
}

/** The words of this account. @throws PortalError `vault_locked`. */
export async function readOwnWords(
  vault: VaultSession,
): Promise<{ readonly userName: string; readonly safetyWords: readonly string[] }> {
  const { recipient, signingKey } = vault.requireKeys();
  const { user_name: userName } = await vault.service.shares.getMe();
  return {
    userName,
    safetyWords: safetyWordsOf({ user_id: vault.userId, recipient, signing_key: toBase64url(signingKey) }),
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

/** The book with other people. Its `inner` is carried over byte for byte: no opener is needed. */
async function changePeople(
  vault: VaultSession,
  change: (people: Book["people"]) => Book["people"],
  options: OperationOptions = {},
): Promise<void> {
  const isDone = ({ book }: OpenedKeyring): boolean =>
    stringifyCanonical(change(book.people)) === stringifyCanonical(book.people);
  const prepare = async (account: AccountView | null): Promise<Attempt<"done"> | { readonly done: "done" }> => {
    const openedKeyring = account?.view.openedKeyring ?? null;
    if (account === null || openedKeyring === null) throw new PortalError("vault_locked");
    if (isDone(openedKeyring)) return { done: "done" };
    const book = { ...openedKeyring.book, people: change(openedKeyring.book.people) };
    const next = await buildNextChange(vault, account, openedKeyring, [...account.rows.values()], {
      documents: { book },
    });
    return { change: next, send: () => vault.service.changeKeyring(next.keyring), result: "done" };
  };
  const findPublished = ({ view }: AccountView): "done" | null =>
    view.openedKeyring !== null && isDone(view.openedKeyring) ? "done" : null;
  await publishWithRetry(vault, { prepare, findPublished }, options);
}

/** @throws PortalError `no_keyring`, `vault_locked`. */
async function requireOpenedKeyring(vault: VaultSession, signal?: AbortSignal): Promise<OpenedKeyring> {
  const view = await refreshKeyring(vault, signal);
  if (view === null) throw new PortalError("no_keyring");
  if (view.openedKeyring === null) throw new PortalError("vault_locked");
  return view.openedKeyring;
}
