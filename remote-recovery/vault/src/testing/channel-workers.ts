import type { EngineWorkerApi } from "@relicario/engine/worker-api";
import { createCallClient, serveCalls } from "@relicario/engine/worker-calls";
import { PortalError } from "@relicario/shared/errors";

import { createImportWorkerApi, type ImportWorkerApi } from "../imports/import-worker-api.ts";
import { createTransferWorkerApi, type TransferWorkerApi } from "../transfer/transfer-worker-api.ts";
import type { WorkerStarter } from "../page/browser-workers.ts";
import type { RunningWorker } from "../rpc/start-worker.ts";
import { createVaultWorkerApi, type VaultWorkerApi } from "../worker/vault-worker-api.ts";
import { createVisitorWorkerApi, type VisitorWorkerApi } from "../worker/visitor-worker-api.ts";
import { createFakeEngine } from "./fake-engine.ts";
import { kitFile } from "./kit-files.ts";

/** Node waits for ports that somebody listens at, browsers do not: here nobody does. */
export function unrefMessagePorts(): void {
  const { prototype } = MessagePort;
  beforeAll(() => {
    prototype.addEventListener = function (...parameters: Parameters<EventTarget["addEventListener"]>) {
      EventTarget.prototype.addEventListener.apply(this, parameters);
      (this as unknown as { unref: () => void }).unref();
    };
  });
  afterAll(() => {
    Reflect.deleteProperty(prototype, "addEventListener"); // the inherited one is back
  });
}

/**
 * Workers over message channels: everything crosses by structured clone, as in a browser, without
 * threads.
 */
export function createChannelWorkers(): WorkerStarter & {
  readonly started: string[];
  readonly ended: string[];
  failNext: string | null;
} {
  const startWorker = <T extends object>(name: string, api: T): RunningWorker<T> => {
    if (starter.failNext === name) {
      starter.failNext = null;
      throw new PortalError("vault_unavailable");
    }
    starter.started.push(name);
    const { port1, port2 } = new MessageChannel();
    serveCalls(api, port1);
    return {
      remote: createCallClient<T>(port2),
      failure: new Promise(() => undefined),
      end: () => {
        starter.ended.push(name);
        port1.close();
      },
    };
  };
  const starter = {
    started: [] as string[],
    ended: [] as string[],
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
    engine: () => runAsync(() => startWorker<EngineWorkerApi>("engine", engineApi())),
    kitFile,
  };
  return starter;
}

/** What the engine's worker offers, over the fake engine. */
function engineApi(): EngineWorkerApi {
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
