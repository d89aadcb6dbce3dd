import { wordlist } from "@scure/bip39/wordlists/english.js";

import { sha256, utf8 } from "./bytes.ts";

const wordCount = 8;
const bitsOfWord = 11;

/** The first 88 bits of `SHA-256(label ‖ parts)` as 8 words of the English BIP-39 list: for people to compare. */
export function wordsOf(label: "relicario/v1/words" | "relicario/v1/receipt", ...parts: readonly Uint8Array[]): readonly string[] {
  const digest = sha256(utf8(label), ...parts);
  let bits = 0n;
  for (const byte of digest.subarray(0, (wordCount * bitsOfWord) / 8)) bits = (bits << 8n) | BigInt(byte);
  return Array.from({ length: wordCount }, (_, index) => {
    const word = wordlist[Number((bits >> BigInt(bitsOfWord * (wordCount - 1 - index))) & 2047n)];
    if (word === undefined) throw new TypeError("the list has 2048 words");
    return word;
  });
}
