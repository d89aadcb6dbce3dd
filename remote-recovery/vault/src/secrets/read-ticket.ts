import { fromBase64url, toBase64url, type SecretContent } from "@relicario/shared/api";
import type { OpenedSecret } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import type { MetadataKeys } from "../seal/account-key.ts";
import type { Book } from "../seal/book.ts";
import { sha256, type Bytes } from "../seal/bytes.ts";
import type { Label } from "../seal/label.ts";
import type { OpenerKeys } from "../seal/opener.ts";
import { computeLabelDigest } from "../seal/state.ts";
import { isSignedBy, openTicket, tryOpenTicket, type OwnerTicket } from "../seal/ticket.ts";
import type { AccountRow } from "../session/list-cache.ts";
import { verifyFormerVersions } from "./former-versions.ts";
import type { OpenedKeyring } from "../session/keyring-views.ts";

/** Which version of which row is opened; the label is that of the newest. */
export interface VersionTarget {
  readonly row: AccountRow;
  readonly label: Label;
  readonly version: number;
}

/** What the opener opens, checked against row and label, and whether this account signed it. */
export async function readTicket(
  userId: string,
  openedKeyring: OpenedKeyring,
  { row, label, version }: VersionTarget,
  stored: SecretContent,
  opener: OpenerKeys,
): Promise<{ readonly ticket: OwnerTicket; readonly author: OpenedSecret["author"] }> {
  if (stored.version !== version || computeLabelDigest(stored.label) !== row.labelHex)
    throw new PortalError("list_mismatch");
  const sealedTicket = fromBase64url(stored.ticket);
  const ticket =
    version === row.version
      ? await openNewestTicket(userId, row, label, sealedTicket, opener)
      : await openFormerTicket(userId, { row, label, version }, stored, sealedTicket, opener);
  return {
    ticket,
    author: isSignedBy(ticket, collectSigningKeys(openedKeyring.keys, openedKeyring.book))
      ? "verified"
      : "not_verified",
  };
}

async function openNewestTicket(
  userId: string,
  row: AccountRow,
  label: Label,
  sealedTicket: Bytes,
  opener: OpenerKeys,
): Promise<OwnerTicket> {
  if (toBase64url(sha256(sealedTicket)) !== label.ticket_sha256) throw new PortalError("list_mismatch");
  const ticket = await openTicket(opener, sealedTicket);
  if (!isTicketOf(ticket, userId, row, row.version) || !matchesLabel(ticket, row, label))
    throw new PortalError("decryption_failed");
  return ticket;
}

/** Its openers may be others than today's. */
async function openFormerTicket(
  userId: string,
  { row, label, version }: VersionTarget,
  stored: SecretContent,
  sealedTicket: Bytes,
  opener: OpenerKeys,
): Promise<OwnerTicket> {
  const versionRecord = verifyFormerVersions(row, label, stored.versions).find((former) => former.version === version);
  if (versionRecord?.ticket_sha256 !== toBase64url(sha256(sealedTicket))) throw new PortalError("list_mismatch");
  const ticket = await tryOpenTicket(opener, sealedTicket);
  if (ticket === null) throw new PortalError("opener_needed");
  if (!isTicketOf(ticket, userId, row, version)) throw new PortalError("decryption_failed");
  return ticket;
}

/** Secret, version, owner, and a `rev` that the label has reached. */
function isTicketOf(ticket: OwnerTicket, userId: string, row: AccountRow, version: number): boolean {
  return (
    ticket.secret_id === row.secretId && ticket.version === version && ticket.owner === userId && ticket.rev <= row.rev
  );
}

/** Every other member against the label. A ticket may be older than the label by renamings. */
function matchesLabel(ticket: OwnerTicket, row: AccountRow, label: Label): boolean {
  const hasSameNames =
    ticket.title === label.title &&
    ticket.name === label.name &&
    JSON.stringify(ticket.tags) === JSON.stringify(label.tags);
  return (
    (hasSameNames || ticket.rev < row.rev) && ticket.content_kind === label.content_kind && ticket.size === label.size
  );
}

/**
 * The key derived from the account key and the book's old ones: never one read from a directory.
 */
export function collectSigningKeys(keys: MetadataKeys, book: Book): Bytes[] {
  return [keys.signingKey, ...book.old_signing_keys.map((oldKey) => fromBase64url(oldKey.signing_key))];
}
