import { canonicalText, toB64u } from "@relicario/shared/api";
import type { FoundPerson, PersonKeys } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import type { Book } from "../seal/book.ts";
import { publishUntilItFits, type Attempt } from "../steps/publish.ts";
import type { AccountView } from "../steps/read-account.ts";
import { readKeyring, type OpenedKeyring } from "../steps/read-keyring.ts";
import { nextChange } from "../steps/signed-change.ts";
import { requireKeys, type ActOptions, type VaultContext } from "../vault-context.ts";
import {
  lookUp,
  presentPerson,
  refuseChanged,
  refuseOthersThan,
  withBlocked,
  withPinned,
  wordsOfKeys,
  type DirectoryEntry,
} from "./pinned-keys.ts";

/** @throws PortalError `vault_locked`, and those of {@link lookUp}. */
export async function findPerson(
  vault: VaultContext,
  userName: string,
  options: ActOptions = {},
): Promise<FoundPerson> {
  const { book } = await openedNow(vault, options.signal);
  return presentPerson(book.people, await lookUp(vault, userName, options.signal));
}

/**
 * Those in the book, the newest first, by what is pinned: the directory does not learn whom this
 * account knows. Empty while locked.
 */
export async function listPeople(vault: VaultContext): Promise<(FoundPerson & { readonly pinnedAt: string })[]> {
  if (vault.keys === null) return [];
  const { book } = await openedNow(vault);
  return book.people
    .map((person) => ({
      userId: person.user_id,
      userName: person.name,
      words: wordsOfKeys(person),
      standing: person.compared ? ("compared" as const) : ("known" as const),
      formerWords: null,
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
export async function pinPerson(vault: VaultContext, person: PersonKeys, options: ActOptions = {}): Promise<void> {
  const entry = await lookUp(vault, person.userName, options.signal);
  refuseOthersThan(person, entry);
  await changePeople(vault, (people) => withPinned(vault, people, entry), options);
}

/**
 * Pins somebody of whom nothing is. @throws PortalError `person_changed` where another device
 * pinned other keys.
 */
export async function pinUnknown(vault: VaultContext, entry: DirectoryEntry, options: ActOptions = {}): Promise<void> {
  const pinned = (people: Book["people"]): Book["people"] => {
    refuseChanged(people, entry);
    return withPinned(vault, people, entry);
  };
  await changePeople(vault, pinned, options);
}

export function setCompared(vault: VaultContext, userId: string, compared: boolean): Promise<void> {
  return changePerson(vault, userId, { compared });
}

/**
 * Blocks an account, whether it is pinned or not; the directory is asked about one that is not.
 *
 * @throws PortalError `person_changed` when it gives other keys than those whose words were shown;
 *   `not_found` when it has none, or when an account that is not pinned is to be unblocked.
 */
export async function setBlocked(vault: VaultContext, person: PersonKeys, blocked: boolean): Promise<void> {
  const { book } = await openedNow(vault);
  if (!blocked || book.people.some(({ user_id: userId }) => userId === person.userId))
    return changePerson(vault, person.userId, { blocked });
  const entry = await lookUp(vault, person.userName);
  refuseOthersThan(person, entry);
  await changePeople(vault, (people) => withBlocked(vault, people, entry));
}

/** The words of this account. @throws PortalError `vault_locked`. */
export async function ownWords(
  vault: VaultContext,
): Promise<{ readonly userName: string; readonly words: readonly string[] }> {
  const { recipient, signingKey } = requireKeys(vault);
  const { user_name: userName } = await vault.service.shares.me();
  return { userName, words: wordsOfKeys({ user_id: vault.userId, recipient, signing_key: toB64u(signingKey) }) };
}

async function changePerson(
  vault: VaultContext,
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
  vault: VaultContext,
  change: (people: Book["people"]) => Book["people"],
  options: ActOptions = {},
): Promise<void> {
  const isDone = ({ book }: OpenedKeyring): boolean =>
    canonicalText(change(book.people)) === canonicalText(book.people);
  const prepare = async (account: AccountView | null): Promise<Attempt<"done"> | { readonly done: "done" }> => {
    const opened = account?.view.opened ?? null;
    if (account === null || opened === null) throw new PortalError("vault_locked");
    if (isDone(opened)) return { done: "done" };
    const book = { ...opened.book, people: change(opened.book.people) };
    const next = await nextChange(vault, account, opened, [...account.rows.values()], { documents: { book } });
    return { change: next, send: () => vault.service.changeKeyring(next.keyring), result: "done" };
  };
  const published = ({ view }: AccountView): "done" | null =>
    view.opened !== null && isDone(view.opened) ? "done" : null;
  await publishUntilItFits(vault, { prepare, published }, options);
}

/** @throws PortalError `no_keyring`, `vault_locked`. */
async function openedNow(vault: VaultContext, signal?: AbortSignal): Promise<OpenedKeyring> {
  const view = await readKeyring(vault, signal);
  if (view === null) throw new PortalError("no_keyring");
  if (view.opened === null) throw new PortalError("vault_locked");
  return view.opened;
}
