import { canonicalText, toB64u } from "@relicario/shared/api";
import type { FoundPerson } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import type { Book } from "../seal/book.ts";
import { publishUntilItFits, type Attempt } from "../steps/publish.ts";
import type { AccountView } from "../steps/read-account.ts";
import { readKeyring, type OpenedKeyring } from "../steps/read-keyring.ts";
import { nextChange } from "../steps/signed-change.ts";
import { requireKeys, type ActOptions, type VaultContext } from "../vault-context.ts";
import { lookUp, personError, presentPerson, wordsOfKeys, withPinned } from "./pinned-keys.ts";

/** @throws PortalError `vault_locked`, and those of {@link lookUp}. */
export async function findPerson(vault: VaultContext, userName: string, options: ActOptions = {}): Promise<FoundPerson> {
  const { book } = await openedNow(vault, options.signal);
  return presentPerson(book.people, await lookUp(vault, userName, options.signal));
}

/** Those in the book, the newest first. Empty while locked. */
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
      blocked: person.blocked,
      pinnedAt: person.pinned_at,
    }))
    .toSorted((left, right) => (left.pinnedAt < right.pinnedAt ? 1 : -1));
}

/** Pins the keys that the person has seen the words of. @throws PortalError `person_changed` when the directory gives yet others. */
export async function pinPerson(vault: VaultContext, person: Pick<FoundPerson, "userId" | "userName" | "words">, options: ActOptions = {}): Promise<void> {
  const entry = await lookUp(vault, person.userName, options.signal);
  const words = wordsOfKeys(entry.statement);
  if (entry.userId !== person.userId || canonicalText(words) !== canonicalText([...person.words])) {
    throw personError("person_changed", { userName: person.userName, words, formerWords: person.words });
  }
  await changePeople(vault, (people) => withPinned(vault, people, entry), options);
}

export function setCompared(vault: VaultContext, userId: string, compared: boolean): Promise<void> {
  return changePerson(vault, userId, { compared });
}

export function setBlocked(vault: VaultContext, userId: string, blocked: boolean): Promise<void> {
  return changePerson(vault, userId, { blocked });
}

/** The words of this account. @throws PortalError `vault_locked`. */
export async function ownWords(vault: VaultContext): Promise<{ readonly userName: string; readonly words: readonly string[] }> {
  const { recipient, signingKey } = requireKeys(vault);
  const { user_name: userName } = await vault.service.shares.me();
  return { userName, words: wordsOfKeys({ user_id: vault.userId, recipient, signing_key: toB64u(signingKey) }) };
}

async function changePerson(vault: VaultContext, userId: string, change: Partial<Pick<Book["people"][number], "compared" | "blocked">>): Promise<void> {
  await changePeople(vault, (people) => {
    if (!people.some((person) => person.user_id === userId)) throw new PortalError("not_found");
    return people.map((person) => (person.user_id === userId ? { ...person, ...change } : person));
  });
}

/** The book with other people. Its `inner` is carried over byte for byte: no opener is needed. */
async function changePeople(vault: VaultContext, change: (people: Book["people"]) => Book["people"], options: ActOptions = {}): Promise<void> {
  const isDone = ({ book }: OpenedKeyring): boolean => canonicalText(change(book.people)) === canonicalText(book.people);
  const prepare = async (account: AccountView | null): Promise<Attempt<"done"> | { readonly done: "done" }> => {
    const opened = account?.view.opened ?? null;
    if (account === null || opened === null) throw new PortalError("vault_locked");
    if (isDone(opened)) return { done: "done" };
    const book = { ...opened.book, people: change(opened.book.people) };
    const next = await nextChange(vault, account, opened, [...account.rows.values()], { documents: { book } });
    return { change: next, send: () => vault.service.changeKeyring(next.keyring), result: "done" };
  };
  const published = ({ view }: AccountView): "done" | null => (view.opened !== null && isDone(view.opened) ? "done" : null);
  await publishUntilItFits(vault, { prepare, published }, options);
}

/** @throws PortalError `no_keyring`, `vault_locked`. */
async function openedNow(vault: VaultContext, signal?: AbortSignal): Promise<OpenedKeyring> {
  const view = await readKeyring(vault, signal);
  if (view === null) throw new PortalError("no_keyring");
  if (view.opened === null) throw new PortalError("vault_locked");
  return view.opened;
}
