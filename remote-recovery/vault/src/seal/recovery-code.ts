import { entropyToMnemonic } from "@scure/bip39";
import { wordlist } from "@scure/bip39/wordlists/english.js";
import type { RecoveryCode } from "@relicario/shared/contract";

import { encodeIdentity, decodeIdentity } from "./age.ts";
import { randomBytes, wipe, type Bytes } from "./bytes.ts";
import { parseMnemonic } from "./mnemonic.ts";

const wordCount = 24;

/** A new code: the same 32 bytes as words and as an age identity. A secret. */
export function generateRecoveryCode(): RecoveryCode {
  const seed = randomBytes(32);
  try {
    return { words: entropyToMnemonic(seed, wordlist).split(" "), identity: encodeIdentity(seed) };
  } finally {
    wipe(seed);
  }
}

/**
 * The 32 bytes of a code: its words as they were typed, or the identity as it was scanned. Letter
 * case and spaces do not matter.
 *
 * @throws PortalError `recovery_code_unreadable`, as {@link parseMnemonic} says.
 */
export function parseRecoveryCode(input: string): Bytes {
  const seed = decodeIdentity(input.trim().toUpperCase());
  if (seed !== null) return seed;
  return parseMnemonic(input, wordCount, "recovery_code_unreadable");
}
