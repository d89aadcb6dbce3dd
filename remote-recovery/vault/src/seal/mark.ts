import type { AccountKey } from "./account-key.ts";
import { wipe } from "./bytes.ts";
import { encodeDigestAsWords } from "./mnemonic.ts";

export const markColours = ["red", "orange", "yellow", "green", "teal", "blue", "violet", "grey"] as const;
export type MarkColour = (typeof markColours)[number];

/**
 * Identifies the account's vault to the person, in every prompt of the vault. No key; only the
 * portal's page must not know it, because it could then imitate a prompt.
 */
export interface Mark {
  /** Three words of the English BIP-39 list. */
  readonly words: readonly string[];
  readonly colour: MarkColour;
}

export const markNotes = [
  "first", // explains the mark
  "replaced", // says that replaced keys have changed it
] as const;
/** What a prompt says about the mark, until the person has read it. */
export type MarkNote = (typeof markNotes)[number];

export interface NotedMark extends Mark {
  readonly note: MarkNote | null;
}

/** Asked on a device that remembers nothing of the account, before it adopts the account. */
export interface MarkQuestion {
  readonly mark: Mark;
  /** Whether a picture without a passphrase opened the account. */
  readonly isPlain: boolean;
}

const wordCount = 3;
/** The byte after those of the words. */
const colourByte = 5;

/** Derives the mark from `HKDF(account key, relicario/v1/mark)`. */
export function deriveMark(accountKey: AccountKey): Mark {
  const bytes = accountKey.derive("relicario/v1/mark");
  try {
    const colour = markColours[(bytes[colourByte] ?? 0) % markColours.length];
    if (colour === undefined) throw new TypeError("a remainder is below the number of colours");
    return { words: encodeDigestAsWords(bytes, wordCount), colour };
  } finally {
    wipe(bytes);
  }
}

export function hasSameMark(mark: Mark, otherMark: Mark): boolean {
  return mark.colour === otherMark.colour && mark.words.join(" ") === otherMark.words.join(" ");
}
