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
  type Json,
  type KeyringChange,
  type KeyStatement,
  type NewSecret,
  type StoreSecretBody,
  type StoreSecretsBody,
  type TicketSignature,
} from "@relicario/shared/api";
import { buildSignedMessage, type SignaturePrefix } from "@relicario/shared/api/signatures";
import { decodeJwt } from "jose";
import { v7 as uuidv7 } from "uuid";

const toB64u = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64url");

/** An account with real keys, and its device's last state and number. */
export interface Signer {
  readonly userId: string;
  readonly signingKey: KeyObject;
  readonly authorKey: KeyObject;
  /** Digest of each built content, by id and version, for the signatures of other tickets. */
  readonly contentDigests: Map<string, string>;
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
  return {
    userId,
    signingKey: generateKeyPairSync("ed25519").privateKey,
    authorKey: generateKeyPairSync("ed25519").privateKey,
    contentDigests: new Map(),
    stateRev: 0,
    state: null,
    imageId: uuidv7(),
  };
}

export function createPerson(subject: string, token: string): Person {
  const { sub } = decodeJwt(token);
  if (sub === undefined) throw new Error("a session token without sub");
  return { subject, token, ...createSigner(sub) };
}

/**
 * Builds a well-formed compact JWE with this header and random content. The service cannot tell it
 * from a real one.
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

/** Native hybrid recipients have 1216 bytes in bech32; the service checks form and length only. */
export const buildRecipient = (): string => `age1pq1${"q".repeat(1_952)}`;

export function signDocument<T extends Readonly<Record<string, Json | undefined>>>(
  prefix: SignaturePrefix,
  document: T,
  key: KeyObject,
): T & { sig: string } {
  const { sig: _, ...rest } = document;
  return { ...document, sig: toB64u(sign(null, buildSignedMessage(prefix, rest), key)) };
}

export function buildStatement(person: Signer, overrides: Partial<KeyStatement> = {}): KeyStatement {
  const statement = {
    v: 1 as const,
    user_id: person.userId,
    recipient: buildRecipient(),
    signing_key: exportPublicKey(person.signingKey),
    author_key: exportPublicKey(person.authorKey),
    key_epoch: 1,
    previous_sig: null,
    ...overrides,
  };
  return signDocument("key", statement, person.authorKey);
}

/** 32 bytes, base64url. */
export function exportPublicKey(key: KeyObject): string {
  const { x } = createPublicKey(createPrivateKey(key.export({ format: "pem", type: "pkcs8" }))).export({
    format: "jwk",
  });
  return String(x);
}

/** What accompanies a ticket; of the content that was built for this version. */
export function signTicket(
  person: Signer,
  { secretId, version, ticket, shareId = null }: SignedTicket,
  overrides: Partial<TicketSignature> = {},
): TicketSignature {
  const body = {
    v: 1 as const,
    user_id: person.userId,
    secret_id: secretId,
    version,
    rev: 1,
    share_id: shareId,
    contacts: [],
    ticket_sha256: createHash("sha256").update(Buffer.from(ticket, "base64url")).digest("base64url"),
    content_sha256: person.contentDigests.get(`${secretId} ${String(version)}`) ?? computeDigest("unknown"),
    ...overrides,
  };
  return signDocument("author-ticket", body, person.authorKey);
}

interface SignedTicket {
  readonly secretId: string;
  readonly version: number;
  readonly ticket: string;
  readonly shareId?: string | null;
}

/** For {@link signTicket}: remembers the content of a version. */
export function rememberContent(person: Signer, secretId: string, version: number, content: Uint8Array): void {
  person.contentDigests.set(`${secretId} ${String(version)}`, createHash("sha256").update(content).digest("base64url"));
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
 * The device's next change, signed by the author key too. Members of `overrides` that are undefined
 * are omitted: `author_sig` for a change by metadata keys alone.
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
  const members = Object.fromEntries(
    Object.entries({ ...change, ...overrides }).filter(([, value]) => value !== undefined),
  );
  return "author_sig" in overrides
    ? (signDocument("put", members, person.signingKey) as unknown as KeyringChange) // tests send invalid ones too
    : signChange(members, person);
}

/** Signs a change by both keys of an account, in place of earlier signatures. */
export function signChange(
  { author_sig: _, sig: __, ...change }: Readonly<Record<string, Json | undefined>>,
  { signingKey, authorKey }: Pick<Signer, "signingKey" | "authorKey">,
): KeyringChange {
  const { sig: authorSig } = signDocument("author-put", change, authorKey);
  return signDocument("put", { ...change, author_sig: authorSig }, signingKey) as unknown as KeyringChange;
}

/** Applies a confirmed change to the device's state. */
export function confirmChange(person: Signer, change: KeyringChange): void {
  person.stateRev = change.state_rev;
  person.state = change.state;
}

export interface BuiltSecret {
  readonly body: Extract<StoreSecretBody, { content: string }>;
  readonly content: Buffer;
}

/** A body of `POST /secrets/store`: a new secret, or a new version of `secret_db_id`. */
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
  const ticket = toB64u(randomBytes(2_000));
  rememberContent(person, id, version, content);
  return {
    content,
    body: {
      secret_db_id: id,
      ...(base === undefined ? {} : { base_version: base }),
      label: buildLabel(person, id, version),
      ticket,
      ticket_sig: signTicket(person, { secretId: id, version, ticket }),
      content: toB64u(content),
      keyring: buildChange(person, change),
    },
  };
}

/** A body of `POST /secrets/store/batch` with new secrets. */
export function buildBatch(
  person: Signer,
  secretCount: number,
  change: Readonly<Record<string, Json | undefined>> = {},
): StoreSecretsBody {
  const keyring = buildChange(person, change);
  const buildNewSecret = (): NewSecret => {
    const { secret_db_id, label, ticket, ticket_sig, content } = buildSecret(person).body;
    return { secret_db_id, label, ticket, ticket_sig, content };
  };
  return { secrets: Array.from({ length: secretCount }, buildNewSecret), keyring };
}
