import { fromBase64url, maxSmallSealedBytes, type ShareClaim } from "@relicario/shared/api";
import type { CallOptions } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import type { Bytes } from "../seal/bytes.ts";
import { openContent } from "../seal/content.ts";
import { openShareTicket, type ExpectedShareTicket, type ShareTicket } from "../seal/share-ticket.ts";
import type { TransferCalls } from "../transfer/upload-calls.ts";
import type { SealedContentKey } from "../transfer/opened-content-store.ts";

export interface OpeningIdentity {
  readonly identity: string;
  readonly recipient: string;
}

export interface OpenedShareTicket {
  readonly ticket: ShareTicket;
  readonly sealed: SealedContentKey;
}

/**
 * Opens a ticket with the first matching identity.
 *
 * @throws PortalError `decryption_failed` if none matches, or the ticket is not as expected
 */
export async function openClaimedTicket(
  claimed: ShareClaim,
  identities: readonly OpeningIdentity[],
  expected: Omit<ExpectedShareTicket, "recipient">,
): Promise<OpenedShareTicket> {
  if (claimed.from.user_id !== expected.owner) throw new PortalError("decryption_failed");
  const sealedTicket = fromBase64url(claimed.ticket);
  for (const { identity, recipient } of identities) {
    const ticket = await openShareTicket(identity, sealedTicket, { ...expected, recipient });
    if (ticket === null) continue;
    const { content_identity: contentIdentity, content_sha256: sha256, content_kind: kind, size } = ticket;
    return { ticket, sealed: { token: claimed.download.token, identity: contentIdentity, sha256, kind, size } };
  }
  throw new PortalError("decryption_failed");
}

/** Replaces an empty or blank name, because refusing it would lose the content. */
export function getDisplayName({ name, content_kind: kind }: Pick<ShareTicket, "name" | "content_kind">): string {
  if (name.trim() !== "") return name;
  return kind === "file" ? "file.bin" : "secret.txt";
}

/** Replaces a blank type by the default for bytes. */
export function getMimeType({ mime }: Pick<ShareTicket, "mime">): string {
  return mime.trim() === "" ? "application/octet-stream" : mime;
}

/**
 * Fetches and opens a content. Returns null if it is too large for one call and must be fetched in
 * ranges.
 *
 * @throws PortalError `decryption_failed`, and errors of a call
 */
export async function fetchSmallContent(
  calls: Pick<TransferCalls, "range">,
  { sealed: contentKey }: Pick<OpenedShareTicket, "sealed">,
  { download }: Pick<ShareClaim, "download">,
  options: CallOptions,
): Promise<Bytes | null> {
  if (download.size > maxSmallSealedBytes) return null;
  options.onProgress?.({ phase: "fetching", done: 0, total: download.size });
  const { bytes, size } = await calls.range(contentKey, 0, download.size, options.signal);
  if (size !== download.size) throw new PortalError("decryption_failed");
  options.onProgress?.({ phase: "opening", done: 0, total: 1 });
  const content = await openContent(contentKey.kind, bytes, contentKey);
  options.onProgress?.({ phase: "opening", done: 1, total: 1 });
  return content;
}
