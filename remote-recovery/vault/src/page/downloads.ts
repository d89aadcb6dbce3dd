import type { CallOptions } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";

import type { TransferWorkers } from "./transfer-workers.ts";

/** Opened contents that leave in pieces. They hold plaintext, so a lock ends them. */
export interface Downloads {
  /**
   * @param openKeyPort a port at which whoever opened the content answers the transfer's worker.
   *   `vault_locked` after {@link lock}.
   */
  readonly save: (
    openedId: string,
    openKeyPort: () => Promise<MessagePort>,
    target: FileSystemFileHandle | null,
    options?: CallOptions,
  ) => Promise<Blob | null>;
  /** Ends the workers: plaintext is put away. What they wrote is the host's to sweep. */
  readonly lock: () => Promise<void>;
}

export function createDownloads(workers: TransferWorkers): Downloads {
  const running = new Set<AbortController>();
  return {
    save: async (openedId, openKeyPort, target, options = {}) => {
      const controller = new AbortController();
      running.add(controller);
      try {
        return await workers.call(controller, options, async (remote, callOptions) => {
          const port = await openKeyPort();
          return remote.save(Comlink.transfer(port, [port]), openedId, target, callOptions);
        });
      } catch (error) {
        throw controller.signal.reason === "lock" ? new PortalError("vault_locked", { cause: error }) : error;
      } finally {
        running.delete(controller);
      }
    },
    lock: async () => {
      for (const controller of running) controller.abort("lock");
      await workers.end();
    },
  };
}
