import type { CallOptions, OpenedContent, OpenedSecret } from "@relicario/shared/contract";
import { toPortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";

import { throwIfCancelled } from "../rpc/throw-if-cancelled.ts";
import type { CallableWorker } from "../rpc/call-running.ts";
import type { OpenedContentCalls, TransferredContent } from "../transfer/opened-content-store.ts";
import { createFileSink, commitOnSuccess } from "../transfer/sinks.ts";
import type { Downloads } from "./downloads.ts";

/** Members of a transferred content that this file needs. */
export type TransferredFields = Pick<TransferredContent<OpenedContent>, "openedId" | "hasAgeFile" | "content" | "mime">;

type PageMembers = Pick<OpenedSecret, "save" | "dispose"> & Partial<Pick<OpenedSecret, "exportAgeFile">>;

/** Calls to where a content's key is. */
export interface OpenedContentSource extends Pick<OpenedSecret, "exportAgeFile" | "dispose"> {
  /** Saves a content that is too large for memory. */
  readonly saveLarge: (target: FileSystemFileHandle | null, options?: CallOptions) => Promise<Blob | null>;
}

/**
 * Adds the members that the page implements to a content that a worker has opened. They call that
 * same worker, never a later one.
 */
export function createOpenedContent<T extends TransferredFields>(
  transferredContent: T,
  { remote, abortable }: CallableWorker<OpenedContentCalls>,
  downloads: Pick<Downloads, "save">,
): Omit<T, "openedId" | "hasAgeFile"> & PageMembers {
  const { openedId } = transferredContent;
  /**
   * Opens a port between this worker and the transfer worker, so that no key passes through the
   * page.
   */
  async function openKeyPort(): Promise<MessagePort> {
    const { port1, port2 } = new MessageChannel();
    await abortable(remote.serveContentKeys(Comlink.transfer(port2, [port2])));
    return port1;
  }
  return addContentMembers(transferredContent, {
    saveLarge: (target, options) => downloads.save(openedId, openKeyPort, target, options),
    exportAgeFile: () => abortable(remote.exportAgeFile(openedId)),
    dispose: () => {
      remote.disposeContent(openedId).catch(() => undefined); // a worker that has ended no longer holds it
    },
  });
}

export function addContentMembers<T extends TransferredFields>(
  { openedId: _, hasAgeFile, ...openedContent }: T,
  { saveLarge, exportAgeFile, dispose }: OpenedContentSource,
): Omit<T, "openedId" | "hasAgeFile"> & PageMembers {
  const { content, mime } = openedContent;
  return {
    ...openedContent,
    save: async (target, options) => {
      throwIfCancelled(options?.signal);
      if (content === null) return saveLarge(target, options);
      if (target === null) return new Blob([content], { type: mime });
      try {
        const sink = await createFileSink(target);
        return await commitOnSuccess(sink, () => sink.write(content));
      } catch (error) {
        throw toPortalError(error);
      }
    },
    dispose,
    ...(hasAgeFile && { exportAgeFile }),
  };
}

/** Whether the result of a worker is a content from {@link OpenedContentStore.add}. */
export function isTransferredContent(result: unknown): result is TransferredFields {
  return typeof result === "object" && result !== null && "openedId" in result;
}
