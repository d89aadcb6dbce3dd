import { entropyToMnemonic } from "@scure/bip39";
import { wordlist } from "@scure/bip39/wordlists/english.js";

import { PortalError } from "../errors/index.ts";

/** 24 words with their checksum; others for each number up to 255. */
export function createWords(fill: number): readonly string[] {
  return entropyToMnemonic(new Uint8Array(32).fill(fill), wordlist).split(" ");
}

/**
 * The words of a code as it was typed. @throws PortalError with `words`, how many there were, or
 * `unknown`, which of them.
 */
export function parseWords(
  typed: string,
  count: 12 | 24,
  errorCode: "recovery_code_unreadable" | "device_code_unreadable",
): readonly string[] {
  const words = typed
    .toLowerCase()
    .split(/[^a-z]+/u)
    .filter((word) => word !== "");
  if (words.length !== count) throw new PortalError(errorCode, { details: { words: words.length } });
  const unknown = words.flatMap((word, index) => (wordlist.includes(word) ? [] : [String(index + 1)]));
  if (unknown.length > 0) throw new PortalError(errorCode, { details: { unknown } });
  return words;
}
