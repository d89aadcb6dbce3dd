import * as Comlink from "comlink";
import { PortalError, toPortalError } from "@relicario/shared/errors";
import { carryPortalErrors } from "./worker-calls.ts";
import type { Engine, EngineOptions, RecoverResult } from "./engine.ts";
import type { CallId, EngineWorkerApi, ProgressListener } from "./engine-worker-api.ts";

export type { EngineWorkerApi };

/**
 * An Engine over a worker, given what `Comlink.wrap<EngineWorkerApi>(workerOrPort)` returned: passes signals as cancellations
 * and listeners as proxies, and throws PortalErrors as they were thrown there. The bytes of a picture are copied, not taken.
 */
export function createEngineClient(remote: Comlink.Remote<EngineWorkerApi>): Engine {
  carryPortalErrors();
  const call = async <T>(options: EngineOptions | undefined, run: (id: CallId, onProgress: ProgressListener | null) => Promise<T>): Promise<T> => {
    const { signal, onProgress } = options ?? {};
    if (signal?.aborted === true) throw new PortalError("cancelled", { cause: signal.reason });
    const id = crypto.randomUUID();
    const cancel = () => {
      // The call itself rejects with `cancelled`; a worker that is gone has nothing left to cancel.
      remote.cancel(id).catch(() => undefined);
    };
    signal?.addEventListener("abort", cancel, { once: true });
    try {
      return await run(id, onProgress === undefined ? null : Comlink.proxy(onProgress));
    } catch (error) {
      throw toPortalError(error);
    } finally {
      signal?.removeEventListener("abort", cancel);
    }
  };
  return {
    inspect: (picture, options) => call(options, (id, onProgress) => remote.inspect(id, picture, onProgress)),
    enrol: (picture, known, options) => call(options, (id, onProgress) => remote.enrol(id, picture, known, onProgress)),
    recover: (picture, sketches, options) => call<RecoverResult>(options, async (id, onProgress) => await remote.recover(id, picture, sketches, onProgress, options?.hint)),
  };
}
