import { ed25519 } from "@noble/curves/ed25519.js";
import { toBase64url, type Json } from "@relicario/shared/api";
import { buildSignedMessage, type SignaturePrefix } from "@relicario/shared/api/signatures";
import { PortalError } from "@relicario/shared/errors";

import { encodeIdentity, deriveRecipient } from "./age.ts";
import { concatBytes, copyOf, equalBytes, randomBytes, wipe, type Bytes } from "./bytes.ts";
import { importAesKey } from "./document.ts";
import { hkdf } from "./kdf.ts";

/**
 * The account key: 32 bytes that exist only in the memory of the vault's worker, from when an
 * opener is presented until the worker ends. No device stores them. The field is private, so a copy
 * of this object (in a message to the page or in a log) does not contain the bytes.
 */
export class AccountKey {
  readonly keyEpoch: number;
  readonly #bytes: Bytes;
  #author: Promise<Signer> | null = null;

  /**
   * Takes ownership of the bytes: the caller must not use them afterwards.
   *
   * @throws PortalError `decryption_failed` unless there are 32 bytes
   */
  constructor(bytes: Bytes, keyEpoch: number) {
    if (bytes.length !== 32) throw new PortalError("decryption_failed");
    this.#bytes = bytes;
    this.keyEpoch = keyEpoch;
  }

  static generate(keyEpoch: number): AccountKey {
    return new AccountKey(randomBytes(32), keyEpoch);
  }

