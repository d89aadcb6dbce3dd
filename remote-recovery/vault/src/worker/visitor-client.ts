import { createGone, type Gone } from "@relicario/engine/worker-gone";
import { serveCalls, signalAmong } from "@relicario/engine/worker-calls";
import type { PortalForVisitors, Visitor } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";

import { refuseCancelled } from "../cancelled.ts";
import { forgetShown, requirePicture } from "../shown-image.ts";
import { createDownloads } from "../transfer/downloads.ts";
import { createTransferWorkers } from "../transfer/transfer-workers.ts";
import { engineOnPage } from "./engine-on-page.ts";
import { openedOnPage } from "./opened-on-page.ts";
import { pageHttp } from "./port-http.ts";
import { browserWorkers, type WorkerStarter } from "./start-workers.ts";
import { startedOnce } from "./started-once.ts";
import type { VisitorPage, VisitorWorkerApi } from "./visitor-worker-api.ts";

/** The contract's visitor but for what it draws. */
export type VisitorClient = Omit<Visitor, "PictureField">;

/** The visitor of a page opened by a link. */
export async function createVisitor(portal: PortalForVisitors): Promise<VisitorClient> {
  return Promise.resolve(createVisitorClient(portal, browserWorkers));
}

/** The visitor's worker. */
interface Running {
  readonly remote: Comlink.Remote<VisitorWorkerApi>;
  readonly orGone: Gone["orGone"];
  readonly end: (code: "link_incomplete" | "vault_unavailable") => void;
}

/**
 * The contract's visitor over its workers, on the page. A worker starts at the first act. One that
 * failed, or was closed, takes the link key with it: the next act starts another, and says
 * `link_incomplete`.
 */
export function createVisitorClient(
  { http, takeLinkSecret }: Pick<PortalForVisitors, "http" | "takeLinkSecret">,
  workers: Pick<WorkerStarter, "visitor" | "engine" | "transfer">,
): VisitorClient {
  const visitor = startedOnce(start);
  const downloads = createDownloads(
    createTransferWorkers({ account: null, http, startWorker: workers.transfer, phase: "opening" }),
  );

  async function start(onEnd: () => void): Promise<Running> {
    const worker = await workers.visitor();
    const [page, channel] = [new MessageChannel(), new MessageChannel()];
    const { orGone, say } = createGone();
    const end: Running["end"] = (code) => {
      onEnd();
      say(new PortalError(code));
      worker.end();
      page.port1.close();
      engine.end();
    };
    const fail = (): void => {
      end("vault_unavailable");
    };
    const engine = engineOnPage(workers.engine, channel.port1, fail);
    void worker.failed.then(fail);
    const answers: VisitorPage = { ...pageHttp(http), startEngine: engine.ensure, takeLinkSecret };
    serveCalls(answers, page.port1);
    const [pagePort, enginePort] = [page.port2, channel.port2];
    await orGone(
      worker.remote.start(Comlink.transfer(pagePort, [pagePort]), Comlink.transfer(enginePort, [enginePort])),
    );
    return { remote: worker.remote, orGone, end };
  }

  /** An act of the worker, with the same arguments and the same answer. */
  function inWorker<Given extends readonly unknown[], Answer>(
    act: (worker: Comlink.Remote<VisitorWorkerApi>) => (...given: Given) => Promise<Answer>,
  ): (...given: Given) => Promise<Answer> {
    return async (...given) => {
      const signal = signalAmong(given);
      refuseCancelled(signal);
      const { remote, orGone } = await visitor.ensure();
      refuseCancelled(signal);
      return orGone(act(remote)(...given));
    };
  }

  const acts = { openShare: inWorker((worker) => worker.openShare) };

  return {
    lookAtShare: inWorker((worker) => worker.lookAtShare),
    openShare: async (shareId, { password, picture }, options) => {
      // a handle that stands for nothing reaches no worker
      const shown = picture === null ? null : requirePicture(picture).picture;
      const opener = await visitor.ensure();
      const { openedId, ...share } = await acts.openShare(shareId, { password, picture: shown }, options);
      return { ...share, ...openedOnPage({ openedId, ...share }, opener, downloads) };
    },
    lookAtRequest: inWorker((worker) => worker.lookAtRequest),
    answer: inWorker((worker) => worker.answer),
    forgetShown,
    close: () => {
      void downloads.lock();
      void visitor.release().then((one) => one?.end("link_incomplete"));
    },
  };
}
