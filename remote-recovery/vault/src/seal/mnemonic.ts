import { mnemonicToEntropy } from "@scure/bip39";
import { wordlist } from "@scure/bip39/wordlists/english.js";
import { PortalError } from "@relicario/shared/errors";

import { copyOf, type Bytes } from "./bytes.ts";

const bitsPerWord = 11;
const digestWordCount = 8;

/** The first 88 bits of a digest as 8 words of the English BIP-39 list: for people to compare. */
export function encodeDigestAsWords(digest: Bytes): string[] {
  const view = new DataView(digest.buffer, digest.byteOffset, (digestWordCount * bitsPerWord) / 8);
  const bits = Array.from({ length: view.byteLength }, (_, index) =>
    view.getUint8(index).toString(2).padStart(8, "0"),
  ).join("");
  return Array.from(
    { length: digestWordCount },
    (_, index) => wordlist[Number.parseInt(bits.slice(index * bitsPerWord, (index + 1) * bitsPerWord), 2)] ?? "",
  );
}

/**
 * The bytes that stand as words with a checksum (BIP-39), as somebody typed or scanned them: letter
 * case, numbers and signs between them do not matter.
 *
 * @param errorCode thrown with `words`, how many there were, or `unknown`, which of them (from 1)
 *   are not in the list. With neither the checksum does not fit: a word was taken for another, or
 *   two have changed places.
 */
export function parseMnemonic(
  input: string,
  wordCount: 12 | 24,
  errorCode: "recovery_code_unreadable" | "device_code_unreadable",
): Bytes {
  const words = input
    .normalize("NFKD")
    .toLowerCase()
    .split(/[^a-z]+/u)
    .filter((word) => word !== "");
  const unknownPositions = words.flatMap((word, index) => (wordlist.includes(word) ? [] : [String(index + 1)]));
  if (words.length !== wordCount) throw new PortalError(errorCode, { details: { words: words.length } });
  if (unknownPositions.length > 0) throw new PortalError(errorCode, { details: { unknown: unknownPositions } });
  try {
    return copyOf(mnemonicToEntropy(words.join(" "), wordlist));
  } catch {
    throw new PortalError(errorCode); // without its cause, which names words
  }
}
