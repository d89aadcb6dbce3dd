import { canonicalText, fromB64u, hasValidSignature, UserName, type KeyStatement } from "@relicario/shared/api";
import type { FoundPerson, PersonDetails, PersonKeys, Standing } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { isOwnKeyStatement } from "../seal/account-signatures.ts";
import { isRecipient } from "../seal/age.ts";
import type { Book, PinnedPerson } from "../seal/book.ts";
import { sha256, utf8 } from "../seal/bytes.ts";
import { timestamp } from "../seal/ids.ts";
import { wordsOf } from "../seal/words.ts";
import type { VaultContext } from "../vault-context.ts";

/*
 * [Note: Whose keys] The key directory is the service's word, and the service may say any key. A
 * statement must verify itself; then it is compared with what stands in the sealed book, where the
 * first one that was used was pinned. Other keys for an account, another account behind a name, or
 * another name for an account are a `person_changed` before anything is sealed, opened or claimed.
 * Only words that two people compared say more.
 */

/** What the key directory says of a name now, verified in itself. */
export interface DirectoryEntry {
  readonly userId: string;
  readonly userName: string;
  readonly statement: KeyStatement;
}

type Keys = Pick<KeyStatement, "user_id" | "recipient" | "signing_key">;

/**
 * Eight words: the first 88 bits of SHA-256(`relicario/v1/words` ‖ user id ‖ recipient ‖ signing
 * key).
 */
export function wordsOfKeys({ user_id: userId, recipient, signing_key: signingKey }: Keys): string[] {
  return wordsOf(sha256(utf8("relicario/v1/words"), utf8(userId), utf8(recipient), fromB64u(signingKey)));
}

/**
 * Asks the key directory.
 *
 * @throws PortalError `not_found`; `decryption_failed` for a statement that does not verify itself;
 *   `own_key_changed` when it says something else of this account than this device knows.
 */
export async function lookUp(vault: VaultContext, userName: string, signal?: AbortSignal): Promise<DirectoryEntry> {
  if (!UserName.safeParse(userName).success) throw new PortalError("not_found");
  const statement = await vault.service.shares.keyOf(userName, signal);
  if (!isRecipient(statement.recipient) || !hasValidSignature("key", statement, fromB64u(statement.signing_key)))
    throw new PortalError("decryption_failed");
  const { keys } = vault;
  if (statement.user_id === vault.userId && keys !== null && !isOwnKeyStatement(keys, vault.userId, statement))
    throw new PortalError("own_key_changed");
  return { userId: statement.user_id, userName, statement };
}

/** Somebody under a name, with keys where the directory gives any. */
type Named = Pick<DirectoryEntry, "userId" | "userName"> & { readonly statement: KeyStatement | null };

/** How well the book knows an account under a name. */
export interface Known {
  readonly standing: Standing;
  /** Whom the person knows: by this name, or else by this account. */
  readonly pinned: PinnedPerson | null;
  /** Name of {@link pinned}, where it is another one. */
  readonly formerName: string | null;
  /** The pin by which it is blocked. */
  readonly blockedBy: PinnedPerson | null;
}

/**
 * `changed`: other keys of the account, another account behind the name, or another name of the
 * account.
 */
export function knownAs(people: Book["people"], { userId, userName, statement }: Named): Known {
  const { own, rivals } = pinsOf(people, { userId, userName });
  const pinned = rivals[0] ?? own;
  if (pinned === null) return { standing: "unknown", pinned, formerName: null, blockedBy: null };
  const isSame = rivals.length === 0 && hasName(pinned, userName) && (statement === null || hasKeys(pinned, statement));
  return {
    standing: isSame ? (pinned.compared ? "compared" : "known") : "changed",
    pinned,
    formerName: hasName(pinned, userName) ? null : pinned.name,
    blockedBy: [...(own === null ? [] : [own]), ...rivals].find(({ blocked }) => blocked) ?? null,
  };
}

/**
 * The account's own pin, and those of other accounts that bear its name. Who is blocked holds no
 * name that somebody else bears.
 */
