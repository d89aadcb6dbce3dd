import { PortalError } from "@relicario/shared/errors";

import type { Sketch } from "@relicario/engine";
import { concat, copyOf, equalBytes, len32, randomBytes, sha256, utf8, wipe, withSecret, type Bytes } from "./bytes.ts";
import { argon2Costs, hkdf, passphraseBytes, requireSaneCosts, stretch, type Argon2Costs } from "./kdf.ts";

/**
 * The helper of an image, 454 bytes (design/image-key.md, "Keys and the helper"):
 *
 *     0 `RIE1` · 4 version 1 · 5 profile 1 · 6 flags · 7 zero
 *     8 memory KiB, 12 passes, 16 lanes (u32 little-endian)
 *     20 salt 16 · 36 sketch salt 16 (zero if plain) · 52 choice 256 · 308 syndrome 86
 *     394 nonce 12 · 406 wrapped root 32 + tag 16
 *
 * The header is bytes 0…51. Flags: bit 0 passphrase, bit 1 sketch encrypted; both or neither.
 */
export const helperLength = 454;
const headerLength = 52;
const choiceLength = 256;
const syndromeLength = 86;
const sketchLength = choiceLength + syndromeLength;
const plainFlags = 0;
const passphraseFlags = 3;

/** A helper whose fixed parts were checked. */
export interface Helper {
  readonly bytes: Bytes;
  /** True when it was made with a passphrase: then its sketch is encrypted too. */
  readonly encrypted: boolean;
  readonly costs: Argon2Costs;
}

/** The bytes of a sketch as they stand in helper and book: choice ‖ syndrome, 342 bytes. */
export function sketchBytes(sketch: Sketch): Bytes {
  if (sketch.choice.length !== choiceLength || sketch.syndrome.length !== syndromeLength)
    throw new TypeError("a sketch has 256 and 86 bytes");
  return concat(sketch.choice, sketch.syndrome);
}

/**
 * Reads a plain sketch: 342 bytes, unused bits 0, neither all zeros nor all ones.
 *
 * @throws PortalError `decryption_failed`.
 */
export function parseSketch(bytes: Uint8Array): Sketch {
  const used = clearUnusedBits(bytes);
  const empty = used.every((byte) => byte === 0);
  if (bytes.length !== sketchLength || empty || !equalBytes(used, bytes)) throw new PortalError("decryption_failed");
  return { choice: copyOf(bytes.subarray(0, choiceLength)), syndrome: copyOf(bytes.subarray(choiceLength)) };
}

/**
 * Makes a helper and its fresh image root. With a passphrase the sketch is encrypted as well.
 *
 * @param imageSecret 32 bytes from the engine; left untouched, wipe it.
 * @returns the root too: 32 bytes, wipe them after use.
 */
export async function makeHelper(
  imageSecret: Bytes,
  sketch: Sketch,
  passphrase: string | null,
): Promise<{ helper: Bytes; imageRoot: Bytes }> {
  const encrypted = passphrase !== null && passphrase !== "";
  const parts = {
    salt: randomBytes(16),
    sketchSalt: encrypted ? randomBytes(16) : new Uint8Array(16),
    nonce: randomBytes(12),
    imageRoot: randomBytes(32),
    /** 7 bits: one of choice, six of syndrome. */
    unusedBits: encrypted ? randomBytes(2) : new Uint8Array(2),
  };
  return { helper: await assembleHelper(imageSecret, sketch, passphrase, parts), imageRoot: parts.imageRoot };
}

/** Everything random in a helper; apart so that the vectors can fix it. */
export interface HelperParts {
  readonly salt: Bytes;
  readonly sketchSalt: Bytes;
  readonly nonce: Bytes;
  readonly imageRoot: Bytes;
  readonly unusedBits: Bytes;
}

export async function assembleHelper(
  imageSecret: Bytes,
  sketch: Sketch,
  passphrase: string | null,
  parts: HelperParts,
): Promise<Bytes> {
  const encrypted = passphrase !== null && passphrase !== "";
  const header = new Uint8Array(headerLength);
  const view = new DataView(header.buffer);
  header.set(utf8("RIE1"));
  header.set([1, 1, encrypted ? passphraseFlags : plainFlags, 0], 4);
  view.setUint32(8, argon2Costs.memoryKib, true);
  view.setUint32(12, argon2Costs.passes, true);
  view.setUint32(16, argon2Costs.lanes, true);
  header.set(parts.salt, 20);
  header.set(parts.sketchSalt, 36);

  const plain = clearUnusedBits(sketchBytes(sketch));
  const rootKey = await deriveRootKey(imageSecret, passphrase, header, plain, argon2Costs);
  const wrappedRoot = await withSecret(rootKey, async (key) => {
    const aes = await crypto.subtle.importKey("raw", key, "AES-GCM", false, ["encrypt"]);
    return new Uint8Array(
      await crypto.subtle.encrypt({ name: "AES-GCM", iv: parts.nonce, additionalData: header }, aes, parts.imageRoot),
    );
  });
  const stored = encrypted
    ? await cryptSketch(withUnusedBits(plain, parts.unusedBits), passphrase, header, argon2Costs)
    : plain;
  return concat(header, stored, parts.nonce, wrappedRoot);
}

