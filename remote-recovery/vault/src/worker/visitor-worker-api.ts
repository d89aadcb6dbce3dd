import type { Engine } from "@relicario/engine";
import { callsTo } from "@relicario/engine/worker-calls";
import type { CallOptions, LinkSecret, OpenedShare } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";

import { lookAtShare, openShare, type ShareAnswers } from "../shares/open-link.ts";
import { pauseFor } from "../steps/until-answered.ts";
import { transferCallsOn, type TransferCalls } from "../transfer/upload-calls.ts";
import { openVisitorContext, type VisitorContext } from "../visitor-context.ts";
import { engineOverPage } from "./engine-over-page.ts";
import { createOpenedContents, type Crossing, type SealedContentKey } from "./opened-contents.ts";
import { httpOverPage, type PageHttp } from "./port-http.ts";

/** What the page answers to the visitor's worker. */
export interface VisitorPage extends PageHttp {
  /** Called before each call to the engine; its port is connected when this is answered. `vault_unavailable`. */
  readonly startEngine: () => Promise<void>;
  readonly takeLinkSecret: () => Promise<LinkSecret | null>;
}

/** What the visitor's worker offers. Each act of the visitor is one line here; the page takes its types from this. */
export type VisitorWorkerApi = ReturnType<typeof createVisitorWorkerApi>;

/** @param engineOn how the worker reaches the engine on a port; a seam for tests */
export function createVisitorWorkerApi(engineOn: (port: MessagePort) => Engine) {
  let started: { readonly visitor: VisitorContext; readonly calls: TransferCalls } | null = null;
  const opened = createOpenedContents<{ readonly sealed: SealedContentKey }>(() => requireStarted().calls);

  function requireStarted(): { readonly visitor: VisitorContext; readonly calls: TransferCalls } {
    if (started === null) throw new PortalError("vault_unavailable");
    return started;
  }

  /** An act of the visitor of this worker. */
  function act<Given extends readonly unknown[], Answer>(run: (visitor: VisitorContext, ...given: Given) => Promise<Answer>): (...given: Given) => Promise<Answer> {
    return async (...given) => run(requireStarted().visitor, ...given);
  }

  return {
    /** Answers when the worker runs. */
    ping: () => undefined,

    /** Once, before any other call. The page answers at `pagePort`, the engine at `enginePort`. */
    start: (pagePort: MessagePort, enginePort: MessagePort): void => {
      const page = callsTo<VisitorPage>(pagePort);
      const http = httpOverPage(page);
      const engine = engineOverPage(page.startEngine, engineOn(enginePort));
      started = { visitor: openVisitorContext({ http, engine, now: Date.now, pause: pauseFor, takeLinkSecret: page.takeLinkSecret }), calls: transferCallsOn(http) };
    },

    lookAtShare: act(lookAtShare),
    openShare: act(async (visitor, shareId: string, answers: ShareAnswers, options?: CallOptions): Promise<Crossing<OpenedShare>> => {
      const { sealed, ...share } = await openShare(visitor, shareId, answers, options);
      return Comlink.transfer({ ...share, openedId: opened.keep({ sealed }) }, share.content === null ? [] : [share.content.buffer]);
    }),

    serveContentKeys: opened.serveKeys,
    putAway: opened.putAway,
  };
}
