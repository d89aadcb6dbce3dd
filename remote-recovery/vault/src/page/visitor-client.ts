import { createAbortableCalls } from "@relicario/engine/abortable-calls";
import { serveCalls } from "@relicario/engine/worker-calls";
import type { Visitor } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";

import { releaseOpener, requirePresentedPicture } from "../rpc/presented-opener.ts";
import { createDownloads } from "./downloads.ts";
import { createTransferWorkers } from "./transfer-workers.ts";
import { createPageEngine } from "./page-engine.ts";
import { createPlainContent } from "./opened-content.ts";
import { callRunning, createCallWorker, type CallableWorker } from "../rpc/call-running.ts";
import { createPageHttp } from "../rpc/page-http.ts";
import type { WorkerStarter } from "./browser-workers.ts";
import type { VaultPortal } from "./vault-portal.ts";
import { createRestartable } from "../rpc/restartable.ts";
import type { PlainMembers } from "../transfer/plain-content.ts";
import type { VisitorPage, VisitorWorkerApi } from "../worker/visitor-worker-api.ts";

/** The contract's visitor without components, and with plain contents. */
export type VisitorClient = PlainMembers<Omit<Visitor, "PictureField">>;

interface RunningVisitor extends CallableWorker<VisitorWorkerApi> {
  readonly end: (code: "link_incomplete" | "vault_unavailable") => void;
}

/**
 * Creates the contract's visitor on the page, with its workers. The first operation starts a
 * worker. If that worker fails or is closed, the link key is lost: the next operation starts
 * another worker and throws `link_incomplete`.
 */
export function createVisitorClient(
  { http, takeLinkSecret }: Pick<VaultPortal, "http" | "takeLinkSecret">,
  workers: Pick<WorkerStarter, "visitor" | "engine" | "transfer">,
): VisitorClient {
  const restartableVisitor = createRestartable(start);
  const downloads = createDownloads(
    createTransferWorkers({ account: null, http, startWorker: workers.transfer, phase: "opening" }),
  );

  async function start(onEnd: () => void): Promise<RunningVisitor> {
    const worker = await workers.visitor();
    const [pageChannel, engineChannel] = [new MessageChannel(), new MessageChannel()];
    const { abortable, abort } = createAbortableCalls();
    const end: RunningVisitor["end"] = (code) => {
      onEnd();
      abort(new PortalError(code));
      worker.end();
      pageChannel.port1.close();
      engine.end();
    };
    const fail = (): void => {
      end("vault_unavailable");
    };
    const engine = createPageEngine(workers.engine, engineChannel.port1, fail);
    void worker.failure.then(fail);
    const pageApi: VisitorPage = { ...createPageHttp(http), startEngine: engine.ensure, takeLinkSecret };
    serveCalls(pageApi, pageChannel.port1);
    const [pagePort, enginePort] = [pageChannel.port2, engineChannel.port2];
    await abortable(
      worker.remote.start(Comlink.transfer(pagePort, [pagePort]), Comlink.transfer(enginePort, [enginePort])),
    );
    return { remote: worker.remote, abortable, end };
  }

  const callWorker = createCallWorker<VisitorWorkerApi>(restartableVisitor.ensure);

  return {
    previewShare: callWorker((worker) => worker.inspectShare),
    openShare: async (shareId, { password, picture }, options) => {
      // first, because a released handle must not reach the worker
      const sharePicture = picture === null ? null : requirePresentedPicture(picture).picture;
      return callRunning(restartableVisitor.ensure, [options], async (runningVisitor) => {
        const share = await runningVisitor.remote.openShare(shareId, { password, picture: sharePicture }, options);
        return createPlainContent(share, runningVisitor, downloads);
      });
    },
    previewRequest: callWorker((worker) => worker.inspectRequest),
    answer: callWorker((worker) => worker.answer),
    releaseOpener,
    close: () => {
      void downloads.lock();
      void restartableVisitor.release().then((runningVisitor) => runningVisitor?.end("link_incomplete"));
    },
  };
}
