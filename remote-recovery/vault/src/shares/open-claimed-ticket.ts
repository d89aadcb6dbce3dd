import { fromBase64url, maxSmallSealedBytes, type ShareClaim } from "@relicario/shared/api";
import type { CallOptions } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import type { Bytes } from "../seal/bytes.ts";
import { openContent } from "../seal/content.ts";
import { openShareTicket, type ExpectedShareTicket, type ShareTicket } from "../seal/share-ticket.ts";
import type { TransferCalls } from "../transfer/upload-calls.ts";
import type { SealedContentKey } from "../transfer/opened-content-store.ts";

/** An identity that may open a ticket, and its recipient. */
export interface OpeningIdentity {
  readonly identity: string;
  readonly recipient: string;
}

/** A share's ticket with what opens its content. */
export interface OpenedShareTicket {
  readonly ticket: ShareTicket;
  readonly sealed: SealedContentKey;
}

/**
 * The ticket of a claimed view, by the first of these identities that it is sealed to.
 *
 * @throws PortalError `decryption_failed` when there is none, and for whatever the ticket says that
 *   is not expected.
 */
export async function openClaimedTicket(
  claimed: ShareClaim,
  identities: readonly OpeningIdentity[],
  expected: Omit<ExpectedShareTicket, "recipient">,
): Promise<OpenedShareTicket> {
  if (claimed.from.user_id !== expected.owner) throw new PortalError("decryption_failed");
  const sealed = fromBase64url(claimed.ticket);
  for (const { identity, recipient } of identities) {
    const ticket = await openShareTicket(identity, sealed, { ...expected, recipient });
    if (ticket === null) continue;
    const { content_identity: contentIdentity, content_sha256: sha256, content_kind: kind, size } = ticket;
    return { ticket, sealed: { token: claimed.download.token, identity: contentIdentity, sha256, kind, size } };
  }
  throw new PortalError("decryption_failed");
}

/**
 * The name that a content is shown and kept under. What others seal may have none, or nothing but
 * spaces, and is not refused for it: it would be lost.
 */
export function displayNameOf({ name, content_kind: kind }: Pick<ShareTicket, "name" | "content_kind">): string {
  if (name.trim() !== "") return name;
  return kind === "file" ? "file.bin" : "secret.txt";
}

/** Its kind for programs; of one without it what browsers take for bytes. */
export function mimeOf({ mime }: Pick<ShareTicket, "mime">): string {
  return mime.trim() === "" ? "application/octet-stream" : mime;
}

/**
 * The content of an opened ticket, whole and checked; null for one that is too large to be held: it
 * leaves in pieces.
 *
 * @throws PortalError `decryption_failed`, and those of a call.
 */
export async function fetchSmallContent(
  calls: Pick<TransferCalls, "range">,
  { sealed }: Pick<OpenedShareTicket, "sealed">,
  { download }: Pick<ShareClaim, "download">,
  options: CallOptions,
): Promise<Bytes | null> {
  if (download.size > maxSmallSealedBytes) return null;
  options.onProgress?.({ phase: "fetching", done: 0, total: download.size });
  const { bytes, size } = await calls.range(sealed, 0, download.size, options.signal);
  if (size !== download.size) throw new PortalError("decryption_failed");
  options.onProgress?.({ phase: "opening", done: 0, total: 1 });
  const content = await openContent(sealed.kind, bytes, sealed);
  options.onProgress?.({ phase: "opening", done: 1, total: 1 });
  return content;
}
