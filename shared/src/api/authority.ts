import { z } from "zod";

import type { KeyringChange, KeyStatement } from "./keyring.ts";
import { fromBase64url } from "./wire.ts";
import { hasValidSignature } from "./signed.ts";
import { base64urlBytes, Digest, Id, PositiveInt, Signature } from "./wire.ts";

/*
 * [Note: Authority] Three authorities: a session stars, trashes, restores and revokes; the signing
 * key, a metadata key that own devices keep, renames and shortens shares; the author key, derived
 * from the account key while an opener was presented, signs the rest.
 */

/** Members that only the author key changes. */
const authoredMembers = [
  "book",
  "slots",
  "key_statement",
  "image_records",
  "purge",
  "purge_versions",
  "stage_id",
  "trash_confirm",
] as const satisfies readonly (keyof KeyringChange)[];

/** Whether the change alone, whatever its call does, needs `author_sig`. */
export function needsAuthorSignature(change: Omit<KeyringChange, "sig">): boolean {
  return authoredMembers.some((member) => change[member] !== undefined);
}

/** Whether the author key that the statement names signed it. */
export function isSelfSigned(statement: KeyStatement): boolean {
  return hasValidSignature("key", statement, fromBase64url(statement.author_key));
}

/** @param authorKey registered before the change; 32 bytes, base64url */
export function hasValidAuthorSignature(change: KeyringChange, authorKey: string): boolean {
  const { author_sig: authorSig, ...signedChange } = change;
  return (
    authorSig !== undefined &&
    hasValidSignature("author-put", { ...signedChange, sig: authorSig }, fromBase64url(authorKey))
  );
}

/**
 * Accompanies a ticket, signed by the author key (prefix `author-ticket`). It names no `state_rev`,
 * so it survives retries.
 */
export const TicketSignature = z.strictObject({
  v: z.literal(1),
  user_id: Id,
  secret_id: Id,
  version: PositiveInt,
  /** The ticket's own. */
  rev: PositiveInt,
  /** 16 bytes, base64url; null for an owner ticket. */
  share_id: base64urlBytes(16, { exact: true }).nullable(),
  /** Trusted contacts that the ticket is sealed to. */
  contacts: z.array(Id).max(0),
  /** Of the sealed ticket, and of the sealed content that it opens. */
  ticket_sha256: Digest,
  content_sha256: Digest,
  sig: Signature,
});
export type TicketSignature = z.infer<typeof TicketSignature>;

/** @param authorKey registered before the call; 32 bytes, base64url */
export function hasValidTicketSignature(
  signature: TicketSignature,
  expected: Omit<TicketSignature, "v" | "rev" | "contacts" | "sig">,
  authorKey: string,
): boolean {
  return (
    (Object.keys(expected) as (keyof typeof expected)[]).every((name) => signature[name] === expected[name]) &&
    hasValidSignature("author-ticket", signature, fromBase64url(authorKey))
  );
}
