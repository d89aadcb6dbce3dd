import { serveCalls } from "@relicario/engine/worker-calls";
import type { ContentKind, OpenedContent } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { contentHeadSize } from "../seal/content-sizes.ts";
import { openContentHead } from "../seal/content-stream.ts";
import type { ContentKeys } from "./transfer-worker-api.ts";
import type { ContentLocation, TransferCalls } from "./upload-calls.ts";

/** A content that may be opened, whole or in pieces. Holds its identity: a secret. */
export type SealedContentKey = ContentLocation & {
  readonly identity: string;
  /** base64url, over the whole ciphertext. */
  readonly sha256: string;
  readonly kind: ContentKind;
  /** Bytes of the plain content. */
  readonly size: number;
};

/** An opened content as it crosses to the page: what opens it stays behind, under `openedId`. */
export type TransferredContent<Opened extends OpenedContent> = Omit<Opened, "save" | "dispose"> & {
  readonly openedId: string;
};

/** What a worker has opened and nobody has put away, by a name that the page holds. */
export interface OpenedContentStore<Entry extends { readonly sealed: SealedContentKey }> {
  /** @returns its name. */
  readonly add: (entry: Entry) => string;
  /** `vault_locked` when it was put away, or another worker opened it. */
  readonly require: (openedId: string) => Entry;
  readonly dispose: (openedId: string) => void;
  /**
   * Answers at this port what opens the pieces of one of them. The other end is a worker's, never
   * the page's.
   */
  readonly serveKeys: (port: MessagePort) => void;
}

export function createOpenedContentStore<Entry extends { readonly sealed: SealedContentKey }>(
  getCalls: () => Pick<TransferCalls, "range">,
): OpenedContentStore<Entry> {
  const entries = new Map<string, Entry>();

  function require(openedId: string): Entry {
    const entry = entries.get(openedId);
    if (entry === undefined) throw new PortalError("vault_locked");
    return entry;
  }

  const keys: ContentKeys = {
    contentKey: async (openedId) => {
      const { identity, ...content } = require(openedId).sealed;
      const { bytes } = await getCalls().range(content, 0, contentHeadSize);
      return { ...content, ...(await openContentHead(identity, bytes)) };
    },
  };

  return {
    add: (entry) => {
      const openedId = crypto.randomUUID();
      entries.set(openedId, entry);
      return openedId;
    },
    require,
    dispose: (openedId) => {
      entries.delete(openedId);
    },
    serveKeys: (port) => {
      serveCalls(keys, port);
    },
  };
}
