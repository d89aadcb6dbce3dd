import { hkdf as nobleHkdf } from "@noble/hashes/hkdf.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { PortalError } from "@relicario/shared/errors";
import { argon2id } from "hash-wasm";

import { copyOf, utf8, type Bytes } from "./bytes.ts";

/** `HKDF(x, l)` in the formats: HKDF-SHA-256 with the ASCII label as info; 32 bytes. */
export function hkdf(keyMaterial: Uint8Array, label: string, salt?: Uint8Array): Bytes {
  return copyOf(nobleHkdf(sha256, keyMaterial, salt, utf8(label), 32));
}

/** Argon2id costs: memory in KiB, passes, lanes. */
export interface Argon2Costs {
  readonly memoryKib: number;
  readonly passes: number;
  readonly lanes: number;
}

/** Costs that version 1 seals with. */
export const sealingArgon2Costs: Argon2Costs = { memoryKib: 64 * 1024, passes: 3, lanes: 1 };

/**
 * Refuses stored costs outside 19…256 MiB, 2…10 passes and 1 lane: lower ones would make a key easy
 * to guess, higher ones would freeze a device.
 *
 * @throws PortalError `decryption_failed`
 */
export function assertCostsInRange(costs: Argon2Costs): Argon2Costs {
  const { memoryKib, passes, lanes } = costs;
  if (memoryKib < 19 * 1024 || memoryKib > 256 * 1024 || passes < 2 || passes > 10 || lanes !== 1)
    throw new PortalError("decryption_failed");
  return costs;
}

/** Runs Argon2id version 1.3; 32 bytes. Takes about 0.2 s at the costs of version 1. */
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
 * Encodes a typed passphrase as UTF-8 in NFC, without trimming or other changes. Null becomes
 * empty.
 */
export function encodePassphrase(passphrase: string | null): Bytes {
  return utf8((passphrase ?? "").normalize("NFC"));
}
