import { hkdf as nobleHkdf } from "@noble/hashes/hkdf.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { PortalError } from "@relicario/shared/errors";
import { argon2id } from "hash-wasm";

import { copyOf, utf8, type Bytes } from "./bytes.ts";

/** `HKDF(x, l)` of the formats: HKDF-SHA-256, empty salt, info = ASCII label, 32 bytes. */
export function hkdf(secret: Uint8Array, label: string, salt?: Uint8Array): Bytes {
  return copyOf(nobleHkdf(sha256, secret, salt, utf8(label), 32));
}

/** Argon2id costs: memory in KiB, passes, lanes. */
export interface Argon2Costs {
  readonly memoryKib: number;
  readonly passes: number;
  readonly lanes: number;
}

/** What v1 seals with. */
export const sealingArgon2Costs: Argon2Costs = { memoryKib: 64 * 1024, passes: 3, lanes: 1 };

/**
 * Refuses costs read from stored data outside 19…256 MiB, 2…10 passes, 1 lane: neither a guessable
 * key nor a frozen device.
 *
 * @throws PortalError `decryption_failed`.
 */
export function assertCostsInRange(costs: Argon2Costs): Argon2Costs {
  const { memoryKib, passes, lanes } = costs;
  if (memoryKib < 19 * 1024 || memoryKib > 256 * 1024 || passes < 2 || passes > 10 || lanes !== 1)
    throw new PortalError("decryption_failed");
  return costs;
}

/** Argon2id version 1.3, 32 bytes. About 0.2 s at the costs of v1. */
export async function stretch(password: Bytes, salt: Bytes, costs: Argon2Costs): Promise<Bytes> {
  const { memoryKib, passes, lanes } = assertCostsInRange(costs);
  const hash = await argon2id({
    password,
    salt,
    memorySize: memoryKib,
    iterations: passes,
    parallelism: lanes,
    hashLength: 32,
    outputType: "binary",
  });
  return copyOf(hash);
}

/**
 * Passphrases are used as typed, in NFC, as UTF-8: no trimming, no other change. Null is length 0.
 */
export function encodePassphrase(passphrase: string | null): Bytes {
  return utf8((passphrase ?? "").normalize("NFC"));
}
