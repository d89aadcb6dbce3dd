import {
  fromBase64url,
  needsAuthorSignature,
  toBase64url,
  type KeyringChange,
  type KeyStatement,
  type TicketSignature,
} from "@relicario/shared/api";
import { hasValidSignature, isSelfSigned } from "@relicario/shared/api/signatures";
import { PortalError } from "@relicario/shared/errors";

import { deriveMetadataKeys, signDocument, type AccountKey, type MetadataKeys } from "./account-key.ts";
import { equalBytes, sha256, type Bytes } from "./bytes.ts";

/**
 * Creates the account's key statement, signed by its own author key.
 *
 * @param previousKey account key of the previous generation, whose author key signs the statement
 *   without both signatures; null for the first generation
 */
export async function createKeyStatement(
  accountKey: AccountKey,
  userId: string,
  previousKey: AccountKey | null = null,
): Promise<KeyStatement> {
  const { recipient, signingKey, authorKey, keyEpoch } = await deriveMetadataKeys(accountKey);
  const body = {
    v: 1 as const,
    user_id: userId,
    recipient,
    signing_key: toBase64url(signingKey),
    author_key: toBase64url(authorKey),
    key_epoch: keyEpoch,
  };
  const previousSig =
    previousKey === null ? null : (await signDocument("key", body, await previousKey.getAuthor())).sig;
  return signDocument("key", { ...body, previous_sig: previousSig }, await accountKey.getAuthor());
}

/** Whether a published statement comes from this account's key. */
export function isOwnKeyStatement(keys: MetadataKeys, userId: string, statement: KeyStatement): boolean {
  return (
    statement.user_id === userId &&
    statement.recipient === keys.recipient &&
    equalBytes(fromBase64url(statement.signing_key), keys.signingKey) &&
    equalBytes(fromBase64url(statement.author_key), keys.authorKey) &&
    statement.key_epoch === keys.keyEpoch &&
    isSelfSigned(statement)
  );
}

/**
 * Whether `previous_sig` was signed by the previous author key. Null is valid: for the first
 * statement, and after an account reset.
 *
 * @param previousAuthorKeys author keys of earlier generations, each with its last `key_epoch`
 */
export function hasValidPreviousSignature(
  statement: KeyStatement,
  previousAuthorKeys: readonly { readonly keyEpoch: number; readonly authorKey: Uint8Array }[],
): boolean {
  const { previous_sig: sig, sig: _, ...body } = statement;
  if (sig === null) return true;
  return previousAuthorKeys.some(
    ({ keyEpoch, authorKey }) =>
      keyEpoch === statement.key_epoch - 1 && hasValidSignature("key", { ...body, sig }, authorKey),
  );
}

/**
 * Signs a change, first by the author key where the change needs it or the call does.
 *
 * @param accountKey null while no opener was presented
 * @throws PortalError `show_opener_first` if the author key must sign and is missing
 */
export async function signKeyringChange(
  keys: MetadataKeys,
  accountKey: AccountKey | null,
  change: Omit<KeyringChange, "sig" | "author_sig">,
  { authored = false }: { readonly authored?: boolean } = {},
): Promise<KeyringChange> {
  if (!authored && !needsAuthorSignature(change)) return signDocument("put", change, keys.signer);
  if (accountKey === null) throw new PortalError("show_opener_first");
  const { sig: authorSig } = await signDocument("author-put", change, await accountKey.getAuthor());
  return signDocument("put", { ...change, author_sig: authorSig }, keys.signer);
}

/** What a ticket opens, as its signature names it. */
export interface SignedTicketFacts {
  readonly userId: string;
  readonly secretId: string;
  readonly version: number;
  /** The ticket's own. */
  readonly rev: number;
  /** Null for an owner ticket. */
  readonly shareId: string | null;
  /** Of the sealed content, base64url. */
  readonly contentSha256: string;
}

/** Signs a sealed ticket for the service. Names no state, so that it survives retries. */
export async function signSealedTicket(
  accountKey: AccountKey,
  sealedTicket: Bytes,
  { userId, secretId, version, rev, shareId, contentSha256 }: SignedTicketFacts,
): Promise<TicketSignature> {
  const body = {
    v: 1 as const,
    user_id: userId,
    secret_id: secretId,
    version,
    rev,
    share_id: shareId,
    contacts: [],
    ticket_sha256: toBase64url(sha256(sealedTicket)),
    content_sha256: contentSha256,
  };
  return signDocument("author-ticket", body, await accountKey.getAuthor());
}
