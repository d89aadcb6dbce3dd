import { chacha20 } from "@noble/ciphers/chacha.js";
import { salsa20 } from "@noble/ciphers/salsa.js";
import { hmac } from "@noble/hashes/hmac.js";
import { sha256, sha512 } from "@noble/hashes/sha2.js";
import { argon2d, argon2id } from "hash-wasm";

import { concatBytes, type Bytes } from "../../seal/bytes.ts";
import { ImportQuestion } from "./import-question.ts";
import { ImportRefusedError } from "./import-refused-error.ts";
import { readGzip } from "./gzip.ts";
import { decodeBase64 } from "./keepass-fields.ts";
import { maxAttachmentBytes, maxTextBytes } from "./limits.ts";
import { parseXml, type XmlElement } from "./xml.ts";

/** An opened database: its XML, and the attachments stored outside the XML. */
export interface KdbxContents {
  readonly document: XmlElement;
  readonly binaries: readonly Bytes[];
}

const [firstSignature, kdbxSignature, keepass1Signature] = [0x9aa2d903, 0xb54bfb67, 0xb54bfb65];
/** Ids of ciphers and key derivations in the format, in hexadecimal. */
const ids = {
  aes: "31c1f2e6bf714350be5805216afc5aff",
  chacha20: "d6038a2b8b6f4cb5a524339a31dbb59a",
  argon2d: "ef636ddf8c29444b91f7a9a403e30a0c",
  argon2id: "9e298b1956db4773b23dfc3ec6f0a1e6",
  aesKdf: ["c9d9f39a628a4460bf740d08c18a4fea", "7c02bb8279a74ac0927d114a00648238"],
} as const;
/**
 * Limits of the key derivation that a file demands: Argon2 memory in KiB, Argon2 memory times
 * passes, and rounds of AES.
 */
const [maxMemoryKib, maxWorkKib, maxAesRounds] = [1024 ** 2, 64 * 1024 ** 2, 200_000_000];
const encoder = new TextEncoder();

/**
 * Whether a file is a KeePass 2 database.
 * @throws ImportRefusedError `unreadable_format` for KeePass 1
 */
export function isKdbx(head: Uint8Array): boolean {
  if (head.length < 8) return false;
  const view = new DataView(head.buffer, head.byteOffset);
  if (view.getUint32(0, true) !== firstSignature) return false;
  if (view.getUint32(4, true) === keepass1Signature) throw new ImportRefusedError({ unreadable: "keepass_1" });
  return view.getUint32(4, true) === kdbxSignature;
}

/**
 * Opens a KeePass 2 database (KDBX 3.1 or 4) with its password. A database that also needs a key
 * file cannot be opened.
 *
 * @throws ImportRefusedError `damaged`, `too_large`, `unreadable_format`; ImportQuestion
 *   `password_needed`, `password_wrong`
 */
export async function openKdbx(bytes: Bytes, password: string | undefined): Promise<KdbxContents> {
  const reader = new ByteReader(bytes);
  reader.take(8);
  const version = reader.uint32() >>> 16;
  if (version !== 3 && version !== 4) throw new ImportRefusedError({ unreadable: "keepass_cipher" });
  const header = readHeader(reader, version === 4 ? 4 : 2);
  const cipherId = toHex(requireField(header, 2));
  if (cipherId !== ids.aes && cipherId !== ids.chacha20) throw new ImportRefusedError({ unreadable: "keepass_cipher" });
  if (password === undefined || password === "") throw new ImportQuestion({ status: "password_needed" });
  const compositeKey = sha256(sha256(encoder.encode(password)));
  const isPacked = requireField(header, 3)[0] === 1;
  const masterSeed = requireField(header, 4);
  const decrypt = (key: Bytes, data: Bytes): Promise<Bytes | null> =>
    cipherId === ids.aes
      ? decryptAes(key, requireField(header, 7), data)
      : decryptChaCha20(key, requireField(header, 7), data);
  if (version === 3) {
    const transformed = await deriveWithAes(compositeKey, requireField(header, 5), toNumber(requireField(header, 6)));
    const payload = await decrypt(join256(masterSeed, transformed), reader.rest());
    const startBytes = requireField(header, 9);
    if (payload === null || toHex(payload.subarray(0, startBytes.length)) !== toHex(startBytes))
      throw new ImportQuestion({ status: "password_wrong" });
    const packed = joinHashedBlocks(new ByteReader(payload.slice(startBytes.length)));
    const document = parseXmlBytes(isPacked ? await unpack(packed) : packed);
    unprotect(document, requireField(header, 10)[0], requireField(header, 8));
    return { document, binaries: [] };
  }
  const headerBytes = bytes.slice(0, reader.position);
  if (toHex(sha256(headerBytes)) !== toHex(reader.take(32))) throw new ImportRefusedError("damaged");
  const transformed = await derive(compositeKey, readVariants(requireField(header, 11)));
  const hmacBase = sha512(concatBytes(masterSeed, transformed, new Uint8Array([1])));
  const headerKey = sha512(concatBytes(new Uint8Array(8).fill(0xff), hmacBase));
  if (toHex(hmac(sha256, headerKey, headerBytes)) !== toHex(reader.take(32)))
    throw new ImportQuestion({ status: "password_wrong" });
  const payload = await decrypt(join256(masterSeed, transformed), joinAuthenticatedBlocks(reader, hmacBase));
  if (payload === null) throw new ImportRefusedError("damaged");
  const inner = new ByteReader(isPacked ? await unpack(payload) : payload);
  const binaries: Bytes[] = [];
  const innerFields = new Map<number, Bytes>();
  for (let id = inner.uint8(); ; id = inner.uint8()) {
    const value = inner.take(inner.uint32());
    if (id === 0) break;
    if (id === 3) binaries.push(value.slice(1));
    else innerFields.set(id, value);
  }
  const document = parseXmlBytes(inner.rest());
  unprotect(document, requireField(innerFields, 1)[0], requireField(innerFields, 2));
  return { document, binaries };
}

