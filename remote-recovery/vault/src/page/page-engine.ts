import type { EngineWorkerApi } from "@relicario/engine/worker-api";
import * as Comlink from "comlink";

import type { RunningWorker } from "../rpc/start-worker.ts";

/** The engine of one worker of this page. */
export interface PageEngine {
  /**
   * Starts it, unless it runs. A start that failed is forgotten, so that the next call tries again.
   */
  readonly ensure: () => Promise<void>;
  readonly end: () => void;
}

/**
 * @param port where the engine answers whoever has the other end of the channel
 * @param onFailed called when it fails by itself: the channel is gone with it
 */
export function createPageEngine(
  start: () => Promise<RunningWorker<EngineWorkerApi>>,
  port: MessagePort,
  onFailed: () => void,
): PageEngine {
  let engine: Promise<RunningWorker<EngineWorkerApi>> | null = null;
  let ended = false;
  return {
    ensure: async () => {
      engine ??= start().then(async (worker) => {
        if (ended) worker.end();
        else await worker.remote.connect(Comlink.transfer(port, [port]));
        void worker.failure.then(onFailed);
        return worker;
      });
      try {
        await engine;
      } catch (error) {
        engine = null;
        throw error;
      }
    },
    end: () => {
      ended = true;
      void engine?.then(
        (worker) => {
          worker.end();
        },
        () => undefined, // an engine that never started has nothing to end
      );
    },
  };
}
