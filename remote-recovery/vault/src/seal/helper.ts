import { PortalError } from "@relicario/shared/errors";

import type { Sketch } from "@relicario/engine";
import {
  concatBytes,
  copyOf,
  equalBytes,
  encodeUint32LE,
  randomBytes,
  sha256,
  utf8,
  wipe,
  withWipedBytes,
  type Bytes,
} from "./bytes.ts";
import { sealingArgon2Costs, hkdf, encodePassphrase, assertCostsInRange, stretch, type Argon2Costs } from "./kdf.ts";

/**
 * Layout of an image's helper, 454 bytes (docs/formats.md, "Helper of an image"):
 *
 *     0 `RIE1` · 4 version 1 · 5 profile 1 · 6 flags · 7 zero
 *     8 memory KiB, 12 passes, 16 lanes (u32 little-endian)
 *     20 salt 16 · 36 sketch salt 16 (zero if plain) · 52 choice 256 · 308 syndrome 86
 *     394 nonce 12 · 406 wrapped root 32 + tag 16
 *
 * The header is bytes 0…51. Flags: bit 0 passphrase, bit 1 sketch encrypted; both or neither is
 * set.
 */
const helperLength = 454;
const headerLength = 52;
const choiceLength = 256;
const syndromeLength = 86;
const sketchLength = choiceLength + syndromeLength;
const plainFlags = 0;
const passphraseFlags = 3;

/** A helper whose fixed parts have been checked. */
export interface Helper {
  readonly bytes: Bytes;
  /** Whether a passphrase was used to create the helper; its sketch is then encrypted. */
  readonly requiresPassphrase: boolean;
  readonly costs: Argon2Costs;
}

/** Serializes a sketch as in helper and book: choice ‖ syndrome, 342 bytes. */
export function serializeSketch(sketch: Sketch): Bytes {
  if (sketch.choice.length !== choiceLength || sketch.syndrome.length !== syndromeLength)
    throw new TypeError("expected a sketch of 256 and 86 bytes");
  return concatBytes(sketch.choice, sketch.syndrome);
}

/**
 * Parses a plain sketch: 342 bytes, unused bits 0, not all zeros.
 *
 * @throws PortalError `decryption_failed`
 */
export function parseSketch(bytes: Uint8Array): Sketch {
  const sketchWithoutUnusedBits = clearUnusedBits(bytes);
  const isAllZero = sketchWithoutUnusedBits.every((byte) => byte === 0);
  if (bytes.length !== sketchLength || isAllZero || !equalBytes(sketchWithoutUnusedBits, bytes))
    throw new PortalError("decryption_failed");
  return { choice: copyOf(bytes.subarray(0, choiceLength)), syndrome: copyOf(bytes.subarray(choiceLength)) };
}

/**
 * Creates a helper with a new image root key. With a passphrase, also encrypts the sketch.
 *
 * @param imageSecret 32 bytes from the engine, which the caller wipes
 * @returns the helper and the image root key (32 bytes), which the caller wipes
 */
export async function createHelper(
  imageSecret: Bytes,
  sketch: Sketch,
  passphrase: string | null,
): Promise<{ helper: Bytes; imageRootKey: Bytes }> {
  const hasPassphrase = passphrase !== null && passphrase !== "";
  const randomness = {
    salt: randomBytes(16),
    sketchSalt: hasPassphrase ? randomBytes(16) : new Uint8Array(16),
    nonce: randomBytes(12),
    imageRootKey: randomBytes(32),
    /** 7 bits: one of choice, six of syndrome */
    unusedBits: hasPassphrase ? randomBytes(2) : new Uint8Array(2),
  };
  return {
    helper: await createHelperFromRandomness(imageSecret, sketch, passphrase, randomness),
    imageRootKey: randomness.imageRootKey,
  };
}

/** All random values of a helper; a parameter so that test vectors can fix them. */
export interface HelperRandomness {
  readonly salt: Bytes;
  readonly sketchSalt: Bytes;
  readonly nonce: Bytes;
  readonly imageRootKey: Bytes;
  readonly unusedBits: Bytes;
}

