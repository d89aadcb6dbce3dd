import { createAbortableCalls } from "@relicario/engine/abortable-calls";
import { serveCalls } from "@relicario/engine/worker-calls";
import type { PortalForVisitors, Visitor } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";

import { releaseOpener, requirePresentedPicture } from "../rpc/presented-opener.ts";
import { createDownloads } from "./downloads.ts";
import { createTransferWorkers } from "./transfer-workers.ts";
import { createPageEngine } from "./page-engine.ts";
import { createOpenedContent } from "./opened-content.ts";
import { callRunning, createCallWorker, type CallableWorker } from "../rpc/call-running.ts";
import { createPageHttp } from "../rpc/page-http.ts";
import { browserWorkers, type WorkerStarter } from "./browser-workers.ts";
import { createRestartable } from "../rpc/restartable.ts";
import type { VisitorPage, VisitorWorkerApi } from "../worker/visitor-worker-api.ts";

/** The contract's visitor but for what it draws. */
export type VisitorClient = Omit<Visitor, "PictureField">;

/** The visitor of a page opened by a link. */
export async function createVisitor(portal: PortalForVisitors): Promise<VisitorClient> {
  return Promise.resolve(createVisitorClient(portal, browserWorkers));
}

/** The visitor's worker. */
interface RunningVisitor extends CallableWorker<VisitorWorkerApi> {
  readonly end: (code: "link_incomplete" | "vault_unavailable") => void;
}

/**
 * The contract's visitor over its workers, on the page. A worker starts at the first operation. One
 * that failed, or was closed, takes the link key with it: the next operation starts another, and
 * says `link_incomplete`.
 */
export function createVisitorClient(
  { http, takeLinkSecret }: Pick<PortalForVisitors, "http" | "takeLinkSecret">,
  workers: Pick<WorkerStarter, "visitor" | "engine" | "transfer">,
): VisitorClient {
  const runningVisitor = createRestartable(start);
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

  const callWorker = createCallWorker<VisitorWorkerApi>(runningVisitor.ensure);

  return {
    previewShare: callWorker((worker) => worker.inspectShare),
    openShare: async (shareId, { password, picture }, options) => {
      // a handle that stands for nothing reaches no worker
      const sharePicture = picture === null ? null : requirePresentedPicture(picture).picture;
      return callRunning(runningVisitor.ensure, [options], async (running) => {
        const share = await running.remote.openShare(shareId, { password, picture: sharePicture }, options);
        return createOpenedContent(share, running, downloads);
      });
    },
    previewRequest: callWorker((worker) => worker.inspectRequest),
    answer: callWorker((worker) => worker.answer),
    releaseOpener,
    close: () => {
      void downloads.lock();
      void runningVisitor.release().then((running) => running?.end("link_incomplete"));
    },
  };
}
