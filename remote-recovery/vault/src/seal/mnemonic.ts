import { mnemonicToEntropy } from "@scure/bip39";
import { wordlist } from "@scure/bip39/wordlists/english.js";
import { PortalError } from "@relicario/shared/errors";

import { copyOf, type Bytes } from "./bytes.ts";

const bitsPerWord = 11;

/**
 * Encodes the first 88 bits of a digest as 8 words of the English BIP-39 list, or 11 bits a word,
 * for people to compare. Pages show the words in the reader's language, with their numbers in the
 * list.
 */
export function encodeDigestAsWords(digest: Bytes, wordCount = 8): string[] {
  const bits = Array.from(digest, (byte) => byte.toString(2).padStart(8, "0")).join("");
  return Array.from(
    { length: wordCount },
    (_, index) => wordlist[Number.parseInt(bits.slice(index * bitsPerWord, (index + 1) * bitsPerWord), 2)] ?? "",
  );
}

/**
 * Parses words with a checksum (BIP-39) that were typed or scanned, or their numbers in the list (1
 * to 2048). Ignores letter case, punctuation, and numbers next to words.
 *
 * @param errorCode code of the error, with one of these details: `words`, the number of words, if
 *   it is wrong; `unknown`, the positions (from 1) of words outside the list; or neither if the
 *   checksum fails, for example after swapping words
 */
export function parseMnemonic(
  input: string,
  wordCount: 12 | 24,
  errorCode: "recovery_code_unreadable" | "device_code_unreadable",
): Bytes {
  const plainInput = input.normalize("NFKD").toLowerCase();
  const typedWords = plainInput.match(/[a-z]+/gu) ?? plainInput.match(/\d+/gu) ?? [];
  if (typedWords.length !== wordCount) throw new PortalError(errorCode, { details: { words: typedWords.length } });
  const words = typedWords.map((word) => (/^\d/.test(word) ? (wordlist[Number(word) - 1] ?? word) : word));
  const unknownPositions = words.flatMap((word, index) => (wordlist.includes(word) ? [] : [String(index + 1)]));
  if (unknownPositions.length > 0) throw new PortalError(errorCode, { details: { unknown: unknownPositions } });
  try {
    return copyOf(mnemonicToEntropy(words.join(" "), wordlist));
  } catch {
    throw new PortalError(errorCode); // without a cause, which would contain words
  }
}