export async function createHelperFromRandomness(
  imageSecret: Bytes,
  sketch: Sketch,
  passphrase: string | null,
  randomness: HelperRandomness,
): Promise<Bytes> {
  const hasPassphrase = passphrase !== null && passphrase !== "";
  const header = new Uint8Array(headerLength);
  const view = new DataView(header.buffer);
  header.set(utf8("RIE1"));
  header.set([1, 1, hasPassphrase ? passphraseFlags : plainFlags, 0], 4);
  view.setUint32(8, sealingArgon2Costs.memoryKib, true);
  view.setUint32(12, sealingArgon2Costs.passes, true);
  view.setUint32(16, sealingArgon2Costs.lanes, true);
  header.set(randomness.salt, 20);
  header.set(randomness.sketchSalt, 36);

  const plainSketchBytes = clearUnusedBits(serializeSketch(sketch));
  const wrappingKey = await deriveWrappingKey(imageSecret, passphrase, header, plainSketchBytes, sealingArgon2Costs);
  const wrappedImageRootKey = await withWipedBytes(wrappingKey, async (key) => {
    const aesKey = await crypto.subtle.importKey("raw", key, "AES-GCM", false, ["encrypt"]);
    return new Uint8Array(
      await crypto.subtle.encrypt(
        { name: "AES-GCM", iv: randomness.nonce, additionalData: header },
        aesKey,
        randomness.imageRootKey,
      ),
    );
  });
  const storedSketch = hasPassphrase
    ? await applySketchCipher(
        setUnusedBits(plainSketchBytes, randomness.unusedBits),
        passphrase,
        header,
        sealingArgon2Costs,
      )
    : plainSketchBytes;
  return concatBytes(header, storedSketch, randomness.nonce, wrappedImageRootKey);
}

/**
 * Parses a helper: checks size, magic, version, profile, flags, costs and, unless encrypted, the
 * sketch.
 *
 * @throws PortalError `decryption_failed`
 */
export function parseHelper(bytes: Uint8Array): Helper {
  const [version, profile, flags, reserved] = bytes.subarray(4, 8);
  const isKnownFormat =
    bytes.length === helperLength &&
    equalBytes(bytes.subarray(0, 4), utf8("RIE1")) &&
    version === 1 &&
    profile === 1 &&
    reserved === 0;
  if (!isKnownFormat || (flags !== plainFlags && flags !== passphraseFlags)) throw new PortalError("decryption_failed");
  const requiresPassphrase = flags === passphraseFlags;
  const copy = copyOf(bytes);
  const view = new DataView(copy.buffer);
  const costs = assertCostsInRange({
    memoryKib: view.getUint32(8, true),
    passes: view.getUint32(12, true),
    lanes: view.getUint32(16, true),
  });
  if (!requiresPassphrase) {
    if (copy.subarray(36, 52).some((byte) => byte !== 0)) throw new PortalError("decryption_failed");
    parseSketch(copy.subarray(headerLength, headerLength + sketchLength));
  }
  return { bytes: copy, requiresPassphrase, costs };
}

/**
 * Extracts the sketch of a helper. Decrypts an encrypted one with the passphrase (one Argon2id
 * run). A wrong passphrase yields a sketch that matches no picture, not an error.
 */
export async function extractSketch(helper: Helper, passphrase: string | null): Promise<Sketch> {
  const storedSketch = copyOf(helper.bytes.subarray(headerLength, headerLength + sketchLength));
  if (!helper.requiresPassphrase) return parseSketch(storedSketch);
  const plainSketchBytes = clearUnusedBits(
    await applySketchCipher(storedSketch, passphrase, helper.bytes.subarray(0, headerLength), helper.costs),
  );
  return {
    choice: copyOf(plainSketchBytes.subarray(0, choiceLength)),
    syndrome: copyOf(plainSketchBytes.subarray(choiceLength)),
  };
}

