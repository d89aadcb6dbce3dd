import type { OpenedContent, OpenedSecret } from "@relicario/shared/contract";
import { toPortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";

import { throwIfCancelled } from "../rpc/throw-if-cancelled.ts";
import type { CallableWorker } from "../rpc/call-running.ts";
import type { OpenedContentCalls, TransferredContent } from "../transfer/opened-content-store.ts";
import { createFileSink, commitOnSuccess } from "../transfer/sinks.ts";
import type { Downloads } from "./downloads.ts";

/** The part of an opened content that is looked at here. */
type Transferred = Pick<TransferredContent<OpenedContent>, "openedId" | "hasAgeFile" | "content" | "mime">;

type PageMembers = Pick<OpenedSecret, "save" | "dispose"> & Partial<Pick<OpenedSecret, "exportAgeFile">>;

/**
 * What a worker has opened, with what a page may do with it. What stays in the worker is asked of
 * that worker, and of no later one.
 */
export function createOpenedContent<T extends Transferred>(
  { openedId, hasAgeFile, ...opened }: T,
  { remote, abortable }: CallableWorker<OpenedContentCalls>,
  downloads: Pick<Downloads, "save">,
): Omit<T, "openedId" | "hasAgeFile"> & PageMembers {
  const { content, mime } = opened;
  /**
   * A port at which the worker answers the transfer's: what opens a content never passes the page.
   */
  async function openKeyPort(): Promise<MessagePort> {
    const { port1, port2 } = new MessageChannel();
    await abortable(remote.serveContentKeys(Comlink.transfer(port2, [port2])));
    return port1;
  }
  return {
    ...opened,
    save: async (target, options) => {
      throwIfCancelled(options?.signal);
      if (content === null) return downloads.save(openedId, openKeyPort, target, options);
      if (target === null) return new Blob([content], { type: mime });
      try {
        const sink = await createFileSink(target);
        return await commitOnSuccess(sink, () => sink.write(content));
      } catch (error) {
        throw toPortalError(error);
      }
    },
    dispose: () => {
      remote.disposeContent(openedId).catch(() => undefined); // a worker that is gone has forgotten it already
    },
    ...(hasAgeFile && { exportAgeFile: () => abortable(remote.exportAgeFile(openedId)) }),
  };
}

/** Whether a worker's answer is an opened content, as {@link OpenedContentStore.add} gives it. */
export function isTransferred(answer: unknown): answer is Transferred {
  return typeof answer === "object" && answer !== null && "openedId" in answer;
}
