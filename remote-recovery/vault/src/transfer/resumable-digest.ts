import { createCallClient } from "@relicario/engine/worker-calls";
import { fromBase64url, toBase64url } from "@relicario/shared/api";
import * as Comlink from "comlink";
import { createSHA256, type IHasher } from "hash-wasm";

import { copyOf, freeBuffers, type Bytes } from "../seal/bytes.ts";

/** Incremental SHA-256 whose state can be saved and continued later. */
export interface ResumableDigest {
  /** @param state last result of {@link update}, base64url; null to begin */
  readonly start: (state: string | null) => Promise<void>;
  /** Resolves with the new state. Detaches `bytes`: do not use them afterwards. */
  readonly update: (bytes: Bytes) => Promise<string>;
  /** Returns the digest as base64url. */
  readonly finish: () => Promise<string>;
}

/** Transfers run it in a second worker, because it takes as long as everything else together. */
export function createResumableDigest(): ResumableDigest {
  let hasher: IHasher | null = null;
  const requireHasher = (): IHasher => {
    if (hasher === null) throw new TypeError("expected start before any other call");
    return hasher;
  };
  return {
    start: async (state) => {
      hasher = await createSHA256();
      if (state === null) hasher.init();
      else hasher.load(fromBase64url(state));
    },
    update: async (bytes) => {
      requireHasher().update(bytes);
      freeBuffers(bytes);
      return toBase64url(requireHasher().save());
    },
    finish: async () => toBase64url(copyOf(requireHasher().digest("binary"))),
  };
}

/** Uses a digest in another worker. Bytes are transferred without a copy. */
export function connectDigest(port: MessagePort): ResumableDigest {
  const remote = createCallClient<ResumableDigest>(port);
  return {
    start: (state) => remote.start(state),
    update: (bytes) => remote.update(Comlink.transfer(bytes, [bytes.buffer])),
    finish: () => remote.finish(),
  };
}
