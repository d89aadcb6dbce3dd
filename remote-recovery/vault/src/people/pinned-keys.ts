import {
  stringifyCanonical,
  fromBase64url,
  hasValidSignature,
  UserName,
  type KeyStatement,
} from "@relicario/shared/api";
import type { PersonRecord, PersonDetails, PersonKeys, TrustLevel } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { isOwnKeyStatement } from "../seal/account-signatures.ts";
import { isRecipient } from "../seal/age.ts";
import type { Book, PinnedPerson } from "../seal/book.ts";
import { sha256, utf8 } from "../seal/bytes.ts";
import { formatTimestamp } from "../seal/ids.ts";
import { encodeDigestAsWords } from "../seal/mnemonic.ts";
import type { VaultSession } from "../session/vault-session.ts";

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

type PublicKeys = Pick<KeyStatement, "user_id" | "recipient" | "signing_key">;

/**
 * Eight words: the first 88 bits of SHA-256(`relicario/v1/words` ‖ user id ‖ recipient ‖ signing
 * key).
 */
export function safetyWordsOf({ user_id: userId, recipient, signing_key: signingKey }: PublicKeys): string[] {
  return encodeDigestAsWords(
    sha256(utf8("relicario/v1/words"), utf8(userId), utf8(recipient), fromBase64url(signingKey)),
  );
}

/**
 * Asks the key directory.
 *
 * @throws PortalError `not_found`; `decryption_failed` for a statement that does not verify itself;
 *   `own_key_changed` when it says something else of this account than this device knows.
 */
export async function lookUpKeys(vault: VaultSession, userName: string, signal?: AbortSignal): Promise<DirectoryEntry> {
  if (!UserName.safeParse(userName).success) throw new PortalError("not_found");
  const statement = await vault.service.shares.getKeyStatement(userName, signal);
  if (!isRecipient(statement.recipient) || !hasValidSignature("key", statement, fromBase64url(statement.signing_key)))
    throw new PortalError("decryption_failed");
  const { keys } = vault;
  if (statement.user_id === vault.userId && keys !== null && !isOwnKeyStatement(keys, vault.userId, statement))
    throw new PortalError("own_key_changed");
  return { userId: statement.user_id, userName, statement };
}

/** Somebody under a name, with keys where the directory gives any. */
type NamedAccount = Pick<DirectoryEntry, "userId" | "userName"> & { readonly statement: KeyStatement | null };

