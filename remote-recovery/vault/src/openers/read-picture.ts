import type { EngineOptions, EngineProgress } from "@relicario/engine";
import type { CallOptions } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import type { Bytes } from "../seal/bytes.ts";

/**
 * Bytes of a chosen picture; wipe them after use. A file that has gone, or cannot be read, is
 * unreadable.
 */
export async function readPictureBytes(picture: Blob): Promise<Bytes> {
  try {
    return new Uint8Array(await picture.arrayBuffer());
  } catch (cause) {
    throw new PortalError("picture_unreadable", { cause });
  }
}

/** The engine's steps as one phase. */
export function toEngineOptions({ signal, onProgress }: CallOptions): EngineOptions {
  return {
    ...(signal === undefined ? {} : { signal }),
    ...(onProgress === undefined
      ? {}
      : {
          onProgress: ({ phase, done, total }: EngineProgress) => {
            onProgress({ phase: "picture", step: phase, done, total });
          },
        }),
  };
}
