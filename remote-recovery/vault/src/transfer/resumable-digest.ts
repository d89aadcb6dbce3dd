import { fromBase64url, toBase64url } from "@relicario/shared/api";
import * as Comlink from "comlink";
import { createSHA256, type IHasher } from "hash-wasm";

import { copyOf, freeBuffers, type Bytes } from "../seal/bytes.ts";

/** SHA-256 over bytes that come one after another, whose state can be kept and gone on with. */
export interface ResumableDigest {
  /** @param state base64url, what {@link update} gave before; null to begin. */
  readonly start: (state: string | null) => Promise<void>;
  /** The state after these bytes. They are taken away: do not use them afterwards. */
  readonly update: (bytes: Bytes) => Promise<string>;
  /** base64url. */
  readonly finish: () => Promise<string>;
}

/**
 * In this thread; the transfer's workers give it one of its own, because it alone is as long as
 * everything else.
 */
export function createResumableDigest(): ResumableDigest {
  let hasher: IHasher | null = null;
  const requireHasher = (): IHasher => {
    if (hasher === null) throw new TypeError("the digest was not started");
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

/** The one of another worker. Bytes go over without a copy. */
export function connectDigest(port: MessagePort): ResumableDigest {
  const remote = Comlink.wrap<ResumableDigest>(port);
  return {
    start: (state) => remote.start(state),
    update: (bytes) => remote.update(Comlink.transfer(bytes, [bytes.buffer])),
    finish: () => remote.finish(),
  };
}
