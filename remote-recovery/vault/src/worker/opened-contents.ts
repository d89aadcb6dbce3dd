import { serveCalls } from "@relicario/engine/worker-calls";
import type { ContentKind, OpenedContent } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { contentHeadBytes } from "../seal/content-pieces.ts";
import { openContentHead } from "../seal/content-stream.ts";
import type { ContentKeys } from "../transfer/transfer-worker-api.ts";
import type { ContentAt, TransferCalls } from "../transfer/upload-calls.ts";

/** A content that may be opened, whole or in pieces. Holds its identity: a secret. */
export type SealedContentKey = ContentAt & {
  readonly identity: string;
  /** base64url, over the whole ciphertext. */
  readonly sha256: string;
  readonly kind: ContentKind;
  /** Bytes of the plain content. */
  readonly size: number;
};

/** An opened content as it crosses to the page: what opens it stays behind, under `openedId`. */
export type Crossing<Opened extends OpenedContent> = Omit<Opened, "save" | "putAway"> & { readonly openedId: string };

/** What a worker has opened and nobody has put away, by a name that the page holds. */
export interface OpenedContents<Held extends { readonly sealed: SealedContentKey }> {
  /** @returns its name. */
  readonly keep: (held: Held) => string;
  /** `vault_locked` when it was put away, or another worker opened it. */
  readonly require: (openedId: string) => Held;
  readonly putAway: (openedId: string) => void;
  /**
   * Answers at this port what opens the pieces of one of them. The other end is a worker's, never
   * the page's.
   */
  readonly serveKeys: (port: MessagePort) => void;
}

export function createOpenedContents<Held extends { readonly sealed: SealedContentKey }>(
  calls: () => Pick<TransferCalls, "range">,
): OpenedContents<Held> {
  const held = new Map<string, Held>();

  function require(openedId: string): Held {
    const one = held.get(openedId);
    if (one === undefined) throw new PortalError("vault_locked");
    return one;
  }

  const keys: ContentKeys = {
    contentKey: async (openedId) => {
      const { identity, ...content } = require(openedId).sealed;
      const { bytes } = await calls().range(content, 0, contentHeadBytes);
      return { ...content, ...(await openContentHead(identity, bytes)) };
    },
  };

  return {
    keep: (one) => {
      const openedId = crypto.randomUUID();
      held.set(openedId, one);
      return openedId;
    },
    require,
    putAway: (openedId) => {
      held.delete(openedId);
    },
    serveKeys: (port) => {
      serveCalls(keys, port);
    },
  };
}
