import { PositiveInt, hasValidSignature, Id, Signature, Timestamp } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { signDocument, type MetadataKeys } from "./account-key.ts";
import { openWith, sealTo } from "./age.ts";
import { wipe, type Bytes } from "./bytes.ts";
import { contentFields } from "./content-fields.ts";
import type { OpenerKeys } from "./opener.ts";
import { serializeDocument, parseDocument } from "./document.ts";

/**
 * What opens one version of a secret, and proves who sealed it. Holds the content identity: a
 * secret.
 */
export const OwnerTicket = z.strictObject({
  v: z.literal(1),
  kind: z.literal("owner"),
  secret_id: Id,
  version: PositiveInt,
  /** The label's at its sealing. */
  rev: PositiveInt,
  /** Id of the account. */
  owner: Id,
  title: z.string(),
  tags: z.array(z.string()),
  name: z.string(),
  mime: z.string(),
  ...contentFields,
  created_at: Timestamp,
  sig: Signature,
});
export type OwnerTicket = z.infer<typeof OwnerTicket>;

/** Signs a ticket and seals it to the openers of the secret. */
export async function sealTicket(
  keys: MetadataKeys,
  recipients: readonly string[],
  ticket: Omit<OwnerTicket, "sig">,
): Promise<Bytes> {
  return sealSignedTicket(recipients, await signTicket(keys, ticket));
}

export function signTicket(keys: MetadataKeys, ticket: Omit<OwnerTicket, "sig">): Promise<OwnerTicket> {
  return signDocument("ticket", ticket, keys.signer);
}

/** Seals a ticket as it was signed. */
export async function sealSignedTicket(recipients: readonly string[], ticket: OwnerTicket): Promise<Bytes> {
  const plain = serializeDocument(ticket);
  try {
    return await sealTo(recipients, plain);
  } finally {
    wipe(plain);
  }
}

/**
 * Opens a ticket with an opener that is shown. What it says is checked by the caller against label
 * and row.
 *
 * @throws PortalError `decryption_failed`.
 */
export async function openTicket(opener: OpenerKeys, sealed: Bytes): Promise<OwnerTicket> {
  const ticket = await tryOpenTicket(opener, sealed);
  if (ticket === null) throw new PortalError("decryption_failed");
  return ticket;
}

/** As {@link openTicket}; null when it is not sealed to this opener. */
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
 * Whether one of these signing keys signed it. They come from the account key and the book, never
 * from a directory.
 */
export function isSignedBy(ticket: OwnerTicket, signingKeys: readonly Uint8Array[]): boolean {
  return signingKeys.some((key) => hasValidSignature("ticket", ticket, key));
}
