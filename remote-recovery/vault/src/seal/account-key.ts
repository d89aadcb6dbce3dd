import { ed25519 } from "@noble/curves/ed25519.js";
import { buildSignedMessage, toBase64url, type Json, type SignaturePrefix } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import { encodeIdentity, deriveRecipient } from "./age.ts";
import { concatBytes, copyOf, equalBytes, randomBytes, wipe, type Bytes } from "./bytes.ts";
import { importAesKey } from "./document.ts";
import { hkdf } from "./kdf.ts";

/**
 * The account key: 32 bytes, in the memory of the vault's worker alone, from the showing of an
 * opener until that worker ends. It is never at rest on a device. Its bytes are private, so that no
 * copy of this object (a message to the page, a log) has them.
 */
export class AccountKey {
  readonly keyEpoch: number;
  readonly #bytes: Bytes;

  /**
   * Takes the bytes: the caller gives them away.
   *
   * @throws PortalError `decryption_failed` unless they are 32.
   */
  constructor(bytes: Bytes, keyEpoch: number) {
    if (bytes.length !== 32) throw new PortalError("decryption_failed");
    this.#bytes = bytes;
    this.keyEpoch = keyEpoch;
  }

  static generate(keyEpoch: number): AccountKey {
    return new AccountKey(randomBytes(32), keyEpoch);
  }

  /** `HKDF(account key, label)`, 32 bytes; wipe them after use. */
  derive(label: string): Bytes {
    return hkdf(this.#bytes, label);
  }

  /** Lends the bytes for sealing a slot. */
  withBytes<T>(callback: (bytes: Bytes) => T): T {
    return callback(this.#bytes);
  }

  wipe(): void {
    wipe(this.#bytes);
  }
}

/**
 * Signs for the account. `key` is null where WebCrypto lacks Ed25519: such a signer cannot be kept.
 */
export interface Signer {
  readonly key: CryptoKey | null;
  /** 64 bytes (RFC 8032). */
  readonly sign: (message: Bytes) => Promise<Bytes>;
}

/**
 * The metadata keys: what shows titles and signs changes. They open no content and make no opener.
 * All are non-extractable, so that a device of the person's own may keep them between visits.
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
}

/** Documents that have a metadata key of their own. */
const documentNames = ["label", "book", "state", "shares", "requests"] as const;

/** What a device keeps of the metadata keys. */
export type StoredMetadataKeys = Readonly<Record<(typeof documentNames)[number] | "sign", CryptoKey>> & {
  readonly keyEpoch: number;
  readonly recipient: string;
  readonly signingKey: Bytes;
};

/** All that hangs on an account key but its `inner` documents and slots. */
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
      throw new TypeError("a key for each document");
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

/** Null where the signing key cannot be kept: then nothing is kept between visits. */
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
}: MetadataKeys): StoredMetadataKeys | null {
  return signer.key === null
    ? null
    : { keyEpoch, label, book, state, shares, requests, sign: signer.key, recipient, signingKey };
}

export function fromStoredMetadataKeys({ sign, ...stored }: StoredMetadataKeys): MetadataKeys {
  return { ...stored, signer: { key: sign, sign: (message) => signWith(sign, message) } };
}

/** PKCS #8 of an Ed25519 key (RFC 8410) up to its 32-byte seed. */
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
  const pkcs8Bytes = concatBytes(pkcs8Prefix, seed);
  try {
    const key = await crypto.subtle.importKey("pkcs8", pkcs8Bytes, "Ed25519", false, ["sign"]);
    return { key, sign: (message) => signWith(key, message) };
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    const seedCopy = copyOf(seed); // a browser without Ed25519: as long as this worker lives
    return { key: null, sign: (message) => Promise.resolve(copyOf(ed25519.sign(message, seedCopy))) };
  } finally {
    wipe(pkcs8Bytes);
  }
}

async function signWith(key: CryptoKey, message: Bytes): Promise<Bytes> {
  return new Uint8Array(await crypto.subtle.sign("Ed25519", key, message));
}

/** True when both hang on the same account key: the signing keys say so without showing either. */
export function hasSameAccountKey(
  left: Pick<MetadataKeys, "keyEpoch" | "signingKey">,
  right: Pick<MetadataKeys, "keyEpoch" | "signingKey">,
): boolean {
  return left.keyEpoch === right.keyEpoch && equalBytes(left.signingKey, right.signingKey);
}

/** Public key, 32 bytes, of an Ed25519 seed. */
function derivePublicSigningKey(seed: Uint8Array): Bytes {
  return copyOf(ed25519.getPublicKey(seed));
}

/** Adds `sig` (RFC 8032, base64url) over `<prefix> ‖ 0x0A ‖ JCS without sig`. */
export async function signDocument<T extends Readonly<Record<string, Json | undefined>>>(
  prefix: SignaturePrefix,
  document: T,
  signer: Signer,
): Promise<T & { readonly sig: string }> {
  return { ...document, sig: toBase64url(await signer.sign(buildSignedMessage(prefix, document))) };
}
