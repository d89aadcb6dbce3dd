import type { Engine } from "@relicario/engine";
import { callsTo } from "@relicario/engine/worker-calls";
import type { CallOptions, LinkSecret, OpenedShare, ProvidedSecret } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import * as Comlink from "comlink";

import { answerRequest, lookAtRequest, requestLink, type AnswerOptions, type AnswerParts } from "../requests/answer.ts";
import { answerCallsOn } from "../requests/answer-calls.ts";
import { openAnswerRecords, type AnswerRecords } from "../requests/answer-records.ts";
import { lookAtShare, openShare, type ShareAnswers } from "../shares/open-link.ts";
import { pauseFor } from "../steps/until-answered.ts";
import { createRunningDigest } from "../transfer/running-digest.ts";
import { browserPatience } from "../transfer/until-through.ts";
import { transferCallsOn, type TransferCalls } from "../transfer/upload-calls.ts";
import { openVisitorContext, type VisitorContext } from "../visitor-context.ts";
import { engineOverPage } from "./engine-over-page.ts";
import { createOpenedContents, type Crossing, type SealedContentKey } from "./opened-contents.ts";
import { httpOverPage, type PageHttp } from "./port-http.ts";

/** What the page answers to the visitor's worker. */
export interface VisitorPage extends PageHttp {
  /**
   * Called before each call to the engine; its port is connected when this is answered.
   * `vault_unavailable`.
   */
  readonly startEngine: () => Promise<void>;
  readonly takeLinkSecret: () => Promise<LinkSecret | null>;
}

/**
 * What the visitor's worker offers. Each act of the visitor is one line here; the page takes its
 * types from this.
 */
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
  function act<Given extends readonly unknown[], Answer>(
    run: (visitor: VisitorContext, ...given: Given) => Promise<Answer>,
  ): (...given: Given) => Promise<Answer> {
    return async (...given) => run(requireStarted().visitor, ...given);
  }

  let records: Promise<AnswerRecords> | null = null;

  /** What was begun here is read at the first request that is looked at. */
  function answerParts({ http, now }: VisitorContext): AnswerParts {
    return {
      calls: answerCallsOn(http),
      records: () => (records ??= openAnswerRecords(now)),
      newDigest: createRunningDigest,
      patience: browserPatience,
      now,
    };
  }

  return {
    /** Answers when the worker runs. */
    ping: () => undefined,

    /** Once, before any other call. The page answers at `pagePort`, the engine at `enginePort`. */
    start: (pagePort: MessagePort, enginePort: MessagePort): void => {
      const page = callsTo<VisitorPage>(pagePort);
      const http = httpOverPage(page);
      const engine = engineOverPage(page.startEngine, engineOn(enginePort));
      started = {
        visitor: openVisitorContext({
          http,
          engine,
          now: Date.now,
          pause: pauseFor,
          takeLinkSecret: page.takeLinkSecret,
        }),
        calls: transferCallsOn(http),
      };
    },

    lookAtShare: act(lookAtShare),
    openShare: act(
      async (
        visitor,
        shareId: string,
        answers: ShareAnswers,
        options?: CallOptions,
      ): Promise<Crossing<OpenedShare>> => {
        const { sealed, ...share } = await openShare(visitor, shareId, answers, options);
        return Comlink.transfer(
          { ...share, openedId: opened.keep({ sealed }) },
          share.content === null ? [] : [share.content.buffer],
        );
      },
    ),
    lookAtRequest: act(async (visitor, requestId: string, options?: CallOptions) =>
      lookAtRequest(answerParts(visitor), await requestLink(visitor, requestId), options?.signal),
    ),
    answer: act(async (visitor, requestId: string, provided: ProvidedSecret, options?: AnswerOptions) =>
      answerRequest(answerParts(visitor), await requestLink(visitor, requestId), provided, options),
    ),

    serveContentKeys: opened.serveKeys,
    putAway: opened.putAway,
  };
}
