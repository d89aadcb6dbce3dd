import type { Gone } from "@relicario/engine/worker-gone";
import type { RecoveredSecret } from "@relicario/shared/contract";
import { toPortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";

import { refuseCancelled } from "../cancelled.ts";
import type { Downloads } from "../transfer/downloads.ts";
import { chosenFile, committed } from "../transfer/sinks.ts";

/** A worker that keeps what it opened under a name, and how it is asked. */
interface Keeper {
  readonly remote: Comlink.Remote<{
    readonly serveContentKeys: (port: MessagePort) => void;
    readonly putAway: (openedId: string) => void;
  }>;
  readonly orGone: Gone["orGone"];
}

interface OpenedThere {
  readonly openedId: string;
  /** Null for content that is too large to be held. */
  readonly content: Uint8Array<ArrayBuffer> | null;
  readonly mime: string;
}

/**
 * What a page may do with a content that a worker has opened. What stays in the worker is asked of
 * that worker, and of no later one.
 */
export function openedOnPage(
  { openedId, content, mime }: OpenedThere,
  { remote, orGone }: Keeper,
  downloads: Pick<Downloads, "save">,
): Pick<RecoveredSecret, "save" | "putAway"> {
  /**
   * A port at which the worker answers the transfer's: what opens a content never passes the page.
   */
  async function keys(): Promise<MessagePort> {
    const { port1, port2 } = new MessageChannel();
    await orGone(remote.serveContentKeys(Comlink.transfer(port2, [port2])));
    return port1;
  }
  return {
    save: async (target, options) => {
      refuseCancelled(options?.signal);
      if (content === null) return downloads.save(openedId, keys, target, options);
      if (target === null) return new Blob([content], { type: mime });
      try {
        const sink = await chosenFile(target);
        return await committed(sink, () => sink.write(content));
      } catch (error) {
        throw toPortalError(error);
      }
    },
    putAway: () => {
      remote.putAway(openedId).catch(() => undefined); // a worker that is gone has forgotten it already
    },
  };
}
