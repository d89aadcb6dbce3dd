import { fromBase64url, toBase64url } from "@relicario/shared/api";
import type { OpenedSecret } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { openBookInner } from "../seal/book.ts";
import { sha256, type Bytes } from "../seal/bytes.ts";
import type { Label } from "../seal/label.ts";
import type { OpenerKeys } from "../seal/opener.ts";
import { computeLabelDigest } from "../seal/state.ts";
import { isSignedBy, openTicket, tryOpenTicket, type OwnerTicket } from "../seal/ticket.ts";
import type { AccountRow } from "../session/list-cache.ts";
import { verifyFormerVersions } from "./former-versions.ts";
import type { VaultSession } from "../session/vault-session.ts";
import type { OpenedKeyring } from "../session/keyring-views.ts";
import type { StoredVersion } from "../service/service.ts";

/** The version to open, with the label of the newest version. */
export interface VersionTarget {
  readonly row: AccountRow;
  readonly label: Label;
  readonly version: number;
}

/** Opens a ticket, compares it with row and label, and verifies that this account signed it. */
export async function readTicket(
  vault: VaultSession,
  openedKeyring: OpenedKeyring,
  { row, label, version }: VersionTarget,
  storedVersion: StoredVersion,
  opener: OpenerKeys,
): Promise<{ readonly ticket: OwnerTicket; readonly signatureStatus: OpenedSecret["signatureStatus"] }> {
  if (storedVersion.version !== version || computeLabelDigest(storedVersion.label) !== row.labelHex)
    throw new PortalError("list_mismatch");
  const { userId } = vault;
  const sealedTicket = fromBase64url(storedVersion.ticket);
  const ticket =
    version === row.version
      ? await openNewestTicket(userId, row, label, sealedTicket, opener)
      : await openFormerTicket(userId, { row, label, version }, storedVersion, sealedTicket, opener);
  if (!isSignedBy(ticket, await readAuthorKeys(vault, openedKeyring)))
    return { ticket, signatureStatus: "not_verified" };
  vault.signedOpeners.set(toBase64url(sha256(sealedTicket)), ticket.openers);
  return { ticket, signatureStatus: "verified" };
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

/** Opens the ticket of an earlier version, whose openers may differ from the current ones. */
async function openFormerTicket(
  userId: string,
  { row, label, version }: VersionTarget,
  storedVersion: StoredVersion,
  sealedTicket: Bytes,
  opener: OpenerKeys,
): Promise<OwnerTicket> {
  const versionRecord = verifyFormerVersions(row, label, storedVersion.versions).find(
    (former) => former.version === version,
  );
  if (versionRecord?.ticket_sha256 !== toBase64url(sha256(sealedTicket))) throw new PortalError("list_mismatch");
  const ticket = await tryOpenTicket(opener, sealedTicket);
  if (ticket === null) throw new PortalError("opener_needed");
  if (!isTicketOf(ticket, userId, row, version)) throw new PortalError("decryption_failed");
  return ticket;
}

/** Compares secret, version and owner. The ticket's `rev` must not exceed the label's. */
function isTicketOf(ticket: OwnerTicket, userId: string, row: AccountRow, version: number): boolean {
  return (
    ticket.secret_id === row.secretId && ticket.version === version && ticket.owner === userId && ticket.rev <= row.rev
  );
}

/** Compares the other members with the label. Names may differ if the ticket has a lower `rev`. */
function matchesLabel(ticket: OwnerTicket, row: AccountRow, label: Label): boolean {
  const hasSameNames =
    ticket.title === label.title &&
    ticket.name === label.name &&
    JSON.stringify(ticket.tags) === JSON.stringify(label.tags);
  return (
    (hasSameNames || ticket.rev < row.rev) && ticket.content_kind === label.content_kind && ticket.size === label.size
  );
}

const authorKeysByKeyring = new WeakMap<OpenedKeyring, Promise<Bytes[]>>();

/**
 * Returns the account's author keys, newest first: never one from the key directory, or one that
 * metadata keys could have written.
 *
 * @throws PortalError `show_opener_first` without the account key, `decryption_failed`.
 */
export function readAuthorKeys(vault: VaultSession, openedKeyring: OpenedKeyring): Promise<Bytes[]> {
  const known = authorKeysByKeyring.get(openedKeyring);
  if (known !== undefined) return known;
  const { keys, book } = openedKeyring;
  const read = async (): Promise<Bytes[]> => {
    const inner = await openBookInner(vault.requireAccountKeyOf(keys), vault.userId, book);
    return [
      keys.authorKey,
      ...inner.old_author_keys.toReversed().map(({ author_key: authorKey }) => fromBase64url(authorKey)),
    ];
  };
  const authorKeys = read();
  authorKeysByKeyring.set(openedKeyring, authorKeys);
  authorKeys.catch(() => authorKeysByKeyring.delete(openedKeyring)); // the next call tries again
  return authorKeys;
}