/**
 * Checks size, magic, version, profile, flags, costs, and the sketch of a plain one.
 *
 * @throws PortalError `decryption_failed`: all zeros, all ones, another size, an unknown version
 *   are not helpers.
 */
export function parseHelper(bytes: Uint8Array): Helper {
  const [version, profile, flags, zero] = bytes.subarray(4, 8);
  const known =
    bytes.length === helperLength &&
    equalBytes(bytes.subarray(0, 4), utf8("RIE1")) &&
    version === 1 &&
    profile === 1 &&
    zero === 0;
  if (!known || (flags !== plainFlags && flags !== passphraseFlags)) throw new PortalError("decryption_failed");
  const encrypted = flags === passphraseFlags;
  const own = copyOf(bytes);
  const view = new DataView(own.buffer);
  const costs = requireSaneCosts({
    memoryKib: view.getUint32(8, true),
    passes: view.getUint32(12, true),
    lanes: view.getUint32(16, true),
  });
  if (!encrypted) {
    if (own.subarray(36, 52).some((byte) => byte !== 0)) throw new PortalError("decryption_failed");
    parseSketch(own.subarray(headerLength, headerLength + sketchLength));
  }
  return { bytes: own, encrypted, costs };
}

/**
 * The sketch of a helper. An encrypted one is decrypted with the passphrase (one Argon2id); a wrong
 * passphrase gives a sketch that fits no picture, which is all that can be told.
 */
export async function sketchOf(helper: Helper, passphrase: string | null): Promise<Sketch> {
  const stored = copyOf(helper.bytes.subarray(headerLength, headerLength + sketchLength));
  if (!helper.encrypted) return parseSketch(stored);
  const plain = clearUnusedBits(
    await cryptSketch(stored, passphrase, helper.bytes.subarray(0, headerLength), helper.costs),
  );
  return { choice: copyOf(plain.subarray(0, choiceLength)), syndrome: copyOf(plain.subarray(choiceLength)) };
}

/**
 * Opens the image root: one Argon2id.
 *
 * @param sketch what {@link sketchOf} gave for this helper.
 * @returns 32 bytes; wipe them after use.
 * @throws PortalError `decryption_failed`: another picture, another passphrase, or a helper with
 *   one bit changed.
 */
export async function openHelper(
  helper: Helper,
  sketch: Sketch,
  imageSecret: Bytes,
  passphrase: string | null,
): Promise<Bytes> {
  const header = copyOf(helper.bytes.subarray(0, headerLength));
  const rootKey = await deriveRootKey(
    imageSecret,
    helper.encrypted ? passphrase : null,
    header,
    sketchBytes(sketch),
    helper.costs,
  );
  return withSecret(rootKey, async (key) => {
    try {
      const aes = await crypto.subtle.importKey("raw", key, "AES-GCM", false, ["decrypt"]);
      const iv = copyOf(helper.bytes.subarray(394, 406));
      return new Uint8Array(
        await crypto.subtle.decrypt(
          { name: "AES-GCM", iv, additionalData: header },
          aes,
          copyOf(helper.bytes.subarray(406)),
        ),
      );
    } catch {
      throw new PortalError("decryption_failed");
    }
  });
}

/**
 * Steps 2 and 3: Argon2id over image secret and passphrase, then HKDF salted with header and plain
 * sketch.
 */
async function deriveRootKey(
  imageSecret: Bytes,
  passphrase: string | null,
  header: Bytes,
  plainSketch: Bytes,
  costs: Argon2Costs,
): Promise<Bytes> {
  const typed = passphraseBytes(passphrase);
  const password = concat(utf8("RIE1/pw"), imageSecret, len32(typed.length), typed);
  const stretched = await stretch(password, copyOf(header.subarray(20, 36)), costs);
  const rootKey = hkdf(stretched, "RIE1/root/v1", sha256(header, plainSketch));
  wipe(typed, password, stretched);
  return rootKey;
}

/** Step 5: AES-256-CTR from counter block zero, the same both ways. */
async function cryptSketch(
  sketch: Bytes,
  passphrase: string | null,
  header: Uint8Array,
  costs: Argon2Costs,
): Promise<Bytes> {
  const typed = passphraseBytes(passphrase);
  const password = concat(utf8("RIE1/sk"), len32(typed.length), typed);
  const key = await stretch(password, copyOf(header.subarray(36, 52)), costs);
  wipe(typed, password);
  return withSecret(key, async (bytes) => {
    const aes = await crypto.subtle.importKey("raw", bytes, "AES-CTR", false, ["encrypt"]);
    return new Uint8Array(
      await crypto.subtle.encrypt({ name: "AES-CTR", counter: new Uint8Array(16), length: 128 }, aes, sketch),
    );
  });
}

/** Bit 2047 of choice, bits 682…687 of syndrome. */
function clearUnusedBits(sketch: Uint8Array): Bytes {
  return withUnusedBits(sketch, new Uint8Array(2));
}

function withUnusedBits(sketch: Uint8Array, bits: Uint8Array): Bytes {
  const whole = copyOf(sketch);
  const last = { choice: choiceLength - 1, syndrome: sketchLength - 1 };
  whole[last.choice] = ((whole[last.choice] ?? 0) & 0x7f) | ((bits[0] ?? 0) & 0x80);
  whole[last.syndrome] = ((whole[last.syndrome] ?? 0) & 0x03) | ((bits[1] ?? 0) & 0xfc);
  return whole;
}