  /** Derives `HKDF(account key, label)`, 32 bytes. The caller must wipe them. */
  derive(label: string): Bytes {
    return hkdf(this.#bytes, label);
  }

  /** Lends the bytes to `callback` to seal a slot. */
  withBytes<T>(callback: (bytes: Bytes) => T): T {
    return callback(this.#bytes);
  }

  /**
   * Signs what only a presented opener may change: tickets, the key statement, and changes that
   * need `author_sig`. No metadata key: no device keeps it.
   */
  getAuthor(): Promise<Signer> {
    return (this.#author ??= this.#withSeed("relicario/v1/author", createSigner));
  }

  /** Public half of the author key, 32 bytes. */
  getAuthorPublicKey(): Bytes {
    return this.#withSeed("relicario/v1/author", derivePublicSigningKey);
  }

  wipe(): void {
    wipe(this.#bytes);
    this.#author = null;
  }

  #withSeed<T>(label: string, callback: (seed: Bytes) => T): T {
    const seed = this.derive(label);
    try {
      return callback(seed);
    } finally {
      wipe(seed);
    }
  }
}

/**
 * Signs for the account. `key` is null if WebCrypto lacks Ed25519; a device cannot store such a
 * signer.
 */
export interface Signer {
  readonly key: CryptoKey | null;
  /** Returns 64 bytes (RFC 8032). */
  readonly sign: (message: Bytes) => Promise<Bytes>;
}

/**
 * Keys that show titles and sign changes, but cannot open contents or create openers. All are
 * non-extractable, so that the person's own device may store them between visits.
 */
export interface MetadataKeys {
  readonly keyEpoch: number;
  readonly label: CryptoKey;
  readonly book: CryptoKey;
  readonly state: CryptoKey;
  readonly shares: CryptoKey;
  readonly requests: CryptoKey;
  readonly signer: Signer;
  /** Public half of the account identity. */
  readonly recipient: string;
  /** Public half of the signing key, 32 bytes. */
  readonly signingKey: Bytes;
  /** Public half of the author key, 32 bytes. */
  readonly authorKey: Bytes;
}

const documentNames = ["label", "book", "state", "shares", "requests"] as const;

export type StoredMetadataKeys = Readonly<Record<(typeof documentNames)[number] | "sign", CryptoKey>> & {
  readonly keyEpoch: number;
  readonly recipient: string;
  readonly signingKey: Bytes;
  readonly authorKey: Bytes;
};

/** Derives all keys of an account key, except those of `inner` documents and slots. */
export async function deriveMetadataKeys(accountKey: AccountKey): Promise<MetadataKeys> {
  const [identitySeed, signingSeed] = [
    accountKey.derive("relicario/v1/identity"),
    accountKey.derive("relicario/v1/sign"),
  ];
  try {
    const [label, book, state, shares, requests] = await Promise.all(
      documentNames.map((name) => deriveDocumentKey(accountKey, name)),
    );
    if (
      label === undefined ||
      book === undefined ||
      state === undefined ||
      shares === undefined ||
      requests === undefined
    )
      throw new TypeError("expected a key for each document");
    const recipient = await deriveRecipient(encodeIdentity(identitySeed));
    return {
      keyEpoch: accountKey.keyEpoch,
      label,
      book,
      state,
      shares,
      requests,
      signer: await createSigner(signingSeed),
      recipient,
      signingKey: derivePublicSigningKey(signingSeed),
      authorKey: accountKey.getAuthorPublicKey(),
    };
  } finally {
    wipe(identitySeed, signingSeed);
  }
}

async function deriveDocumentKey(accountKey: AccountKey, name: string): Promise<CryptoKey> {
  const bytes = accountKey.derive(`relicario/v1/${name}`);
  try {
    return await importAesKey(bytes);
  } finally {
    wipe(bytes);
  }
}

/** Returns null if the signing key cannot be stored; the device then stores no keys. */
export function toStoredMetadataKeys({
  signer,
  keyEpoch,
  label,
  book,
  state,
  shares,
  requests,
  recipient,
  signingKey,
  authorKey,
}: MetadataKeys): StoredMetadataKeys | null {
  return signer.key === null
    ? null
    : { keyEpoch, label, book, state, shares, requests, sign: signer.key, recipient, signingKey, authorKey };
}

export function fromStoredMetadataKeys({ sign, ...storedKeys }: StoredMetadataKeys): MetadataKeys {
  return { ...storedKeys, signer: { key: sign, sign: (message) => signWith(sign, message) } };
}

/** PKCS #8 encoding of an Ed25519 key (RFC 8410), up to the 32-byte seed. */
const pkcs8Prefix = Uint8Array.of(
  0x30,
  0x2e,
  0x02,
  0x01,
  0x00,
  0x30,
  0x05,
  0x06,
  0x03,
  0x2b,
  0x65,
  0x70,
  0x04,
  0x22,
  0x04,
  0x20,
);

async function createSigner(seed: Bytes): Promise<Signer> {
  const seedCopy = copyOf(seed); // the caller wipes its own
  const pkcs8Bytes = concatBytes(pkcs8Prefix, seedCopy);
  try {
    const key = await crypto.subtle.importKey("pkcs8", pkcs8Bytes, "Ed25519", false, ["sign"]);
    wipe(seedCopy);
    return { key, sign: (message) => signWith(key, message) };
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    // without Ed25519 in the browser, the seed stays in memory until this worker ends
    return { key: null, sign: (message) => Promise.resolve(copyOf(ed25519.sign(message, seedCopy))) };
  } finally {
    wipe(pkcs8Bytes);
  }
}

async function signWith(key: CryptoKey, message: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.sign("Ed25519", key, message));
}

/**
 * Whether both come from the same account key. Compares signing and author keys, which do not
 * reveal the account key.
 */
export function hasSameAccountKey(
  left: Pick<MetadataKeys, "keyEpoch" | "signingKey" | "authorKey">,
  right: Pick<MetadataKeys, "keyEpoch" | "signingKey" | "authorKey">,
): boolean {
  return (
    left.keyEpoch === right.keyEpoch &&
    equalBytes(left.signingKey, right.signingKey) &&
    equalBytes(left.authorKey, right.authorKey)
  );
}

function derivePublicSigningKey(seed: Uint8Array): Bytes {
  return copyOf(ed25519.getPublicKey(seed));
}

/**
 * Adds `sig` (RFC 8032, base64url), a signature over
 * `<prefix> ‖ 0x0A ‖ SHA-256(JCS without sig)`.
 */
export async function signDocument<T extends Readonly<Record<string, Json | undefined>>>(
  prefix: SignaturePrefix,
  document: T,
  signer: Signer,
): Promise<T & { readonly sig: string }> {
  return { ...document, sig: toBase64url(await signer.sign(buildSignedMessage(prefix, document))) };
}