/** How well the book knows an account under a name. */
export interface TrustAssessment {
  readonly trust: TrustLevel;
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
export function assessTrust(people: Book["people"], { userId, userName, statement }: NamedAccount): TrustAssessment {
  const { ownPin, rivalPins } = findPins(people, { userId, userName });
  const pinned = rivalPins[0] ?? ownPin;
  if (pinned === null) return { trust: "unknown", pinned, formerName: null, blockedBy: null };
  const isUnchanged =
    rivalPins.length === 0 && hasName(pinned, userName) && (statement === null || hasKeys(pinned, statement));
  return {
    trust: isUnchanged ? (pinned.compared ? "compared" : "known") : "changed",
    pinned,
    formerName: hasName(pinned, userName) ? null : pinned.name,
    blockedBy: [...(ownPin === null ? [] : [ownPin]), ...rivalPins].find(({ blocked }) => blocked) ?? null,
  };
}

/**
 * The account's own pin, and those of other accounts that bear its name. Who is blocked holds no
 * name that somebody else bears.
 */
function findPins(
  people: Book["people"],
  { userId, userName }: Pick<NamedAccount, "userId" | "userName">,
): { readonly ownPin: PinnedPerson | null; readonly rivalPins: readonly PinnedPerson[] } {
  const ownPin = people.find((person) => person.user_id === userId) ?? null;
  const otherPins = people.filter((person) => person.user_id !== userId && hasName(person, userName));
  const holders = otherPins.filter(({ blocked }) => !blocked);
  return {
    ownPin,
    rivalPins: holders.length > 0 || (ownPin !== null && hasName(ownPin, userName)) ? holders : otherPins,
  };
}

function hasName({ name }: PinnedPerson, userName: string): boolean {
  return name.toLowerCase() === userName.toLowerCase();
}

function hasKeys(pinned: PinnedPerson, { user_id: userId, recipient, signing_key: signingKey }: PublicKeys): boolean {
  return pinned.user_id === userId && pinned.recipient === recipient && pinned.signing_key === signingKey;
}

export function toFoundPerson(people: Book["people"], entry: DirectoryEntry): PersonRecord {
  const { trust, pinned, formerName, blockedBy } = assessTrust(people, entry);
  return {
    userId: entry.userId,
    userName: entry.userName,
    safetyWords: safetyWordsOf(entry.statement),
    trust,
    formerSafetyWords: pinned !== null && trust === "changed" ? safetyWordsOf(pinned) : null,
    formerName,
    blocked: blockedBy !== null,
  };
}

/** What a person is asked about: the account, its words of now, and what is pinned. */
export function personError(
  code: "person_unknown" | "person_changed" | "person_blocked",
  person: PersonDetails,
): PortalError {
  const { userId, userName, safetyWords, formerSafetyWords, formerName } = person;
  const former = {
    ...(formerSafetyWords === null ? {} : { former_words: formerSafetyWords }),
    ...(formerName === null ? {} : { former_name: formerName }),
  };
  return new PortalError(code, { details: { user_id: userId, user_name: userName, words: safetyWords, ...former } });
}

/** @throws PortalError `person_changed` with both sets of words. */
export function requireUnchangedKeys(people: Book["people"], entry: DirectoryEntry): void {
  const person = toFoundPerson(people, entry);
  if (person.trust === "changed") throw personError("person_changed", person);
}

/**
 * @throws PortalError `person_changed` when the directory gives other keys than those whose words
 *   were shown.
 */
export function requireConfirmedKeys({ userId, safetyWords: confirmedWords }: PersonKeys, entry: DirectoryEntry): void {
  const safetyWords = safetyWordsOf(entry.statement);
  if (entry.userId === userId && hasSameWords(safetyWords, confirmedWords)) return;
  throw personError("person_changed", {
    userId: entry.userId,
    userName: entry.userName,
    safetyWords,
    formerSafetyWords: confirmedWords,
    formerName: null,
  });
}

export function hasSameWords(words: readonly string[], otherWords: readonly string[]): boolean {
  return stringifyCanonical([...words]) === stringifyCanonical([...otherWords]);
}

/**
 * The people with these keys pinned, in the place of what was pinned for the account or its name
 * before. Other keys are not compared, and stay blocked.
 */
export function withPinned(vault: VaultSession, people: Book["people"], entry: DirectoryEntry): Book["people"] {
  const { trust, blockedBy } = assessTrust(people, entry);
  if (trust === "known" || trust === "compared") return people;
  const { ownPin, rivalPins } = findPins(people, entry);
  return [
    ...people.filter((person) => person !== ownPin && !rivalPins.includes(person)),
    createPin(vault, entry, blockedBy !== null),
  ];
}

/**
 * The people with this account blocked. What is pinned stays as it is; a stranger is pinned by the
 * keys at hand, beside whoever has that name.
 */
export function withBlocked(vault: VaultSession, people: Book["people"], entry: DirectoryEntry): Book["people"] {
  if (!people.some((person) => person.user_id === entry.userId)) return [...people, createPin(vault, entry, true)];
  return people.map((person) => (person.user_id === entry.userId ? { ...person, blocked: true } : person));
}

function createPin(vault: VaultSession, { userName, statement }: DirectoryEntry, blocked: boolean): PinnedPerson {
  const { user_id, recipient, signing_key, key_epoch } = statement;
  return {
    user_id,
    name: userName,
    recipient,
    signing_key,
    key_epoch,
    compared: false,
    blocked,
    pinned_at: formatTimestamp(vault.now()),
  };
}
