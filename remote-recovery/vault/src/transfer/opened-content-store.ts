import { serveCalls } from "@relicario/engine/worker-calls";
import type { ContentKind, OpenedContent } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";

import { contentHeadSize } from "../seal/content-sizes.ts";
import { openContentHead } from "../seal/content-stream.ts";
import type { AgeFile, Plain, PlainContent } from "./plain-content.ts";
import type { ContentKeys } from "./transfer-worker-api.ts";
import type { ContentLocation, TransferCalls } from "./upload-calls.ts";

/** Opens one sealed content, whole or in chunks. Contains the content identity, which is secret. */
export type SealedContentKey = ContentLocation & {
  readonly identity: string;
  /** Digest of the whole ciphertext, base64url. */
  readonly sha256: string;
  readonly kind: ContentKind;
  /** Length of the plaintext in bytes. */
  readonly size: number;
};

/** An opened content as sent to the frame; its key stays in the worker, stored by `openedId`. */
export type TransferredContent<Opened extends OpenedContent> = Omit<
  Plain<Opened>,
  Exclude<keyof PlainContent, "content">
> & {
  readonly openedId: string;
  /** Whether the frame implements {@link PlainContent.exportAgeFile}. */
  readonly hasAgeFile: boolean;
};

/** An opened content with its key. `ageFile` is null if the content is not in memory. */
interface OpenedContentWithKey {
  readonly content: Uint8Array<ArrayBuffer> | null;
  readonly sealed: SealedContentKey;
  readonly ageFile?: AgeFile | null;
}

/** Stores the keys of opened contents in the worker, by an id that the frame has. */
export interface OpenedContentStore {
  /** Stores the key. @returns the message to the frame; the content is moved, not copied */
  readonly add: <Opened extends OpenedContentWithKey>(
    opened: Opened,
  ) => Omit<Opened, "sealed" | "ageFile"> & { readonly openedId: string; readonly hasAgeFile: boolean };
  readonly calls: OpenedContentCalls;
}

export interface OpenedContentCalls {
  /**
   * Throws `vault_locked` if the content was disposed of or opened by another worker, and
   * `payload_too_large` if it is not in memory.
   */
  readonly exportAgeFile: (openedId: string) => AgeFile;
  readonly disposeContent: (openedId: string) => void;
  /**
   * Serves {@link ContentKeys} at this port, whose other end belongs to a transfer worker, never to
   * the frame.
   */
  readonly serveContentKeys: (port: MessagePort) => void;
}

export function createOpenedContentStore(getCalls: () => Pick<TransferCalls, "range">): OpenedContentStore {
  const entries = new Map<string, Pick<OpenedContentWithKey, "sealed" | "ageFile">>();

  function requireEntry(openedId: string): Pick<OpenedContentWithKey, "sealed" | "ageFile"> {
    const entry = entries.get(openedId);
    if (entry === undefined) throw new PortalError("vault_locked");
    return entry;
  }

  const keys: ContentKeys = {
    getOpenableContent: async (openedId) => {
      const { identity, ...content } = requireEntry(openedId).sealed;
      const { bytes } = await getCalls().range(content, 0, contentHeadSize);
      return { ...content, ...(await openContentHead(identity, bytes)) };
    },
  };

  return {
    add: ({ sealed, ageFile, ...opened }) => {
      const openedId = crypto.randomUUID();
      entries.set(openedId, { sealed, ...(ageFile === undefined ? {} : { ageFile }) });
      return Comlink.transfer(
        { ...opened, openedId, hasAgeFile: ageFile !== undefined },
        opened.content === null ? [] : [opened.content.buffer],
      );
    },
    calls: {
      exportAgeFile: (openedId) => {
        const { ageFile = null } = requireEntry(openedId);
        if (ageFile === null) throw new PortalError("payload_too_large");
        return ageFile;
      },
      disposeContent: (openedId) => {
        entries.delete(openedId);
      },
      serveContentKeys: (port) => {
        serveCalls(keys, port);
      },
    },
  };
}
