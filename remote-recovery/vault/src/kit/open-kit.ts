import type { Engine } from "@relicario/engine";
import { fromBase64url, toBase64url } from "@relicario/shared/api";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import { recogniseAmong } from "../openers/recognise-image.ts";
import { readChunks, concatBytes, createSha256, type Bytes } from "../seal/bytes.ts";
import { openContent } from "../seal/content.ts";
import { contentHeadSize } from "../seal/content-sizes.ts";
import { openContentStream } from "../seal/content-stream.ts";
import { parseHelper } from "../seal/helper.ts";
import type { OpenerKeys } from "../seal/opener.ts";
import { isSignedBy, tryOpenTicket, type OwnerTicket } from "../seal/ticket.ts";
import type { PresentedPicture } from "../rpc/presented-opener.ts";
import { throwIfCancelled } from "../rpc/throw-if-cancelled.ts";
import type { OperationOptions } from "../session/operation-options.ts";
import { fromBase64, type Kit } from "./kit-document.ts";

export interface OpenedKitSecret {
  readonly ticket: OwnerTicket;
  /** The sealed content; null if it is in a file next to the kit. */
  readonly sealedContent: Bytes | null;
  readonly signatureStatus: "verified" | "not_verified";
}

export interface OpenedKit {
  /** age identity that opens the tickets with the standard `age`. Secret. */
  readonly identity: string;
  /** Secrets in the order of the kit; null for a damaged one, which does not affect the others. */
  readonly secrets: readonly (OpenedKitSecret | null)[];
}

/**
 * Whether the picture needs a passphrase.
 *
 * @throws PortalError `decryption_failed` for a broken helper
 */
export function requiresPassphrase(kit: Kit): boolean {
  return parseHelper(fromBase64url(kit.image.helper)).requiresPassphrase;
}

/**
 * Opens the tickets of a kit with its picture, without the portal.
 *
 * @throws PortalError `not_this_picture`, `not_this_picture_or_passphrase`, `plain_helper_refused`,
 *   `picture_unreadable`, `picture_too_large`, `decryption_failed`, `cancelled`.
 */
export async function openKit(
  engine: Engine,
  kit: Kit,
  presentedPicture: PresentedPicture,
  options: OperationOptions = {},
): Promise<OpenedKit> {
  const record = { ...kit.image, created_at: kit.made_at };
  const { opener } = await recogniseAmong({ engine }, presentedPicture, [record], null, options);
  try {
    const secrets: (OpenedKitSecret | null)[] = [];
    for (const [index, secret] of kit.secrets.entries()) {
      options.onProgress?.({ phase: "opening", done: index, total: kit.secrets.length });
      secrets.push(await openSecret(opener, kit, secret));
    }
    return { identity: opener.identity, secrets };
  } finally {
    opener.wipe();
  }
}

async function openSecret(
  opener: OpenerKeys,
  kit: Kit,
  { secret_id: secretId, version, ticket: sealed, content }: Kit["secrets"][number],
): Promise<OpenedKitSecret | null> {
  try {
    const ticket = await tryOpenTicket(opener, fromBase64(sealed));
    if (ticket?.secret_id !== secretId || ticket.version !== version || ticket.owner !== kit.user_id) return null;
    const signatureStatus = isSignedBy(ticket, kit.author_keys.map(fromBase64url)) ? "verified" : "not_verified";
    return { ticket, sealedContent: content === null ? null : fromBase64(content), signatureStatus };
  } catch (error) {
    if (isPortalError(error, "decryption_failed")) return null;
    throw error;
  }
}

/**
 * Opens the content of a secret that the kit contains.
 *
 * @throws PortalError `decryption_failed`
 */
export function openEmbeddedContent({ ticket, sealedContent }: OpenedKitSecret): Promise<Bytes> {
  if (sealedContent === null) throw new PortalError("decryption_failed");
  return openContent(ticket.content_kind, sealedContent, {
    sha256: ticket.content_sha256,
    identity: ticket.content_identity,
    size: ticket.size,
  });
}

/** A file that can be read more than once: a `Blob`, or a file on disk. */
export interface StreamSource {
  readonly stream: () => ReadableStream<Uint8Array>;
}

/**
 * Opens the content of a secret in a file next to the kit, in chunks. Do not use any chunk before
 * the last one has arrived.
 *
 * @throws PortalError `digest_mismatch` for another file, before the first chunk;
 *   `decryption_failed`; `cancelled`
 */
export async function* openDetachedContent(
  { ticket }: OpenedKitSecret,
  file: StreamSource,
  { signal }: Pick<OperationOptions, "signal"> = {},
): AsyncGenerator<Uint8Array> {
  const digest = createSha256();
  let head = new Uint8Array();
  for await (const bytes of readChunks(file.stream())) {
    throwIfCancelled(signal);
    digest.update(bytes);
    if (head.length < contentHeadSize) head = concatBytes(head, bytes.subarray(0, contentHeadSize - head.length));
  }
  if (toBase64url(digest.finish()) !== ticket.content_sha256) throw new PortalError("digest_mismatch");
  const plaintext = await openContentStream(ticket.content_identity, head, file.stream());
  try {
    for await (const bytes of trimPadding(ticket.size, plaintext)) {
      throwIfCancelled(signal);
      yield bytes;
    }
  } catch (error) {
    throw isPortalError(error) ? error : new PortalError("decryption_failed", { cause: error });
  }
}

/** Removes the padding after `size`, which must consist of line feeds. */
async function* trimPadding(size: number, stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  let remaining = size;
  for await (const bytes of readChunks(stream)) {
    const content = bytes.subarray(0, Math.min(remaining, bytes.length));
    remaining -= content.length;
    if (bytes.subarray(content.length).some((byte) => byte !== lineFeed)) throw new PortalError("decryption_failed");
    if (content.length > 0) yield content;
  }
  if (remaining > 0) throw new PortalError("decryption_failed");
}

const lineFeed = 0x0a;
