import type { CallOptions } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";

import type { TransferWorkers } from "./transfer-workers.ts";

/**
 * Saves opened contents in chunks. A lock ends running saves, because they hold plaintext in
 * memory.
 */
export interface Downloads {
  /**
   * Rejects with `vault_locked` after {@link lock}.
   *
   * @param openKeyPort opens a port at which the worker that opened the content serves its keys
   */
  readonly save: (openedId: string, openKeyPort: () => Promise<MessagePort>, options?: CallOptions) => Promise<Blob>;
  /** Ends the workers, which drops their plaintext. The host removes the files that they wrote. */
  readonly lock: () => Promise<void>;
}

export function createDownloads(workers: TransferWorkers): Downloads {
  const activeControllers = new Set<AbortController>();
  return {
    save: async (openedId, openKeyPort, options = {}) => {
      const controller = new AbortController();
      activeControllers.add(controller);
      try {
        return await workers.call(controller, options, async (remote, callOptions) => {
          const port = await openKeyPort();
          return remote.save(Comlink.transfer(port, [port]), openedId, callOptions);
        });
      } catch (error) {
        throw controller.signal.reason === "lock" ? new PortalError("vault_locked", { cause: error }) : error;
      } finally {
        activeControllers.delete(controller);
      }
    },
    lock: async () => {
      for (const controller of activeControllers) controller.abort("lock");
      await workers.end();
    },
  };
}
