import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  type KeyObject,
} from "node:crypto";

import {
  helperBytes,
  buildSignedMessage,
  type Json,
  type KeyringChange,
  type KeyStatement,
  type NewSecret,
  type StoreSecretBody,
  type StoreSecretsBody,
} from "@relicario/shared/api";
import { decodeJwt } from "jose";
import { v7 as uuidv7 } from "uuid";

const toB64u = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64url");

/**
 * The account with a real signing key, and what a device of it keeps: the last state and its
 * number.
 */
export interface Signer {
  readonly userId: string;
  readonly signingKey: KeyObject;
  stateRev: number;
  state: string | null;
  imageId: string;
}

/** A signer with a session. */
export interface Person extends Signer {
  readonly subject: string;
  readonly token: string;
}

export function createSigner(userId: string): Signer {
  return { userId, signingKey: generateKeyPairSync("ed25519").privateKey, stateRev: 0, state: null, imageId: uuidv7() };
}

export function createPerson(subject: string, token: string): Person {
  const { sub } = decodeJwt(token);
  if (sub === undefined) throw new Error("a session token without sub");
  return { subject, token, ...createSigner(sub) };
}

/**
 * A well-formed compact JWE with this header; what is inside is noise, as it is for the service.
 */
export function buildJwe(header: Readonly<Record<string, unknown>>): string {
  const encodedHeader = toB64u(Buffer.from(JSON.stringify({ alg: "dir", enc: "A256GCM", ...header })));
  return `${encodedHeader}..${toB64u(randomBytes(12))}.${toB64u(randomBytes(512))}.${toB64u(randomBytes(16))}`;
}

export function buildLabel(person: Signer, secretId: string, version: number, rev = 1, keyEpoch = 1): string {
  return buildJwe({
    typ: "relicario-label",
    user_id: person.userId,
    key_epoch: keyEpoch,
    secret_id: secretId,
    version,
    rev,
  });
}

export const computeDigest = (text: string): string => createHash("sha256").update(text).digest("base64url");

/** Native hybrid recipients are 1216 bytes in bech32; the service looks at form and length only. */
export const buildRecipient = (): string => `age1pq1${"q".repeat(1_952)}`;

export function signDocument<T extends Readonly<Record<string, Json | undefined>>>(
  prefix: "key" | "put",
  document: T,
  key: KeyObject,
): T & { sig: string } {
  const { sig: _, ...rest } = document;
  return { ...document, sig: toB64u(sign(null, buildSignedMessage(prefix, rest), key)) };
}

export function buildStatement(person: Signer, overrides: Partial<KeyStatement> = {}): KeyStatement {
  const { x } = createPublicKey(createPrivateKey(person.signingKey.export({ format: "pem", type: "pkcs8" }))).export({
    format: "jwk",
  });
  const statement = {
    v: 1 as const,
    user_id: person.userId,
    recipient: buildRecipient(),
    signing_key: String(x),
    key_epoch: 1,
    previous_sig: null,
    ...overrides,
  };
  return signDocument("key", statement, person.signingKey);
}

export function buildState(person: Signer): string {
  const previous = person.state === null ? null : computeDigest(person.state);
  return buildJwe({ typ: "relicario-state", user_id: person.userId, key_epoch: 1, previous });
}

export const buildSlot = (openerId: string, kind: "image" | "recovery_code" | "passkey" = "image") => ({
  opener_id: openerId,
  kind,
  slot: toB64u(randomBytes(1_600)),
});

export const buildImageRecord = (id: string) => ({
  id,
  helper: toB64u(randomBytes(helperBytes)),
  created_at: "2026-11-21T10:00:00.000Z",
});

/**
 * What the device of this person would send next, signed. Members of `overrides` that are undefined
 * are left out.
 */
export function buildChange(person: Signer, overrides: Readonly<Record<string, Json | undefined>> = {}): KeyringChange {
  const ownerMembers = { user_id: person.userId, key_epoch: 1 };
  const initialMembers =
    person.stateRev === 0
      ? {
          book: buildJwe({ typ: "relicario-book", ...ownerMembers }),
          shares: buildJwe({ typ: "relicario-shares", ...ownerMembers }),
          slots: { set: [buildSlot(person.imageId)], remove: [] },
          key_statement: buildStatement(person),
          image_records: { set: [buildImageRecord(person.imageId)], remove: [] },
        }
      : {};
  const change: Record<string, Json> = {
    v: 1,
    ...ownerMembers,
    state_rev: person.stateRev + 1,
    state: buildState(person),
    ...initialMembers,
  };
  const members = Object.entries({ ...change, ...overrides }).filter(([, value]) => value !== undefined);
  // tests send broken ones too
  return signDocument("put", Object.fromEntries(members), person.signingKey) as unknown as KeyringChange;
}

/** The device takes over what the service confirmed. */
export function confirmChange(person: Signer, change: KeyringChange): void {
  person.stateRev = change.state_rev;
  person.state = change.state;
}

export interface BuiltSecret {
  readonly body: Extract<StoreSecretBody, { content: string }>;
  readonly content: Buffer;
}

/** A whole `POST /secrets/store`: a new secret, or a new version of `secret_db_id`. */
export function buildSecret(
  person: Signer,
  {
    id = uuidv7(),
    base,
    bytes = 700,
    change = {},
  }: { id?: string; base?: number; bytes?: number; change?: Readonly<Record<string, Json | undefined>> } = {},
): BuiltSecret {
  const content = randomBytes(bytes);
  const version = (base ?? 0) + 1;
  return {
    content,
    body: {
      secret_db_id: id,
      ...(base === undefined ? {} : { base_version: base }),
      label: buildLabel(person, id, version),
      ticket: toB64u(randomBytes(2_000)),
      content: toB64u(content),
      keyring: buildChange(person, change),
    },
  };
}

/** A whole `POST /secrets/store/batch` of so many new secrets. */
export function buildBatch(
  person: Signer,
  secretCount: number,
  change: Readonly<Record<string, Json | undefined>> = {},
): StoreSecretsBody {
  const keyring = buildChange(person, change);
  const buildNewSecret = (): NewSecret => {
    const { secret_db_id, label, ticket, content } = buildSecret(person).body;
    return { secret_db_id, label, ticket, content };
  };
  return { secrets: Array.from({ length: secretCount }, buildNewSecret), keyring };
}