function pinsOf(
  people: Book["people"],
  { userId, userName }: Pick<Named, "userId" | "userName">,
): { readonly own: PinnedPerson | null; readonly rivals: readonly PinnedPerson[] } {
  const own = people.find((person) => person.user_id === userId) ?? null;
  const others = people.filter((person) => person.user_id !== userId && hasName(person, userName));
  const holders = others.filter(({ blocked }) => !blocked);
  return { own, rivals: holders.length > 0 || (own !== null && hasName(own, userName)) ? holders : others };
}

function hasName({ name }: PinnedPerson, userName: string): boolean {
  return name.toLowerCase() === userName.toLowerCase();
}

function hasKeys(pinned: PinnedPerson, { user_id: userId, recipient, signing_key: signingKey }: Keys): boolean {
  return pinned.user_id === userId && pinned.recipient === recipient && pinned.signing_key === signingKey;
}

export function presentPerson(people: Book["people"], entry: DirectoryEntry): FoundPerson {
  const { standing, pinned, formerName, blockedBy } = knownAs(people, entry);
  return {
    userId: entry.userId,
    userName: entry.userName,
    words: wordsOfKeys(entry.statement),
    standing,
    formerWords: pinned !== null && standing === "changed" ? wordsOfKeys(pinned) : null,
    formerName,
    blocked: blockedBy !== null,
  };
}

/** What a person is asked about: the account, its words of now, and what is pinned. */
export function personError(
  code: "person_unknown" | "person_changed" | "person_blocked",
  person: PersonDetails,
): PortalError {
  const { userId, userName, words, formerWords, formerName } = person;
  const former = {
    ...(formerWords === null ? {} : { former_words: formerWords }),
    ...(formerName === null ? {} : { former_name: formerName }),
  };
  return new PortalError(code, { details: { user_id: userId, user_name: userName, words, ...former } });
}

/** @throws PortalError `person_changed` with both sets of words. */
export function refuseChanged(people: Book["people"], entry: DirectoryEntry): void {
  const person = presentPerson(people, entry);
  if (person.standing === "changed") throw personError("person_changed", person);
}

/**
 * @throws PortalError `person_changed` when the directory gives other keys than those whose words
 *   were shown.
 */
export function refuseOthersThan({ userId, words: shown }: PersonKeys, entry: DirectoryEntry): void {
  const words = wordsOfKeys(entry.statement);
  if (entry.userId === userId && isSameWords(words, shown)) return;
  throw personError("person_changed", {
    userId: entry.userId,
    userName: entry.userName,
    words,
    formerWords: shown,
    formerName: null,
  });
}

export function isSameWords(words: readonly string[], others: readonly string[]): boolean {
  return canonicalText([...words]) === canonicalText([...others]);
}

/**
 * The people with these keys pinned, in the place of what was pinned for the account or its name
 * before. Other keys are not compared, and stay blocked.
 */
export function withPinned(vault: VaultContext, people: Book["people"], entry: DirectoryEntry): Book["people"] {
  const { standing, blockedBy } = knownAs(people, entry);
  if (standing === "known" || standing === "compared") return people;
  const { own, rivals } = pinsOf(people, entry);
  return [
    ...people.filter((person) => person !== own && !rivals.includes(person)),
    newPin(vault, entry, blockedBy !== null),
  ];
}

/**
 * The people with this account blocked. What is pinned stays as it is; a stranger is pinned by the
 * keys at hand, beside whoever has that name.
 */
export function withBlocked(vault: VaultContext, people: Book["people"], entry: DirectoryEntry): Book["people"] {
  if (!people.some((person) => person.user_id === entry.userId)) return [...people, newPin(vault, entry, true)];
  return people.map((person) => (person.user_id === entry.userId ? { ...person, blocked: true } : person));
}

function newPin(vault: VaultContext, { userName, statement }: DirectoryEntry, blocked: boolean): PinnedPerson {
  const { user_id, recipient, signing_key, key_epoch } = statement;
  return {
    user_id,
    name: userName,
    recipient,
    signing_key,
    key_epoch,
    compared: false,
    blocked,
    pinned_at: timestamp(vault.now()),
  };
}
