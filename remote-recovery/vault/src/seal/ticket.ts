import { PositiveInt, Id, Signature, Timestamp } from "@relicario/shared/api";
import { hasValidSignature } from "@relicario/shared/api/signatures";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { signDocument, type AccountKey } from "./account-key.ts";
import { openWith, sealTo } from "./age.ts";
import { wipe, type Bytes } from "./bytes.ts";
import { contentFields } from "./content-fields.ts";
import type { OpenerKeys } from "./opener.ts";
import { serializeDocument, parseDocument } from "./document.ts";

/**
 * Opens one version of a secret, and proves who sealed it. Contains the content identity, which is
 * secret.
 */
export const OwnerTicket = z.strictObject({
  v: z.literal(1),
  kind: z.literal("owner"),
  secret_id: Id,
  version: PositiveInt,
  /** Revision of the label when this ticket was sealed. */
  rev: PositiveInt,
  /** Id of the account. */
  owner: Id,
  title: z.string(),
  tags: z.array(z.string()),
  /** Ids of the openers that it is sealed to. */
  openers: z.array(Id),
  name: z.string(),
  mime: z.string(),
  ...contentFields,
  created_at: Timestamp,
  sig: Signature,
});
export type OwnerTicket = z.infer<typeof OwnerTicket>;

export async function sealTicket(
  accountKey: AccountKey,
  recipients: readonly string[],
  ticket: Omit<OwnerTicket, "sig">,
): Promise<Bytes> {
  return sealSignedTicket(recipients, await signTicket(accountKey, ticket));
}

export async function signTicket(accountKey: AccountKey, ticket: Omit<OwnerTicket, "sig">): Promise<OwnerTicket> {
  return signDocument("ticket", ticket, await accountKey.getAuthor());
}

export async function sealSignedTicket(recipients: readonly string[], ticket: OwnerTicket): Promise<Bytes> {
  const plain = serializeDocument(ticket);
  try {
    return await sealTo(recipients, plain);
  } finally {
    wipe(plain);
  }
}

/**
 * Opens a ticket with a presented opener. The caller compares its members with label and row.
 *
 * @throws PortalError `decryption_failed`
 */
export async function openTicket(opener: OpenerKeys, sealed: Bytes): Promise<OwnerTicket> {
  const ticket = await tryOpenTicket(opener, sealed);
  if (ticket === null) throw new PortalError("decryption_failed");
  return ticket;
}

/** Like {@link openTicket}; null if the ticket is not sealed to this opener. */
export async function tryOpenTicket(opener: OpenerKeys, sealed: Bytes): Promise<OwnerTicket | null> {
  const plain = await openWith(opener.identity, sealed, "many");
  if (plain === null) return null;
  try {
    return parseDocument(OwnerTicket, plain);
  } finally {
    wipe(plain);
  }
}

/**
 * Whether one of these author keys signed the ticket. The keys must come from the account key and
 * the book's `inner`, never from a directory or from what metadata keys open.
 */
export function isSignedBy(ticket: OwnerTicket, authorKeys: readonly Uint8Array[]): boolean {
  return authorKeys.some((key) => hasValidSignature("ticket", ticket, key));
}
