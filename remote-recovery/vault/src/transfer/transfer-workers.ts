import { createGone, type Gone } from "@relicario/engine/worker-gone";
import { serveCalls } from "@relicario/engine/worker-calls";
import type { CallOptions, DeviceAccount, Http } from "@relicario/shared/contract";
import { PortalError, toPortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";

import { refuseCancelled } from "../cancelled.ts";
import { pageHttp } from "../worker/port-http.ts";
import type { RunningWorker } from "../worker/start-workers.ts";
import { startedOnce } from "../worker/started-once.ts";
import type { SendOptions } from "./send-content.ts";
import type { TransferWorkerApi } from "./transfer-worker-api.ts";

export interface TransferWorkersParts {
  /** Whose uploads they send; null for what needs no account. */
  readonly account: DeviceAccount | null;
  readonly http: Http;
  readonly startWorker: () => Promise<RunningWorker<TransferWorkerApi>>;
  /** What their progress is called. */
  readonly phase: "sending" | "opening";
}

/**
 * A pair of workers that is started at its first call: one seals or opens pieces, the other
 * computes its digests.
 */
export interface TransferWorkers {
  /**
   * A call that `controller` ends, as the caller's own signal does. `vault_unavailable` when a
   * worker fails or is ended.
   */
  readonly call: <T>(
    controller: AbortController,
    options: CallOptions,
    run: (remote: Comlink.Remote<TransferWorkerApi>, options: SendOptions) => Promise<T>,
  ) => Promise<T>;
  /** Ends both. A later call starts new ones. */
  readonly end: () => Promise<void>;
}

interface Running {
  readonly remote: Comlink.Remote<TransferWorkerApi>;
  readonly orGone: Gone["orGone"];
  readonly end: () => void;
}

export function createTransferWorkers({ account, http, startWorker, phase }: TransferWorkersParts): TransferWorkers {
  const pair = startedOnce(start);

  async function start(onEnd: () => void): Promise<Running> {
    const [main, helper] = await Promise.all([startWorker(), startWorker()]);
    const [page, digests] = [new MessageChannel(), new MessageChannel()];
    const { orGone, say } = createGone();
    const end = (): void => {
      onEnd();
      say(new PortalError("vault_unavailable"));
      main.end();
      helper.end();
      page.port1.close();
    };
    for (const { failed } of [main, helper]) void failed.then(end);
    serveCalls(pageHttp(http), page.port1);
    await Promise.all([
      orGone(helper.remote.serveDigests(Comlink.transfer(digests.port2, [digests.port2]))),
      orGone(
        main.remote.start(
          account,
          Comlink.transfer(page.port2, [page.port2]),
          Comlink.transfer(digests.port1, [digests.port1]),
        ),
      ),
    ]);
    return { remote: main.remote, orGone, end };
  }

  return {
    call: async (controller, { signal, onProgress }, run) => {
      const follow = (): void => {
        controller.abort(signal?.reason);
      };
      refuseCancelled(signal);
      signal?.addEventListener("abort", follow, { once: true });
      try {
        const { remote, orGone } = await pair.ensure();
        refuseCancelled(controller.signal);
        return await orGone(
          run(remote, { signal: controller.signal, onProgress: (done, total) => onProgress?.({ phase, done, total }) }),
        );
      } catch (error) {
        throw toPortalError(error);
      } finally {
        signal?.removeEventListener("abort", follow);
      }
    },
    end: async () => {
      (await pair.release())?.end();
    },
  };
}
