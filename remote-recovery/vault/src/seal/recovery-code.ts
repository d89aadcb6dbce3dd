import { entropyToMnemonic } from "@scure/bip39";
import { wordlist } from "@scure/bip39/wordlists/english.js";
import type { RecoveryCode } from "@relicario/shared/contract";

import { encodeIdentity, decodeIdentity } from "./age.ts";
import { randomBytes, wipe, type Bytes } from "./bytes.ts";
import { parseMnemonic } from "./mnemonic.ts";

const wordCount = 24;

/** Generates a recovery code: the same 32 bytes as words and as an age identity. Secret. */
export function generateRecoveryCode(): RecoveryCode {
  const seed = randomBytes(32);
  try {
    return { words: entropyToMnemonic(seed, wordlist).split(" "), identity: encodeIdentity(seed) };
  } finally {
    wipe(seed);
  }
}

/**
 * Parses a recovery code into 32 bytes, from typed words or a scanned identity. Ignores letter case
 * and spaces.
 *
 * @throws PortalError `recovery_code_unreadable`, with the details of {@link parseMnemonic}
 */
export function parseRecoveryCode(input: string): Bytes {
  const seed = decodeIdentity(input.trim().toUpperCase());
  if (seed !== null) return seed;
  return parseMnemonic(input, wordCount, "recovery_code_unreadable");
}
