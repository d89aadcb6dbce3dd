import type { EngineOptions, EngineProgress } from "@relicario/engine";
import type { CallOptions } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import type { Bytes } from "../seal/bytes.ts";

/**
 * Reads the picture's bytes, which the caller wipes.
 * @throws PortalError `picture_unreadable` for a file that was removed or cannot be read
 */
export async function readPictureBytes(picture: Blob): Promise<Bytes> {
  try {
    return new Uint8Array(await picture.arrayBuffer());
  } catch (cause) {
    throw new PortalError("picture_unreadable", { cause });
  }
}

/** Reports all phases of the engine as steps of one phase. */
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
