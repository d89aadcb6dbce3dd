import type { EngineWorkerApi } from "@relicario/engine/worker-api";
import { createCallClient, serveCalls } from "@relicario/engine/worker-calls";
import { estimateStrength } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import { createImportWorkerApi, type ImportWorkerApi } from "../imports/import-worker-api.ts";
import { createTransferWorkerApi, type TransferWorkerApi } from "../transfer/transfer-worker-api.ts";
import type { WorkerStarter } from "../page/browser-workers.ts";
import type { RunningWorker } from "../rpc/start-worker.ts";
import type { StrengthWorkerApi } from "../worker/strength-worker-api.ts";
import { createVaultWorkerApi, type VaultWorkerApi } from "../worker/vault-worker-api.ts";
import { createVisitorWorkerApi, type VisitorWorkerApi } from "../worker/visitor-worker-api.ts";
import { createFakeEngine } from "./fake-engine.ts";
import { kitFile } from "./kit-files.ts";

/** Stops ports with listeners from keeping Node alive, as in browsers. */
export function unrefMessagePorts(): void {
  const { prototype } = MessagePort;
  beforeAll(() => {
    prototype.addEventListener = function (...parameters: Parameters<EventTarget["addEventListener"]>) {
      EventTarget.prototype.addEventListener.apply(this, parameters);
      (this as unknown as { unref: () => void }).unref();
    };
  });
  afterAll(() => {
    Reflect.deleteProperty(prototype, "addEventListener"); // restores the inherited method
  });
}

/**
 * Runs workers over message channels, without threads. Every call is structured-cloned, as in a
 * browser.
 */
export function createChannelWorkers(): WorkerStarter & {
  readonly startedWorkers: string[];
  readonly endedWorkers: string[];
  failNext: string | null;
} {
  const startWorker = <T extends object>(name: string, api: T): RunningWorker<T> => {
    if (starter.failNext === name) {
      starter.failNext = null;
      throw new PortalError("vault_unavailable");
    }
    starter.startedWorkers.push(name);
    const { port1, port2 } = new MessageChannel();
    serveCalls(api, port1);
    return {
      remote: createCallClient<T>(port2),
      failure: new Promise(() => undefined),
      end: () => {
        starter.endedWorkers.push(name);
        port1.close();
      },
    };
  };
  const starter = {
    startedWorkers: [] as string[],
    endedWorkers: [] as string[],
    failNext: null as string | null,
    vault: () =>
      runAsync(() =>
        startWorker<VaultWorkerApi>(
          "vault",
          createVaultWorkerApi((port) => createCallClient<EngineWorkerApi>(port)),
        ),
      ),
    visitor: () =>
      runAsync(() =>
        startWorker<VisitorWorkerApi>(
          "visitor",
          createVisitorWorkerApi((port) => createCallClient<EngineWorkerApi>(port)),
        ),
      ),
    transfer: () => runAsync(() => startWorker<TransferWorkerApi>("transfer", createTransferWorkerApi())),
    importReader: () => runAsync(() => startWorker<ImportWorkerApi>("import", createImportWorkerApi())),
    strength: () =>
      runAsync(() => startWorker<StrengthWorkerApi>("strength", { ping: () => undefined, estimateStrength })),
    engine: () => runAsync(() => startWorker<EngineWorkerApi>("engine", createEngineApi())),
    kitFile,
  };
  return starter;
}

/** Creates the API of the engine's worker over the fake engine. */
function createEngineApi(): EngineWorkerApi {
  const api: EngineWorkerApi = {
    ...createFakeEngine(),
    ping: () => undefined,
    init: () => undefined,
    connect: (port) => {
      serveCalls(api, port);
    },
  };
  return api;
}

async function runAsync<T>(callback: () => T): Promise<T> {
  return Promise.resolve().then(callback);
}
