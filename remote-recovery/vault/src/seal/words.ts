import { wordlist } from "@scure/bip39/wordlists/english.js";

import type { Bytes } from "./bytes.ts";

const wordBits = 11;
const words = 8;

/** The first 88 bits of a digest as 8 words of the English BIP-39 list: for people to compare. */
export function wordsOf(digest: Bytes): string[] {
  const view = new DataView(digest.buffer, digest.byteOffset, words * wordBits / 8);
  const bits = Array.from({ length: view.byteLength }, (_, index) => view.getUint8(index).toString(2).padStart(8, "0")).join("");
  return Array.from({ length: words }, (_, index) => wordlist[Number.parseInt(bits.slice(index * wordBits, (index + 1) * wordBits), 2)] ?? "");
}
