import { toBase64url } from "@relicario/shared/api";
import type { ContentKind } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { throwIfCancelled } from "../../rpc/throw-if-cancelled.ts";
import { getErrorName } from "../../device/quota-error.ts";
import { readChunks, copyOf, createSha256, type Bytes } from "../../seal/bytes.ts";
import { contentHeadSize, paddedLength } from "../../seal/content-sizes.ts";
import { openContentStream } from "../../seal/content-stream.ts";

/** What opens a sealed content, and what it must be. Holds a secret. */
export interface SealedContentInfo {
  readonly identity: string;
  readonly contentKind: ContentKind;
  /** Bytes of the plain content. */
  readonly size: number;
  /** base64url, of the sealed content. */
  readonly sha256: string;
}

/**
 * Opens a sealed content as it comes, whatever its size, and gives what is in it to `write`. It is
 * whole and right only when this is answered.
 *
 * @throws PortalError `decryption_failed`, `cancelled`, `file_changed` when the file that it is a
 *   part of can no longer be read.
 */
export async function openSealedContent(
  sealed: Blob,
  { identity, contentKind, size, sha256 }: SealedContentInfo,
  write: (bytes: Bytes) => Promise<void> | void,
  signal?: AbortSignal,
): Promise<void> {
  const [digest, paddedSize] = [createSha256(), paddedLength(contentKind, size)];
  let position = 0;
  try {
    const head = new Uint8Array(await sealed.slice(0, contentHeadSize).arrayBuffer());
    const digestedStream = sealed.stream().pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform: (chunk, controller) => {
          digest.update(chunk);
          controller.enqueue(chunk);
        },
      }),
    );
    for await (const chunk of readChunks(await openContentStream(identity, head, digestedStream))) {
      throwIfCancelled(signal);
      const content = chunk.subarray(0, Math.max(0, size - position));
      position += chunk.length;
      if (position > paddedSize || !chunk.subarray(content.length).every((byte) => byte === 0x0a))
        throw new PortalError("decryption_failed");
      if (content.length > 0) await write(copyOf(content));
    }
  } catch (cause) {
    if (cause instanceof PortalError) throw cause;
    const name = getErrorName(cause);
    throw new PortalError(
      name === "NotReadableError" || name === "NotFoundError" ? "file_changed" : "decryption_failed",
    ); // typage's errors say which piece
  }
  if (position !== paddedSize || toBase64url(digest.finish()) !== sha256) throw new PortalError("decryption_failed");
}
