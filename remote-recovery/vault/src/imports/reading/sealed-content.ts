import { toBase64url } from "@relicario/shared/api";
import type { ContentKind } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { throwIfCancelled } from "../../rpc/throw-if-cancelled.ts";
import { getErrorName } from "../../device/quota-error.ts";
import { readChunks, copyOf, createSha256, type Bytes } from "../../seal/bytes.ts";
import { contentHeadSize, computePaddedLength } from "../../seal/content-sizes.ts";
import { openContentStream } from "../../seal/content-stream.ts";

/** What opens a sealed content and verifies it. Contains a secret. */
export interface SealedContentInfo {
  readonly identity: string;
  readonly contentKind: ContentKind;
  /** Bytes of the plain content. */
  readonly size: number;
  /** Digest of the sealed content, base64url. */
  readonly sha256: string;
}

/**
 * Opens a sealed content of any size as a stream, and passes its plaintext to `write`. The
 * plaintext is complete and verified only when the promise resolves.
 *
 * @throws PortalError `decryption_failed`, `cancelled`, or `file_changed` if the archive can no
 *   longer be read.
 */
export async function openSealedContent(
  sealed: Blob,
  { identity, contentKind, size, sha256 }: SealedContentInfo,
  write: (bytes: Bytes) => Promise<void> | void,
  signal?: AbortSignal,
): Promise<void> {
  const [digest, paddedSize] = [createSha256(), computePaddedLength(contentKind, size)];
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
    ); // no cause, because typage's errors reveal which chunk failed
  }
  if (position !== paddedSize || toBase64url(digest.finish()) !== sha256) throw new PortalError("decryption_failed");
}
