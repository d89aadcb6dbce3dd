import { toB64u } from "@relicario/shared/api";
import type { ContentKind } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { refuseCancelled } from "../cancelled.ts";
import { nameOf } from "../device/say-full.ts";
import { chunksOf, copyOf, newSha256, type Bytes } from "../seal/bytes.ts";
import { contentHeadBytes, paddedLength } from "../seal/content-pieces.ts";
import { openContentStream } from "../seal/content-stream.ts";

/** What opens a sealed content, and what it must be. Holds a secret. */
export interface ContentOpening {
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
  { identity, contentKind, size, sha256 }: ContentOpening,
  write: (bytes: Bytes) => Promise<void> | void,
  signal?: AbortSignal,
): Promise<void> {
  const [digest, whole] = [newSha256(), paddedLength(contentKind, size)];
  let at = 0;
  try {
    const head = new Uint8Array(await sealed.slice(0, contentHeadBytes).arrayBuffer());
    const passed = sealed.stream().pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform: (chunk, controller) => {
          digest.update(chunk);
          controller.enqueue(chunk);
        },
      }),
    );
    for await (const chunk of chunksOf(await openContentStream(identity, head, passed))) {
      refuseCancelled(signal);
      const own = chunk.subarray(0, Math.max(0, size - at));
      at += chunk.length;
      if (at > whole || !chunk.subarray(own.length).every((byte) => byte === 0x0a))
        throw new PortalError("decryption_failed");
      if (own.length > 0) await write(copyOf(own));
    }
  } catch (cause) {
    if (cause instanceof PortalError) throw cause;
    const name = nameOf(cause);
    throw new PortalError(
      name === "NotReadableError" || name === "NotFoundError" ? "file_changed" : "decryption_failed",
    ); // typage's errors say which piece
  }
  if (at !== whole || toB64u(digest.finish()) !== sha256) throw new PortalError("decryption_failed");
}
