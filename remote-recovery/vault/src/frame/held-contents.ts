import type { CallOptions, ContentKind, OpenedContent } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import type { AgeFile, Plain } from "../transfer/plain-content.ts";

type HeldContent = Plain<OpenedContent> & { readonly title?: string };

/** An opened content as an element shows it. Only inside the vault's origin. */
export interface ShownContent {
  readonly contentKind: ContentKind;
  readonly name: string;
  readonly mime: string;
  /** Bytes of the plain content. */
  readonly size: number;
  /** The sealed title; null for a content that was sealed without one. */
  readonly title: string | null;
  /** Null for content that is too large for memory. */
  readonly content: Uint8Array<ArrayBuffer> | null;
  readonly hasAgeFile: boolean;
}

/** Opened contents that the frame holds, by an id that the page has. */
export interface HeldContents {
  /**
   * Returns the result as it crosses to the page: an opened content becomes its other members and
   * an id. `ownerId` is that of the vault or visitor that opened it.
   */
  readonly toTransferable: (result: unknown, ownerId: number) => unknown;
  /** @throws PortalError `vault_locked` for the id of a content that was disposed of */
  readonly require: (openedId: string) => HeldContent;
  readonly dispose: (openedId: string) => void;
  readonly disposeOwned: (ownerId: number) => void;
  readonly disposeAll: () => void;
  /** Served to elements, never to the page. */
  readonly elementMembers: {
    readonly read: (openedId: string) => ShownContent;
    readonly save: (openedId: string, options?: CallOptions) => Promise<Blob>;
    readonly exportAgeFile: (openedId: string) => Promise<AgeFile>;
  };
}

/** @param onDispose called for elements, which then clear what they show */
export function createHeldContents(onDispose: (openedId: string) => void): HeldContents {
  const entries = new Map<string, { readonly content: HeldContent; readonly ownerId: number }>();

  function require(openedId: string): HeldContent {
    const entry = entries.get(openedId);
    if (entry === undefined) throw new PortalError("vault_locked");
    return entry.content;
  }

  function dispose(openedId: string): void {
    const entry = entries.get(openedId);
    if (entry === undefined) return;
    entries.delete(openedId);
    entry.content.content?.fill(0);
    entry.content.dispose();
    onDispose(openedId);
  }

  return {
    toTransferable: (result, ownerId) => {
      if (!isHeldContent(result)) return result;
      const openedId = crypto.randomUUID();
      entries.set(openedId, { content: result, ownerId });
      const { content: _content, save: _save, exportAgeFile: _exportAgeFile, dispose: _dispose, ...rest } = result;
      return { ...rest, openedId };
    },
    require,
    dispose,
    disposeOwned: (ownerId) => {
      for (const [openedId, entry] of entries) if (entry.ownerId === ownerId) dispose(openedId);
    },
    disposeAll: () => {
      for (const openedId of [...entries.keys()]) dispose(openedId);
    },
    elementMembers: {
      read: (openedId) => {
        const { contentKind, name, mime, size, title = "", content, exportAgeFile } = require(openedId);
        return {
          contentKind,
          name,
          mime,
          size,
          title: title.trim() === "" ? null : title,
          content,
          hasAgeFile: exportAgeFile !== undefined,
        };
      },
      save: (openedId, options) => require(openedId).save(options),
      exportAgeFile: async (openedId) => {
        const { exportAgeFile } = require(openedId);
        if (exportAgeFile === undefined) throw new PortalError("forbidden");
        return exportAgeFile();
      },
    },
  };
}

function isHeldContent(result: unknown): result is HeldContent {
  return typeof result === "object" && result !== null && "dispose" in result && "save" in result;
}