/**
 * Unwraps the image root key (one Argon2id run).
 *
 * @param sketch result of {@link extractSketch} for this helper
 * @returns 32 bytes, which the caller wipes
 * @throws PortalError `decryption_failed` if the picture or passphrase differs, or the helper was
 *   changed
 */
export async function unwrapImageRootKey(
  helper: Helper,
  sketch: Sketch,
  imageSecret: Bytes,
  passphrase: string | null,
): Promise<Bytes> {
  const header = copyOf(helper.bytes.subarray(0, headerLength));
  const wrappingKey = await deriveWrappingKey(
    imageSecret,
    helper.requiresPassphrase ? passphrase : null,
    header,
    serializeSketch(sketch),
    helper.costs,
  );
  return withWipedBytes(wrappingKey, async (key) => {
    try {
      const aesKey = await crypto.subtle.importKey("raw", key, "AES-GCM", false, ["decrypt"]);
      const iv = copyOf(helper.bytes.subarray(394, 406));
      return new Uint8Array(
        await crypto.subtle.decrypt(
          { name: "AES-GCM", iv, additionalData: header },
          aesKey,
          copyOf(helper.bytes.subarray(406)),
        ),
      );
    } catch {
      throw new PortalError("decryption_failed");
    }
  });
}

/**
 * Steps 2 and 3 of docs/formats.md: runs Argon2id over image secret and passphrase, then HKDF with
 * header and plain sketch as salt.
 */
async function deriveWrappingKey(
  imageSecret: Bytes,
  passphrase: string | null,
  header: Bytes,
  plainSketchBytes: Bytes,
  costs: Argon2Costs,
): Promise<Bytes> {
  const encodedPassphrase = encodePassphrase(passphrase);
  const password = concatBytes(
    utf8("RIE1/pw"),
    imageSecret,
    encodeUint32LE(encodedPassphrase.length),
    encodedPassphrase,
  );
  const stretched = await stretch(password, copyOf(header.subarray(20, 36)), costs);
  const wrappingKey = hkdf(stretched, "RIE1/root/v1", sha256(header, plainSketchBytes));
  wipe(encodedPassphrase, password, stretched);
  return wrappingKey;
}

/** Step 5 of docs/formats.md: encrypts or decrypts with AES-256-CTR from counter block zero. */
async function applySketchCipher(
  sketch: Bytes,
  passphrase: string | null,
  header: Uint8Array,
  costs: Argon2Costs,
): Promise<Bytes> {
  const encodedPassphrase = encodePassphrase(passphrase);
  const password = concatBytes(utf8("RIE1/sk"), encodeUint32LE(encodedPassphrase.length), encodedPassphrase);
  const key = await stretch(password, copyOf(header.subarray(36, 52)), costs);
  wipe(encodedPassphrase, password);
  return withWipedBytes(key, async (keyBytes) => {
    const aesKey = await crypto.subtle.importKey("raw", keyBytes, "AES-CTR", false, ["encrypt"]);
    return new Uint8Array(
      await crypto.subtle.encrypt({ name: "AES-CTR", counter: new Uint8Array(16), length: 128 }, aesKey, sketch),
    );
  });
}

/** Clears bit 2047 of choice and bits 682…687 of syndrome. */
function clearUnusedBits(sketch: Uint8Array): Bytes {
  return setUnusedBits(sketch, new Uint8Array(2));
}

function setUnusedBits(sketch: Uint8Array, bits: Uint8Array): Bytes {
  const result = copyOf(sketch);
  const lastByteIndex = { choice: choiceLength - 1, syndrome: sketchLength - 1 };
  result[lastByteIndex.choice] = ((result[lastByteIndex.choice] ?? 0) & 0x7f) | ((bits[0] ?? 0) & 0x80);
  result[lastByteIndex.syndrome] = ((result[lastByteIndex.syndrome] ?? 0) & 0x03) | ((bits[1] ?? 0) & 0xfc);
  return result;
}
