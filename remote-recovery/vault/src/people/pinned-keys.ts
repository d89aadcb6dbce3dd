import { stringifyCanonical, fromBase64url, UserName, type KeyStatement } from "@relicario/shared/api";
import { isSelfSigned } from "@relicario/shared/api/signatures";
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
 * [Note: Whose keys] The key directory belongs to the service, which could return any key. So a key
 * statement must be signed by its own key, and is then compared with the sealed book, which pinned
 * the keys on first use. The error is `person_changed` if an account has other keys, a name belongs
 * to another account, or an account has another name. It is thrown before anything is sealed,
 * opened or claimed. Only safety words that two people have compared prove more.
 */

/** An account of the directory, with a verified statement. */
export interface DirectoryEntry {
  readonly userId: string;
  readonly userName: string;
  readonly statement: KeyStatement;
}

type PublicKeys = Pick<KeyStatement, "user_id" | "recipient" | "signing_key" | "author_key">;

/**
 * Eight words: the first 88 bits of SHA-256(`relicario/v1/words` ‖ user id ‖ recipient ‖ signing
 * key ‖ author key).
 */
export function deriveSafetyWords(keys: PublicKeys): string[] {
  return encodeDigestAsWords(
    sha256(
      utf8("relicario/v1/words"),
      utf8(keys.user_id),
      utf8(keys.recipient),
      fromBase64url(keys.signing_key),
      fromBase64url(keys.author_key),
    ),
  );
}

/**
 * @throws PortalError `not_found`; `decryption_failed` if the statement is not signed by its own
 *   key; `own_key_changed` if this account's keys differ from those of this device
 */
export async function lookUpKeys(vault: VaultSession, userName: string, signal?: AbortSignal): Promise<DirectoryEntry> {
  if (!UserName.safeParse(userName).success) throw new PortalError("not_found");
  const statement = await vault.service.shares.getKeyStatement(userName, signal);
  if (!isRecipient(statement.recipient) || !isSelfSigned(statement)) throw new PortalError("decryption_failed");
  const { keys } = vault;
  if (statement.user_id === vault.userId && keys !== null && !isOwnKeyStatement(keys, vault.userId, statement))
    throw new PortalError("own_key_changed");
  return { userId: statement.user_id, userName, statement };
}

/** An account as named by the service. `statement` is null if the directory has none. */
type NamedAccount = Pick<DirectoryEntry, "userId" | "userName"> & { readonly statement: KeyStatement | null };

export interface TrustAssessment {
  readonly trust: TrustLevel;
  /** The pin with this name; without one, the pin of this account. */
  readonly pin: PinnedPerson | null;
  /** Name of {@link pin} if it differs, else null. */
  readonly formerName: string | null;
  /** The pin that blocks the account; null if it is not blocked. */
  readonly blockedBy: PinnedPerson | null;
}

/**
 * Compares an account with the pins. The trust is `changed` if the account has other keys or
 * another name, or if the name belongs to another account.
 */
export function assessTrust(people: Book["people"], { userId, userName, statement }: NamedAccount): TrustAssessment {
  const { ownPin, rivalPins } = findPins(people, { userId, userName });
  const pinned = rivalPins[0] ?? ownPin;
  if (pinned === null) return { trust: "unknown", pin: pinned, formerName: null, blockedBy: null };
  const isUnchanged =
    rivalPins.length === 0 && hasName(pinned, userName) && (statement === null || hasKeys(pinned, statement));
  return {
    trust: isUnchanged ? (pinned.compared ? "compared" : "known") : "changed",
    pin: pinned,
    formerName: hasName(pinned, userName) ? null : pinned.name,
    blockedBy: [...(ownPin === null ? [] : [ownPin]), ...rivalPins].find(({ blocked }) => blocked) ?? null,
  };
}

/**
 * Finds the account's own pin, and pins of other accounts with its name. Blocked accounts do not
 * count if an unblocked account has the name.
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

function hasKeys(pinned: PinnedPerson, keys: PublicKeys): boolean {
  return (["user_id", "recipient", "signing_key", "author_key"] as const).every((name) => pinned[name] === keys[name]);
}

export function toPersonRecord(people: Book["people"], entry: DirectoryEntry): PersonRecord {
  const { trust, pin, formerName, blockedBy } = assessTrust(people, entry);
  return {
    userId: entry.userId,
    userName: entry.userName,
    safetyWords: deriveSafetyWords(entry.statement),
    trust,
    formerSafetyWords: pin !== null && trust === "changed" ? deriveSafetyWords(pin) : null,
    formerName,
    blocked: blockedBy !== null,
  };
}

/**
 * Creates an error with what the person needs to decide: the account, its current words, and the
 * pinned words.
 */
export function createPersonError(
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

/** @throws PortalError `person_changed` with both sets of words */
export function requireUnchangedKeys(people: Book["people"], entry: DirectoryEntry): void {
  const person = toPersonRecord(people, entry);
  if (person.trust === "changed") throw createPersonError("person_changed", person);
}

/**
 * @throws PortalError `person_changed` if the directory's keys differ from those whose words were
 *   shown
 */
export function requireConfirmedKeys({ userId, safetyWords: confirmedWords }: PersonKeys, entry: DirectoryEntry): void {
  const safetyWords = deriveSafetyWords(entry.statement);
  if (entry.userId === userId && hasSameWords(safetyWords, confirmedWords)) return;
  throw createPersonError("person_changed", {
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
 * Pins these keys in place of the former pins of the account or its name. New keys count as not
 * compared; a block stays.
 */
export function addPin(vault: VaultSession, people: Book["people"], entry: DirectoryEntry): Book["people"] {
  const { trust, blockedBy } = assessTrust(people, entry);
  if (trust === "known" || trust === "compared") return people;
  const { ownPin, rivalPins } = findPins(people, entry);
  return [
    ...people.filter((person) => person !== ownPin && !rivalPins.includes(person)),
    createPin(vault, entry, blockedBy !== null),
  ];
}

/**
 * Blocks this account. A pinned account keeps its keys. An unknown account is pinned with its
 * current keys, in addition to other accounts with its name.
 */
export function markBlocked(vault: VaultSession, people: Book["people"], entry: DirectoryEntry): Book["people"] {
  if (!people.some((person) => person.user_id === entry.userId)) return [...people, createPin(vault, entry, true)];
  return people.map((person) => (person.user_id === entry.userId ? { ...person, blocked: true } : person));
}

function createPin(vault: VaultSession, { userName, statement }: DirectoryEntry, blocked: boolean): PinnedPerson {
  const { user_id, recipient, signing_key, author_key, key_epoch } = statement;
  return {
    user_id,
    name: userName,
    recipient,
    signing_key,
    author_key,
    key_epoch,
    compared: false,
    blocked,
    pinned_at: formatTimestamp(vault.now()),
  };
}
