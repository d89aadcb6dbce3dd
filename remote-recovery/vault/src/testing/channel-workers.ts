import { PortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";

import { createEngineClient } from "@relicario/engine/client";
import type { EngineWorkerApi } from "@relicario/engine/client";
import { createTransferWorkerApi, type TransferWorkerApi } from "../transfer/transfer-worker-api.ts";
import type { RunningWorker, WorkerStarter } from "../worker/start-workers.ts";
import { createVaultWorkerApi, type VaultWorkerApi } from "../worker/vault-worker-api.ts";
import { createFakeEngine } from "./fake-engine.ts";

/** Node waits for ports that somebody listens at, browsers do not: here nobody does. */
export function leavePortsUnwaited(): void {
  const { prototype } = MessagePort;
  beforeAll(() => {
    prototype.addEventListener = function (...given: Parameters<EventTarget["addEventListener"]>) {
      EventTarget.prototype.addEventListener.apply(this, given);
      (this as unknown as { unref: () => void }).unref();
    };
  });
  afterAll(() => {
    Reflect.deleteProperty(prototype, "addEventListener"); // the inherited one is back
  });
}

/** Workers over message channels: everything crosses by structured clone, as in a browser, without threads. */
export function channelWorkers(): WorkerStarter & { readonly started: string[]; failNext: string | null } {
  const run = <T>(name: string, service: T): RunningWorker<T> => {
    if (starter.failNext === name) {
      starter.failNext = null;
      throw new PortalError("vault_unavailable");
    }
    starter.started.push(name);
    const { port1, port2 } = new MessageChannel();
    Comlink.expose(service, port1);
    return { remote: Comlink.wrap<T>(port2), failed: new Promise(() => undefined), end: () => { port1.close(); } };
  };
  const starter = {
    started: [] as string[],
    failNext: null as string | null,
    vault: () =>
      attempt(() =>
        run<VaultWorkerApi>("vault", createVaultWorkerApi((port) => createEngineClient(Comlink.wrap<EngineWorkerApi>(port)))),
      ),
    transfer: () => attempt(() => run<TransferWorkerApi>("transfer", createTransferWorkerApi())),
    engine: () => attempt(() => run<EngineWorkerApi>("engine", engineService())),
  };
  return starter;
}

/** The engine's service over the fake engine: enough of it for the vault. */
function engineService(): EngineWorkerApi {
  const engine = createFakeEngine();
  const service: EngineWorkerApi = {
    init: () => undefined,
    connect: (port) => {
      Comlink.expose(service, port);
    },
    inspect: (_id, picture) => engine.inspect(picture),
    enrol: (_id, picture, known) => engine.enrol(picture, known),
    recover: (_id, picture, sketches) => engine.recover(picture, sketches),
    cancel: () => undefined,
  };
  return service;
}

async function attempt<T>(work: () => T): Promise<T> {
  return Promise.resolve().then(work);
}
