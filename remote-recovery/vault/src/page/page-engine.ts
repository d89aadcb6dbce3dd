import type { EngineWorkerApi } from "@relicario/engine/worker-api";
import * as Comlink from "comlink";

import { raceFailure, type RunningWorker } from "../rpc/start-worker.ts";

export interface PageEngine {
  /** Starts the engine unless it runs. After a failed start, the next call tries again. */
  readonly ensure: () => Promise<void>;
  readonly end: () => void;
}

/**
 * @param port port at which the engine serves the worker
 * @param onFailed called when the engine fails, which closes the channel
 */
export function createPageEngine(
  start: () => Promise<RunningWorker<EngineWorkerApi>>,
  port: MessagePort,
  onFailed: () => void,
): PageEngine {
  let enginePromise: Promise<RunningWorker<EngineWorkerApi>> | null = null;
  let hasEnded = false;
  return {
    ensure: async () => {
      enginePromise ??= start().then(async (worker) => {
        void worker.failure.then(onFailed);
        if (hasEnded) worker.end();
        else await raceFailure(worker.failure, worker.remote.connect(Comlink.transfer(port, [port])));
        return worker;
      });
      try {
        await enginePromise;
      } catch (error) {
        enginePromise = null;
        throw error;
      }
    },
    end: () => {
      hasEnded = true;
      void enginePromise?.then(
        (worker) => {
          worker.end();
        },
        () => undefined, // an engine that never started has nothing to end
      );
    },
  };
}
