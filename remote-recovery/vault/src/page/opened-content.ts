import type { OpenedContent } from "@relicario/shared/contract";
import * as Comlink from "comlink";

import { throwIfCancelled } from "../rpc/throw-if-cancelled.ts";
import type { CallableWorker } from "../rpc/call-running.ts";
import type { OpenedContentCalls, TransferredContent } from "../transfer/opened-content-store.ts";
import type { PlainContent } from "../transfer/plain-content.ts";
import type { Downloads } from "./downloads.ts";

/** Members of a transferred content that this file needs. */
type TransferredFields = Pick<TransferredContent<OpenedContent>, "openedId" | "hasAgeFile" | "content" | "mime">;

/**
 * Adds the members that the frame implements to a content that a worker has opened. They call that
 * same worker, never a later one.
 */
export function createPlainContent<T extends TransferredFields>(
  { openedId, hasAgeFile, ...openedContent }: T,
  { remote, abortable }: CallableWorker<OpenedContentCalls>,
  downloads: Pick<Downloads, "save">,
): Omit<T, "openedId" | "hasAgeFile"> & PlainContent {
  const { content, mime } = openedContent;
  /**
   * Opens a port between this worker and the transfer worker, so that no key passes through the
   * frame.
   */
  async function openKeyPort(): Promise<MessagePort> {
    const { port1, port2 } = new MessageChannel();
    await abortable(remote.serveContentKeys(Comlink.transfer(port2, [port2])));
    return port1;
  }
  return {
    ...openedContent,
    save: async (options) => {
      throwIfCancelled(options?.signal);
      return content === null ? downloads.save(openedId, openKeyPort, options) : new Blob([content], { type: mime });
    },
    dispose: () => {
      remote.disposeContent(openedId).catch(() => undefined); // a worker that has ended no longer holds it
    },
    ...(hasAgeFile && { exportAgeFile: () => abortable(remote.exportAgeFile(openedId)) }),
  };
}

/** Whether the result of a worker is a content from {@link OpenedContentStore.add}. */
export function isTransferredContent(result: unknown): result is TransferredFields {
  return typeof result === "object" && result !== null && "openedId" in result;
}
