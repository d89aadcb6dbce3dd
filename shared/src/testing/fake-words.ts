import { entropyToMnemonic } from "@scure/bip39";
import { wordlist } from "@scure/bip39/wordlists/english.js";

import { PortalError } from "../errors/index.ts";

/** Creates 24 words with a valid checksum. They differ for each number up to 255. */
export function createWords(fill: number): readonly string[] {
  return entropyToMnemonic(new Uint8Array(32).fill(fill), wordlist).split(" ");
}

/**
 * Splits a typed code into words of the English list. Also accepts the numbers of words.
 *
 * @throws PortalError with the detail `words` (their number), or `unknown` (positions of unknown
 *   words)
 */
export function parseWords(
  typed: string,
  count: 12 | 24,
  errorCode: "recovery_code_unreadable" | "device_code_unreadable",
): readonly string[] {
  const plain = typed.toLowerCase();
  const typedWords = plain.match(/[a-z]+/gu) ?? plain.match(/\d+/gu) ?? [];
  if (typedWords.length !== count) throw new PortalError(errorCode, { details: { words: typedWords.length } });
  const words = typedWords.map((word) => wordlist[Number(word) - 1] ?? word);
  const unknown = words.flatMap((word, index) => (wordlist.includes(word) ? [] : [String(index + 1)]));
  if (unknown.length > 0) throw new PortalError(errorCode, { details: { unknown } });
  return words;
}
