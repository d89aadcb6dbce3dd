import { createAbortableCalls, raceAbort, type AbortableCalls } from "@relicario/engine/abortable-calls";
import { serveCalls } from "@relicario/engine/worker-calls";
import type { CallOptions, DeviceAccount, HttpClient } from "@relicario/shared/contract";
import { PortalError, toPortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";

import { throwIfCancelled } from "../rpc/throw-if-cancelled.ts";
import { createPageHttp } from "../rpc/page-http.ts";
import type { RunningWorker } from "../rpc/start-worker.ts";
import { createRestartable } from "../rpc/restartable.ts";
import type { SendOptions } from "../transfer/send-content.ts";
import type { TransferWorkerApi } from "../transfer/transfer-worker-api.ts";

export interface TransferWorkersDeps {
  /** Account whose uploads are sent; null for downloads. */
  readonly account: DeviceAccount | null;
  readonly http: HttpClient;
  readonly startWorker: () => Promise<RunningWorker<TransferWorkerApi>>;
  readonly phase: "sending" | "opening";
}

/** A pair of transfer workers, which the first call starts; see {@link TransferWorkerApi}. */
export interface TransferWorkers {
  /**
   * Runs a call that `controller` or the caller's signal can abort. Rejects with
   * `vault_unavailable` if a worker fails or is ended.
   */
  readonly call: <T>(
    controller: AbortController,
    options: CallOptions,
    callback: (remote: Comlink.Remote<TransferWorkerApi>, options: SendOptions) => Promise<T>,
  ) => Promise<T>;
  /** Ends both workers. The next call starts new ones. */
  readonly end: () => Promise<void>;
}

interface RunningPair {
  readonly remote: Comlink.Remote<TransferWorkerApi>;
  readonly abortable: AbortableCalls["abortable"];
  readonly end: () => void;
}

export function createTransferWorkers({ account, http, startWorker, phase }: TransferWorkersDeps): TransferWorkers {
  const workerPair = createRestartable(start);

  async function start(onEnd: () => void): Promise<RunningPair> {
    const [mainWorker, digestWorker] = await Promise.all([startWorker(), startWorker()]);
    const [pageChannel, digestChannel] = [new MessageChannel(), new MessageChannel()];
    const { abortable, abort } = createAbortableCalls();
    const end = (): void => {
      onEnd();
      abort(new PortalError("vault_unavailable"));
      mainWorker.end();
      digestWorker.end();
      pageChannel.port1.close();
    };
    for (const { failure } of [mainWorker, digestWorker]) void failure.then(end);
    serveCalls(createPageHttp(http), pageChannel.port1);
    await Promise.all([
      abortable(digestWorker.remote.serveDigests(Comlink.transfer(digestChannel.port2, [digestChannel.port2]))),
      abortable(
        mainWorker.remote.start(
          account,
          Comlink.transfer(pageChannel.port2, [pageChannel.port2]),
          Comlink.transfer(digestChannel.port1, [digestChannel.port1]),
        ),
      ),
    ]);
    return { remote: mainWorker.remote, abortable, end };
  }

  return {
    call: async (controller, { signal, onProgress }, callback) => {
      const forwardAbort = (): void => {
        controller.abort(signal?.reason);
      };
      throwIfCancelled(signal);
      signal?.addEventListener("abort", forwardAbort, { once: true });
      try {
        const { remote, abortable } = await raceAbort(controller.signal, workerPair.ensure());
        return await abortable(
          callback(remote, {
            signal: controller.signal,
            onProgress: (done, total) => onProgress?.({ phase, done, total }),
          }),
        );
      } catch (error) {
        throw toPortalError(error);
      } finally {
        signal?.removeEventListener("abort", forwardAbort);
      }
    },
    end: async () => {
      (await workerPair.release())?.end();
    },
  };
}
