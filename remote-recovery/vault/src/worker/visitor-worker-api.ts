import type { Engine } from "@relicario/engine";
import { createCallClient } from "@relicario/engine/worker-calls";
import type { CallOptions, LinkSecret, ProvidedSecret } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";

import {
  answerRequest,
  inspectRequest,
  resolveRequestLink,
  type AnswerOptions,
  type AnswerDeps,
} from "../requests/answer.ts";
import { createAnswerCalls } from "../requests/answer-calls.ts";
import { openAnswerRecords, type AnswerRecords } from "../requests/answer-records.ts";
import { inspectShare, openShare, type ShareCredentials } from "../shares/open-link.ts";
import { pauseFor } from "../service/send-with-retry.ts";
import { createResumableDigest } from "../transfer/resumable-digest.ts";
import { browserRetryPolicy } from "../transfer/retry-until-success.ts";
import { createTransferCalls, type TransferCalls } from "../transfer/upload-calls.ts";
import { openVisitorContext, type VisitorContext } from "../visitor/visitor-context.ts";
import { createLazyEngine } from "./lazy-engine.ts";
import { createOpenedContentStore } from "../transfer/opened-content-store.ts";
import { createHttpOverPage, type PageHttp } from "../rpc/page-http.ts";

/** The visitor worker's calls to the page. */
export interface VisitorPage extends PageHttp {
  /**
   * Called before each engine call; resolves when the port is connected. Throws
   * `vault_unavailable`.
   */
  readonly startEngine: () => Promise<void>;
  readonly takeLinkSecret: () => Promise<LinkSecret | null>;
}

export type VisitorWorkerApi = ReturnType<typeof createVisitorWorkerApi>;

/** @param connectEngine creates a client of the engine at a port; tests replace it */
export function createVisitorWorkerApi(connectEngine: (port: MessagePort) => Engine) {
  let startedVisitor: { readonly visitor: VisitorContext; readonly calls: TransferCalls } | null = null;
  const openedContents = createOpenedContentStore(() => requireStarted().calls);

  function requireStarted(): { readonly visitor: VisitorContext; readonly calls: TransferCalls } {
    if (startedVisitor === null) throw new PortalError("vault_unavailable");
    return startedVisitor;
  }

  function createOperation<Arguments extends readonly unknown[], Result>(
    run: (visitor: VisitorContext, ...args: Arguments) => Promise<Result>,
  ): (...args: Arguments) => Promise<Result> {
    return async (...args) => run(requireStarted().visitor, ...args);
  }

  let recordsPromise: Promise<AnswerRecords> | null = null;

  /** Opens the records of unfinished answers on first use. */
  function createAnswerDeps({ http, now }: VisitorContext): AnswerDeps {
    return {
      calls: createAnswerCalls(http),
      openRecords: () => (recordsPromise ??= openAnswerRecords(now)),
      createDigest: createResumableDigest,
      retryPolicy: browserRetryPolicy,
      now,
    };
  }

  return {
    /** Resolves when the worker runs. */
    ping: () => undefined,

    /**
     * Called once, before any other call.
     *
     * @param pagePort port at which the page serves {@link VisitorPage}
     */
    start: (pagePort: MessagePort, enginePort: MessagePort): void => {
      const page = createCallClient<VisitorPage>(pagePort);
      const http = createHttpOverPage(page);
      const engine = createLazyEngine(page.startEngine, connectEngine(enginePort));
      startedVisitor = {
        visitor: openVisitorContext({
          http,
          engine,
          now: Date.now,
          pause: pauseFor,
          takeLinkSecret: page.takeLinkSecret,
        }),
        calls: createTransferCalls(http),
      };
    },

    inspectShare: createOperation(inspectShare),
    openShare: createOperation(async (visitor, shareId: string, credentials: ShareCredentials, options?: CallOptions) =>
      openedContents.add(await openShare(visitor, shareId, credentials, options)),
    ),
    inspectRequest: createOperation(async (visitor, requestId: string, options?: CallOptions) =>
      inspectRequest(createAnswerDeps(visitor), await resolveRequestLink(visitor, requestId), options?.signal),
    ),
    answer: createOperation(
      async (visitor, requestId: string, providedSecret: ProvidedSecret, options?: AnswerOptions) =>
        answerRequest(createAnswerDeps(visitor), await resolveRequestLink(visitor, requestId), providedSecret, options),
    ),

    ...openedContents.calls,
  };
}
