import { canonicalText, fromB64u, hasValidSignature, UserName, type KeyStatement } from "@relicario/shared/api";
import type { FoundPerson, Standing } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { isOwnKeyStatement } from "../seal/account-signatures.ts";
import { isRecipient } from "../seal/age.ts";
import type { Book, PinnedPerson } from "../seal/book.ts";
import { sha256, utf8 } from "../seal/bytes.ts";
import { timestamp } from "../seal/ids.ts";
import { wordsOf } from "../seal/words.ts";
import type { VaultContext } from "../vault-context.ts";

/*
 * [Note: Whose keys]
 * The key directory is the service's word, and the service may say any key. A statement must verify itself; then it is compared
 * with what stands in the sealed book, where the first one that was used was pinned. Other keys for an account, or another account
 * behind a name, are a `person_changed` before anything is sealed, opened or claimed. Only words that two people compared say more.
 */

/** What the key directory says of a name now, verified in itself. */
export interface DirectoryEntry {
  readonly userId: string;
  readonly userName: string;
  readonly statement: KeyStatement;
}

type Keys = Pick<KeyStatement, "user_id" | "recipient" | "signing_key">;

/** Eight words: the first 88 bits of SHA-256(`relicario/v1/words` ‖ user id ‖ recipient ‖ signing key). */
export function wordsOfKeys({ user_id: userId, recipient, signing_key: signingKey }: Keys): string[] {
  return wordsOf(sha256(utf8("relicario/v1/words"), utf8(userId), utf8(recipient), fromB64u(signingKey)));
}

/**
 * Asks the key directory.
 *
 * @throws PortalError `not_found`; `decryption_failed` for a statement that does not verify itself; `own_key_changed` when it says
 *   something else of this account than this device knows.
 */
export async function lookUp(vault: VaultContext, userName: string, signal?: AbortSignal): Promise<DirectoryEntry> {
  if (!UserName.safeParse(userName).success) throw new PortalError("not_found");
  const statement = await vault.service.shares.keyOf(userName, signal);
  if (!isRecipient(statement.recipient) || !hasValidSignature("key", statement, fromB64u(statement.signing_key))) throw new PortalError("decryption_failed");
  const { keys } = vault;
  if (statement.user_id === vault.userId && keys !== null && !isOwnKeyStatement(keys, vault.userId, statement)) throw new PortalError("own_key_changed");
  return { userId: statement.user_id, userName, statement };
}

/** How the book knows somebody: by the account, or else by the name, behind which another account may stand by now. */
export function pinnedAs(people: Book["people"], { userId, userName }: Pick<DirectoryEntry, "userId" | "userName">): PinnedPerson | null {
  const isNamed = (person: PinnedPerson): boolean => person.name.toLowerCase() === userName.toLowerCase();
  return people.find((person) => person.user_id === userId) ?? people.find(isNamed) ?? null;
}

export function standingOf(pinned: PinnedPerson | null, { statement }: Pick<DirectoryEntry, "statement">): Standing {
  if (pinned === null) return "unknown";
  if (canonicalText(wordsOfKeys(pinned)) !== canonicalText(wordsOfKeys(statement))) return "changed";
  return pinned.compared ? "compared" : "known";
}

export function presentPerson(people: Book["people"], entry: DirectoryEntry): FoundPerson {
  const pinned = pinnedAs(people, entry);
  const standing = standingOf(pinned, entry);
  return {
    userId: entry.userId,
    userName: entry.userName,
    words: wordsOfKeys(entry.statement),
    standing,
    formerWords: pinned !== null && standing === "changed" ? wordsOfKeys(pinned) : null,
    blocked: pinned?.blocked ?? false,
  };
}

/** What a person is asked about: the words of now, and those pinned. */
export function personError(code: "person_unknown" | "person_changed", { userName, words, formerWords }: Pick<FoundPerson, "userName" | "words" | "formerWords">): PortalError {
  return new PortalError(code, { details: { user_name: userName, words, ...(formerWords === null ? {} : { former_words: formerWords }) } });
}

/** The people with these keys pinned, in the place of what was pinned for the account or its name before. Other keys are not compared, and stay blocked. */
export function withPinned(vault: VaultContext, people: Book["people"], entry: DirectoryEntry): Book["people"] {
  const before = pinnedAs(people, entry);
  if (before !== null && standingOf(before, entry) !== "changed") return people;
  const { user_id, recipient, signing_key, key_epoch } = entry.statement;
  const pinned: PinnedPerson = { user_id, name: entry.userName, recipient, signing_key, key_epoch, compared: false, blocked: before?.blocked ?? false, pinned_at: timestamp(vault.now()) };
  return [...people.filter((person) => person !== before), pinned];
}