/** Reads consecutive bytes. Throws ImportRefusedError `damaged` if the file ends too early. */
class ByteReader {
  position = 0;
  readonly #bytes: Bytes;

  constructor(bytes: Bytes) {
    this.#bytes = bytes;
  }

  take(length: number): Bytes {
    if (length > this.#bytes.length - this.position) throw new ImportRefusedError("damaged");
    this.position += length;
    return this.#bytes.slice(this.position - length, this.position);
  }

  rest(): Bytes {
    return this.take(this.#bytes.length - this.position);
  }

  uint8(): number {
    return toNumber(this.take(1));
  }

  uint16(): number {
    return toNumber(this.take(2));
  }

  uint32(): number {
    return toNumber(this.take(4));
  }
}

function readHeader(reader: ByteReader, lengthSize: 2 | 4): ReadonlyMap<number, Bytes> {
  const fields = new Map<number, Bytes>();
  for (;;) {
    const id = reader.uint8();
    const value = reader.take(lengthSize === 2 ? reader.uint16() : reader.uint32());
    if (id === 0) return fields;
    fields.set(id, value);
  }
}

function requireField(fields: ReadonlyMap<number, Bytes>, id: number): Bytes {
  const value = fields.get(id);
  if (value === undefined) throw new ImportRefusedError("damaged");
  return value;
}

/** Reads KDBX 4's dictionary: type, name and value per entry. */
function readVariants(bytes: Bytes): ReadonlyMap<string, Bytes> {
  const [reader, variants] = [new ByteReader(bytes), new Map<string, Bytes>()];
  reader.take(2);
  for (let type = reader.uint8(); type !== 0; type = reader.uint8()) {
    const name = new TextDecoder().decode(reader.take(reader.uint32()));
    variants.set(name, reader.take(reader.uint32()));
  }
  return variants;
}

async function derive(compositeKey: Uint8Array, variants: ReadonlyMap<string, Bytes>): Promise<Bytes> {
  const requireVariant = (name: string): Bytes => {
    const value = variants.get(name);
    if (value === undefined) throw new ImportRefusedError("damaged");
    return value;
  };
  const id = toHex(requireVariant("$UUID"));
  if (ids.aesKdf.some((aesKdf) => aesKdf === id))
    return deriveWithAes(compositeKey, requireVariant("S"), toNumber(requireVariant("R")));
  if (id !== ids.argon2d && id !== ids.argon2id) throw new ImportRefusedError({ unreadable: "keepass_cipher" });
  const [memoryKib, passes] = [toNumber(requireVariant("M")) / 1024, toNumber(requireVariant("I"))];
  if (memoryKib > maxMemoryKib || memoryKib * passes > maxWorkKib) throw new ImportRefusedError("too_large");
  try {
    return new Uint8Array(
      await (id === ids.argon2d ? argon2d : argon2id)({
        password: compositeKey,
        salt: requireVariant("S"),
        memorySize: memoryKib,
        iterations: passes,
        parallelism: toNumber(requireVariant("P")),
        hashLength: 32,
        outputType: "binary",
      }),
    );
  } catch (cause) {
    throw new ImportRefusedError("damaged", { cause }); // Argon2 rejects the file's settings
  }
}

/**
 * Encrypts both halves of the key with AES for many rounds. CBC over zeros encrypts each block's
 * predecessor, so one WebCrypto call does many rounds.
 */
async function deriveWithAes(compositeKey: Uint8Array, seed: Bytes, rounds: number): Promise<Bytes> {
  if (rounds > maxAesRounds) throw new ImportRefusedError("too_large");
  if (seed.length !== 32) throw new ImportRefusedError("damaged");
  const key = await crypto.subtle.importKey("raw", seed, "AES-CBC", false, ["encrypt"]);
  const halves = [];
  for (const half of [compositeKey.slice(0, 16), compositeKey.slice(16)]) {
    let block = new Uint8Array(half);
    for (let done = 0; done < rounds;) {
      const count = Math.min(rounds - done, 65_536);
      const encrypted = await crypto.subtle.encrypt({ name: "AES-CBC", iv: block }, key, new Uint8Array(16 * count));
      block = new Uint8Array(encrypted, 16 * (count - 1), 16).slice();
      done += count;
    }
    halves.push(block);
  }
  return new Uint8Array(sha256(concatBytes(...halves)));
}

/** Null if the padding is wrong, for example with a wrong key. */
async function decryptAes(key: Bytes, iv: Bytes, data: Bytes): Promise<Bytes | null> {
  try {
    const imported = await crypto.subtle.importKey("raw", key, "AES-CBC", false, ["decrypt"]);
    return new Uint8Array(await crypto.subtle.decrypt({ name: "AES-CBC", iv }, imported, data));
  } catch {
    return null; // the caller reports a wrong password or a damaged file
  }
}

async function decryptChaCha20(key: Bytes, nonce: Bytes, data: Bytes): Promise<Bytes | null> {
  return nonce.length === 12 ? new Uint8Array(chacha20(key, nonce, data)) : null;
}

/** Joins KDBX 4's blocks; each is authenticated with a key derived from its number. */
function joinAuthenticatedBlocks(reader: ByteReader, hmacBase: Uint8Array): Bytes {
  const blocks: Bytes[] = [];
  for (let index = 0; ; index++) {
    const number = new Uint8Array(8);
    new DataView(number.buffer).setBigUint64(0, BigInt(index), true);
    const tag = reader.take(32);
    const length = reader.take(4);
    const block = reader.take(toNumber(length));
    const blockKey = sha512(concatBytes(number, hmacBase));
    if (toHex(hmac(sha256, blockKey, concatBytes(number, length, block))) !== toHex(tag))
      throw new ImportRefusedError("damaged");
    if (block.length === 0) return concatBytes(...blocks);
    blocks.push(block);
  }
}

/** Joins KDBX 3.1's blocks: number, digest, length, content. */
function joinHashedBlocks(reader: ByteReader): Bytes {
  const blocks: Bytes[] = [];
  for (;;) {
    reader.take(4);
    const digest = reader.take(32);
    const block = reader.take(reader.uint32());
    if (block.length === 0) return concatBytes(...blocks);
    if (toHex(sha256(block)) !== toHex(digest)) throw new ImportRefusedError("damaged");
    blocks.push(block);
  }
}

function parseXmlBytes(bytes: Bytes): XmlElement {
  if (bytes.length > maxTextBytes) throw new ImportRefusedError("too_large");
  return parseXml(new TextDecoder().decode(bytes));
}

async function unpack(bytes: Bytes): Promise<Bytes> {
  const unpacked = await readGzip(bytes, maxAttachmentBytes);
  if (unpacked === null) throw new ImportRefusedError("damaged");
  return unpacked;
}

/** Decrypts all protected values with one key stream, in document order. */
function unprotect(document: XmlElement, streamId: number | undefined, streamKey: Bytes): void {
  const [elements, values]: [XmlElement[], Bytes[]] = [[], []];
  const collect = (element: XmlElement): void => {
    if (element.attributes.get("Protected")?.toLowerCase() === "true") {
      const value = decodeBase64(element.text);
      if (value === null) throw new ImportRefusedError("damaged");
      elements.push(element);
      values.push(value);
    }
    element.children.forEach(collect);
  };
  collect(document);
  const protectedBytes = concatBytes(...values);
  const digest = sha512(streamKey);
  const plain =
    streamId === 3
      ? chacha20(digest.subarray(0, 32), digest.subarray(32, 44), protectedBytes)
      : streamId === 2
        ? salsa20(sha256(streamKey), salsaNonce, protectedBytes)
        : null;
  if (plain === null) {
    if (elements.length > 0) throw new ImportRefusedError({ unreadable: "keepass_cipher" });
    return;
  }
  let position = 0;
  for (const [index, element] of elements.entries()) {
    const length = values[index]?.length ?? 0;
    element.text = new TextDecoder().decode(plain.subarray(position, position + length));
    position += length;
  }
}

/** Fixed by the format. */
const salsaNonce = new Uint8Array([0xe8, 0x30, 0x09, 0x4b, 0x97, 0x20, 0x5d, 0x2a]);

function join256(...parts: readonly Uint8Array[]): Bytes {
  return new Uint8Array(sha256(concatBytes(...parts)));
}

/** Little-endian. Numbers beyond the safe integers exceed every limit anyway. */
function toNumber(bytes: Uint8Array): number {
  return bytes.reduceRight((total, byte) => total * 256 + byte, 0);
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
