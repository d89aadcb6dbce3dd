import type { AbortableCalls } from "@relicario/engine/abortable-calls";
import type { OpenedSecret } from "@relicario/shared/contract";
import { toPortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";

import { throwIfCancelled } from "../throw-if-cancelled.ts";
import type { Downloads } from "./downloads.ts";
import { createFileSink, commitOnSuccess } from "../transfer/sinks.ts";

/** A worker that keeps what it opened under a name, and how it is asked. */
interface OpeningWorker {
  readonly remote: Comlink.Remote<{
    readonly serveContentKeys: (port: MessagePort) => void;
    readonly disposeContent: (openedId: string) => void;
  }>;
  readonly abortable: AbortableCalls["abortable"];
}

interface OpenedContentInfo {
  readonly openedId: string;
  /** Null for content that is too large to be held. */
  readonly content: Uint8Array<ArrayBuffer> | null;
  readonly mime: string;
}

/**
 * What a page may do with a content that a worker has opened. What stays in the worker is asked of
 * that worker, and of no later one.
 */
export function createOpenedContent(
  { openedId, content, mime }: OpenedContentInfo,
  { remote, abortable }: OpeningWorker,
  downloads: Pick<Downloads, "save">,
): Pick<OpenedSecret, "save" | "dispose"> {
  /**
   * A port at which the worker answers the transfer's: what opens a content never passes the page.
   */
  async function openKeyPort(): Promise<MessagePort> {
    const { port1, port2 } = new MessageChannel();
    await abortable(remote.serveContentKeys(Comlink.transfer(port2, [port2])));
    return port1;
  }
  return {
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
  };
}
