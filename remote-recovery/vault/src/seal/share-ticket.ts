import {
  Audience,
  base64urlBytes,
  PositiveInt,
  Digest,
  fromBase64url,
  Id,
  maxFileNameLength,
  maxTitleLength,
  ShareId,
  Signature,
  Timestamp,
  toBase64url,
} from "@relicario/shared/api";
import { hasValidSignature } from "@relicario/shared/api/signatures";
import { PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { openWith } from "./age.ts";
import { sha256, utf8, wipe, type Bytes } from "./bytes.ts";
import { contentFields } from "./content-fields.ts";
import { parseDocument } from "./document.ts";
import { boundedText } from "./text.ts";

/**
 * Opens one shared version of a secret, and proves who sealed it. Contains the content identity,
 * which is secret.
 */
export const ShareTicket = z.strictObject({
  v: z.literal(1),
  kind: z.literal("share"),
  share_id: ShareId,
  audience: Audience,
  secret_id: Id,
  version: PositiveInt,
  /** Revision of the share, which grows with each ticket sealed for it. */
  rev: PositiveInt,
  /** Id of the account that signed this, and its 32-byte signing key. */
  owner: Id,
  owner_key: base64urlBytes(32, { exact: true }),
  /** {@link computeRecipientDigest} of the recipient that the ticket is sealed to. */
  recipient: Digest,
  title: boundedText(maxTitleLength),
  /** Always empty, because the owner's tags are private. */
  tags: z.array(z.string()).max(0),
  name: boundedText(maxFileNameLength),
  mime: boundedText(maxFileNameLength),
  ...contentFields,
  created_at: Timestamp,
  sig: Signature,
});
export type ShareTicket = z.infer<typeof ShareTicket>;

/** SHA-256 (base64url) of a recipient as text. */
export function computeRecipientDigest(recipient: string): string {
  return toBase64url(sha256(utf8(recipient)));
}

/** What a share's ticket must contain, as the recipient knows from other sources. */
export interface ExpectedShareTicket {
  readonly shareId: string;
  readonly audience: ShareTicket["audience"];
  /** Recipient of the identity that opens the ticket. */
  readonly recipient: string;
  readonly owner: string;
  /**
   * The pinned key, base64url. Null if none is pinned; the ticket must then be signed by the key
   * that it names.
   */
  readonly ownerKey: string | null;
}

/**
 * Opens a share's ticket and checks its members.
 *
 * @returns null if the ticket is not sealed to this identity
 * @throws PortalError `decryption_failed` on every mismatch or failure
 */
export async function openShareTicket(
  identity: string,
  sealed: Bytes,
  expected: ExpectedShareTicket,
): Promise<ShareTicket | null> {
  const plain = await openWith(identity, sealed, "one");
  if (plain === null) return null;
  try {
    const ticket = parseDocument(ShareTicket, plain);
    const { shareId, audience, owner, ownerKey, recipient } = expected;
    const matches =
      ticket.share_id === shareId &&
      ticket.audience === audience &&
      ticket.owner === owner &&
      ticket.recipient === computeRecipientDigest(recipient);
    const ownerKeyMatches = ownerKey === null || ticket.owner_key === ownerKey;
    if (!matches || !ownerKeyMatches || !hasValidSignature("ticket", ticket, fromBase64url(ticket.owner_key)))
      throw new PortalError("decryption_failed");
    return ticket;
  } finally {
    wipe(plain);
  }
}
