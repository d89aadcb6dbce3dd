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
 * What the visitor's worker offers. Each operation of the visitor is one line here; the page takes
 * its types from this.
 */
export type VisitorWorkerApi = ReturnType<typeof createVisitorWorkerApi>;

/** @param connectEngine how the worker reaches the engine on a port; a seam for tests */
export function createVisitorWorkerApi(connectEngine: (port: MessagePort) => Engine) {
  let started: { readonly visitor: VisitorContext; readonly calls: TransferCalls } | null = null;
  const openedContents = createOpenedContentStore(() => requireStarted().calls);

  function requireStarted(): { readonly visitor: VisitorContext; readonly calls: TransferCalls } {
    if (started === null) throw new PortalError("vault_unavailable");
    return started;
  }

  /** An operation of the visitor of this worker. */
  function operation<Arguments extends readonly unknown[], Result>(
    run: (visitor: VisitorContext, ...args: Arguments) => Promise<Result>,
  ): (...args: Arguments) => Promise<Result> {
    return async (...args) => run(requireStarted().visitor, ...args);
  }

  let records: Promise<AnswerRecords> | null = null;

  /** What was begun here is read at the first request that is looked at. */
  function createAnswerDeps({ http, now }: VisitorContext): AnswerDeps {
    return {
      calls: createAnswerCalls(http),
      openRecords: () => (records ??= openAnswerRecords(now)),
      createDigest: createResumableDigest,
      retryPolicy: browserRetryPolicy,
      now,
    };
  }

  return {
    /** Answers when the worker runs. */
    ping: () => undefined,

    /** Once, before any other call. The page answers at `pagePort`, the engine at `enginePort`. */
    start: (pagePort: MessagePort, enginePort: MessagePort): void => {
      const page = createCallClient<VisitorPage>(pagePort);
      const http = createHttpOverPage(page);
      const engine = createLazyEngine(page.startEngine, connectEngine(enginePort));
      started = {
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

    inspectShare: operation(inspectShare),
    openShare: operation(async (visitor, shareId: string, credentials: ShareCredentials, options?: CallOptions) =>
      openedContents.add(await openShare(visitor, shareId, credentials, options)),
    ),
    inspectRequest: operation(async (visitor, requestId: string, options?: CallOptions) =>
      inspectRequest(createAnswerDeps(visitor), await resolveRequestLink(visitor, requestId), options?.signal),
    ),
    answer: operation(async (visitor, requestId: string, provided: ProvidedSecret, options?: AnswerOptions) =>
      answerRequest(createAnswerDeps(visitor), await resolveRequestLink(visitor, requestId), provided, options),
    ),

    ...openedContents.calls,
  };
}
