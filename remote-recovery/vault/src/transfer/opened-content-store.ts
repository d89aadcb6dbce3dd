import { serveCalls } from "@relicario/engine/worker-calls";
import type { AgeFile, ContentKind, OpenedContent } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";

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

/** Members of an opened content that the page makes, because they ask the worker that opened it. */
type LiveMember = "save" | "dispose" | "exportAgeFile";

/** An opened content as it crosses to the page: what opens it stays behind, under `openedId`. */
export type TransferredContent<Opened extends OpenedContent> = Omit<Opened, LiveMember> & {
  readonly openedId: string;
  /** Whether {@link OpenedSecret.exportAgeFile} is one of its members. */
  readonly hasAgeFile: boolean;
};

/** An opened content with what stays behind of it. `ageFile` is null where it is not held. */
interface SealedOpened {
  readonly content: Uint8Array<ArrayBuffer> | null;
  readonly sealed: SealedContentKey;
  readonly ageFile?: AgeFile | null;
}

/** What a worker has opened and nobody has put away, by a name that the page holds. */
export interface OpenedContentStore {
  /** Keeps what must stay. @returns What crosses; the content is moved, not copied. */
  readonly add: <Opened extends SealedOpened>(
    opened: Opened,
  ) => Omit<Opened, "sealed" | "ageFile"> & { readonly openedId: string; readonly hasAgeFile: boolean };
  /** What the worker answers the page about them. */
  readonly calls: OpenedContentCalls;
}

export interface OpenedContentCalls {
  /**
   * `vault_locked` when it was put away, or another worker opened it; `payload_too_large` for
   * content that is not held.
   */
  readonly exportAgeFile: (openedId: string) => AgeFile;
  readonly disposeContent: (openedId: string) => void;
  /**
   * Answers at this port what opens the pieces of one of them. The other end is a worker's, never
   * the page's.
   */
  readonly serveContentKeys: (port: MessagePort) => void;
}

export function createOpenedContentStore(getCalls: () => Pick<TransferCalls, "range">): OpenedContentStore {
  const entries = new Map<string, Pick<SealedOpened, "sealed" | "ageFile">>();

  function requireEntry(openedId: string): Pick<SealedOpened, "sealed" | "ageFile"> {
    const entry = entries.get(openedId);
    if (entry === undefined) throw new PortalError("vault_locked");
    return entry;
  }

  const keys: ContentKeys = {
    contentKey: async (openedId) => {
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
