import {
  fromBase64url,
  maxFileNameLength,
  maxRequestNoteLength,
  defaultPartBytes,
  RequestId,
  toBase64url,
} from "@relicario/shared/api";
import type { CallOptions, RequestPreview, ProvidedSecret } from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { sha256, wipe, type Bytes } from "../seal/bytes.ts";
import { computePaddedLength, computeMaxPlainLength, computeSealedLength } from "../seal/content-sizes.ts";
import { createContentSeal } from "../seal/content-stream.ts";
import { formatTimestamp } from "../seal/ids.ts";
import { ContentKind } from "../seal/label.ts";
import { deriveLinkAuth } from "../seal/link-keys.ts";
import { deriveReceiptWords, sealProvidedTicket } from "../seal/provided-ticket.ts";
import { openRequestDocument, type RequestDocument } from "../seal/request-document.ts";
import { nonEmptyText, boundedText } from "../seal/text.ts";
import { validate } from "../secrets/validate-request.ts";
import type { ResumableDigest } from "../transfer/resumable-digest.ts";
import { createSealingState, requirePartSize } from "../transfer/sealing-state.ts";
import { requireSameContent, sendContent, type SendingCalls, type SendingRecords } from "../transfer/send-content.ts";
import { withTabLock } from "../transfer/with-tab-lock.ts";
import { retryUntilSuccess, type RetryPolicy } from "../transfer/retry-until-success.ts";
import { requireLinkKey, type VisitorContext } from "../visitor/visitor-context.ts";
import type { AnswerCalls, AnswerUpload } from "./answer-calls.ts";
import {
  buildAnswerLockName,
  createAnswerCipher,
  type AnswerRecord,
  type AnswerRecords,
  type AnswerCipher,
  type FinishingState,
} from "./answer-records.ts";

export interface AnswerDeps {
  readonly calls: AnswerCalls;
  readonly openRecords: () => Promise<AnswerRecords>;
  readonly createDigest: () => ResumableDigest;
  readonly retryPolicy: RetryPolicy;
  readonly now: () => number;
}

/** The receipt of a finished answer. */
export interface AnswerReceipt {
  /** Eight words for the person to compare with the requester. */
  readonly receiptWords: readonly string[];
  /** Set if the receipt belongs to an earlier answer from this browser, not to the current one. */
  readonly fromEarlierAnswer?: true;
}

export interface RequestLink {
  readonly requestId: string;
  /** 32 bytes. Secret. */
  readonly linkKey: Bytes;
}

export interface AnswerOptions extends CallOptions {
  /** Whether to start from the first byte even if there is a started answer. */
  readonly restart?: boolean;
}

/**
 * Checks the id, since ids from URLs become part of request paths.
 *
 * @throws PortalError `request_unavailable`, `link_incomplete`
 */
export async function resolveRequestLink(visitor: VisitorContext, requestId: string): Promise<RequestLink> {
  if (!RequestId.safeParse(requestId).success) throw new PortalError("request_unavailable");
  return { requestId, linkKey: await requireLinkKey(visitor, `/request/${requestId}`) };
}

/**
 * @throws PortalError `request_unavailable`, or `decryption_failed` if the document was not sealed
 *   under the link key
 */
export async function inspectRequest(
  deps: AnswerDeps,
  link: RequestLink,
  signal?: AbortSignal,
): Promise<RequestPreview> {
  const { document, state } = await readRequest(deps, link, signal);
  const { title, note, asked_by: requesterName, expires_at: expiresAt, max_size: maxSealedSize } = document;
  return {
    title,
    note,
    requesterName,
    expiresAt,
    maxSize: computeMaxPlainLength(maxSealedSize),
    state,
    ...(await findStartedAnswer(deps, link, state, signal)),
  };
}

/** Finds the started answer, or its receipt if it was finished but the response was lost. */
async function findStartedAnswer(
  deps: AnswerDeps,
  { linkKey, requestId }: RequestLink,
  state: RequestPreview["state"],
  signal: AbortSignal | undefined,
): Promise<Pick<RequestPreview, "unfinishedAnswer" | "receiptWords">> {
  const records = await deps.openRecords();
  const record = await records.get(requestId);
  if (record === null) return { unfinishedAnswer: null };
  const cipher = await createAnswerCipher(linkKey, requestId);
  const [{ size }, finishingState] = [await cipher.readSealingState(record), await cipher.readFinishingState(record)];
  const unfinishedAnswer = {
    name: finishingState.name,
    size,
    sentBytes: record.sealed ? size : Math.min(size, record.sent),
  };
  if (finishingState.last === null || (state !== "provided" && state !== "collected")) return { unfinishedAnswer };
  let receiptWords: readonly string[] | null;
  try {
    receiptWords = await fetchReceipt(deps, record, finishingState, signal);
  } catch {
    return { unfinishedAnswer }; // unknown whether this answer was accepted: the next preview asks again
  }
  await records.remove(requestId);
  return { unfinishedAnswer: null, ...(receiptWords === null ? {} : { receiptWords }) };
}

/**
 * Repeats the finishing call and returns the receipt. Null if no call was sent, or if another
 * answer was accepted.
 */
async function fetchReceipt(
  { calls }: AnswerDeps,
  { answerId }: AnswerRecord,
  { token, last }: FinishingState,
  signal: AbortSignal | undefined,
): Promise<readonly string[] | null> {
  if (last === null) return null;
  try {
    await calls.finish({ answerId, token }, last.call, signal);
  } catch (error) {
    if (isPortalError(error, "request_closed")) return null;
    throw error;
  }
  return deriveReceiptWords(sha256(fromBase64url(last.call.ticket)));
}

async function readRequest(
  { calls }: AnswerDeps,
  { linkKey, requestId }: RequestLink,
  signal: AbortSignal | undefined,
): Promise<{ readonly document: RequestDocument; readonly state: RequestPreview["state"] }> {
  const offer = await calls.inspect(requestId, toBase64url(deriveLinkAuth(linkKey)), signal);
  return { document: await openRequestDocument(linkKey, requestId, offer.document), state: offer.state };
}

/**
 * [Note: Answer sequence]
 * 1. The request is read again. Its document, sealed under the link key, names the keys to which
 *    the answer is sealed.
 * 2. A content identity and chunk keys are generated, and the answer is started at the service. All
 *    of this is saved, wrapped under a key of the link.
 * 3. Parts are sealed and sent as in [Note: Upload sequence]: a part that is sealed again must have
 *    its recorded digest.
 * 4. The ticket is sealed to the requester, once, and saved with the finishing call, which is sent
 *    unchanged until there is a response. The first finished answer wins.
 * 5. The record is removed. The receipt is eight words of the ticket's digest.
 *
 * Aborting keeps the parts already sent: for a day, the same browser resumes with the same content.
 *
 * @throws PortalError `request_closed`, `request_unavailable`, `file_changed` (the content differs
 *   from the started one; `restart` starts again), `payload_too_large`, `conflict` (another tab is
 *   sending), `validation_error`, `storage_full`, `cancelled`
 */
export async function answerRequest(
  deps: AnswerDeps,
  link: RequestLink,
  providedSecret: ProvidedSecret,
  options: AnswerOptions = {},
): Promise<AnswerReceipt> {
  validate(ProvidedInput, providedSecret);
  const { document, state } = await readRequest(deps, link, options.signal);
  const records = await deps.openRecords();
  const transfer = new AnswerTransfer(
    deps,
    records,
    link,
    document,
    providedSecret,
    await createAnswerCipher(link.linkKey, link.requestId),
    options,
  );
  return withTabLock(buildAnswerLockName(link.requestId), async () => {
    const existingRecord = await records.get(link.requestId);
    if (options.restart === true) return transfer.restart(existingRecord, state);
    if (existingRecord === null) requireOpen(state);
    try {
      return await transfer.resume(existingRecord ?? (await transfer.start()));
    } catch (error) {
      if (existingRecord === null || !isPortalError(error, "upload_dropped")) throw error;
      // dropped after a day, or the request has another answer: starting again tells which
      return transfer.resume(await transfer.start());
    }
  });
}

/**
 * Required only for a new answer. An answer that was started before the request expired may still
 * be finished.
 */
function requireOpen(state: RequestPreview["state"]): void {
  if (state === "awaiting") return;
  throw new PortalError(state === "provided" || state === "collected" ? "request_closed" : "request_unavailable");
}

type FinishBody = NonNullable<FinishingState["last"]>["call"];

/** Steps 2 to 5 of [Note: Answer sequence]. */
class AnswerTransfer {
  readonly #deps: AnswerDeps;
  readonly #records: AnswerRecords;
  readonly #link: RequestLink;
  readonly #document: RequestDocument;
  readonly #providedSecret: ProvidedSecret;
  readonly #cipher: AnswerCipher;
  readonly #options: AnswerOptions;
  readonly #signal: AbortSignal;

  constructor(
    deps: AnswerDeps,
    records: AnswerRecords,
    link: RequestLink,
    document: RequestDocument,
    providedSecret: ProvidedSecret,
    cipher: AnswerCipher,
    options: AnswerOptions,
  ) {
    this.#deps = deps;
    this.#records = records;
    this.#link = link;
    this.#document = document;
    this.#providedSecret = providedSecret;
    this.#cipher = cipher;
    this.#options = options;
    this.#signal = options.signal ?? new AbortController().signal;
  }

  /** Step 2. */
  async start(): Promise<AnswerRecord> {
    const { requestId, linkKey } = this.#link;
    const { content, contentKind, name } = this.#providedSecret;
    const maxSealedSize = this.#document.max_size;
    const contentSeal = await createContentSeal();
    try {
      const sealedSize = computeSealedLength(contentSeal.prefix.length, computePaddedLength(contentKind, content.size));
      if (sealedSize > maxSealedSize)
        throw new PortalError("payload_too_large", { details: { limit: computeMaxPlainLength(maxSealedSize) } });
      const startedAnswer = await this.#deps.calls.start(
        {
          request_id: requestId,
          link_auth: toBase64url(deriveLinkAuth(linkKey)),
          size: sealedSize,
          part_size: defaultPartBytes,
        },
        this.#signal,
      );
      const record: AnswerRecord = {
        requestId,
        answerId: startedAnswer.answer_id,
        writes: 0,
        touchedAt: this.#deps.now(),
        sent: 0,
        sealed: false,
        sealing: await this.#cipher.wrap(
          "sealing",
          createSealingState(contentSeal, contentKind, content.size, requirePartSize(startedAnswer, sealedSize)),
        ),
        finishing: await this.#cipher.wrap("finishing", {
          token: startedAnswer.token,
          identity: contentSeal.identity,
          name,
          last: null,
        }),
      };
      await this.#records.put(record);
      return record;
    } finally {
      wipe(contentSeal.payloadKey);
    }
  }

  /**
   * Runs steps 2 to 5 in place of a started answer. If that answer has closed the request, returns
   * its receipt.
   */
  async restart(previousRecord: AnswerRecord | null, state: RequestPreview["state"]): Promise<AnswerReceipt> {
    try {
      requireOpen(state);
      return await this.resume(await this.start());
    } catch (error) {
      if (previousRecord === null || !isPortalError(error, "request_closed")) throw error;
      await this.#records.put(previousRecord); // kept until it is known whether the earlier answer was accepted
      const receiptWords = await fetchReceipt(
        this.#deps,
        previousRecord,
        await this.#cipher.readFinishingState(previousRecord),
        this.#signal,
      );
      await this.#records.remove(this.#link.requestId);
      if (receiptWords === null) throw error;
      return { receiptWords, fromEarlierAnswer: true };
    }
  }

  /** Steps 3 to 5. */
  async resume(record: AnswerRecord): Promise<AnswerReceipt> {
    const { requestId } = this.#link;
    const finishingState = await this.#cipher.readFinishingState(record);
    const upload: AnswerUpload = { answerId: record.answerId, token: finishingState.token };
    try {
      await this.#sendParts(record, upload);
      const finishBody = this.#reuseFinishBody(finishingState) ?? (await this.#createFinishBody(finishingState));
      await retryUntilSuccess(
        () => this.#deps.calls.finish(upload, finishBody, this.#signal),
        this.#deps.retryPolicy,
        this.#signal,
      );
      await this.#records.remove(requestId);
      return { receiptWords: deriveReceiptWords(sha256(fromBase64url(finishBody.ticket))) };
    } catch (error) {
      // this answer can never be accepted
      if (isPortalError(error, "request_closed")) await this.#records.remove(requestId);
      throw error;
    }
  }

  /**
   * Step 3. If everything was sent, seals the content again and compares it, because only the same
   * content may be finished.
   */
  async #sendParts(unfinishedRecord: AnswerRecord, upload: AnswerUpload): Promise<void> {
    const { requestId } = this.#link;
    const { calls, createDigest, retryPolicy, now } = this.#deps;
    const { content, contentKind } = this.#providedSecret;
    const sealingState = await this.#cipher.readSealingState(unfinishedRecord);
    if (sealingState.kind !== contentKind) throw new PortalError("file_changed");
    if (unfinishedRecord.sealed) return requireSameContent(sealingState, content, this.#signal);
    const records: SendingRecords<AnswerRecord> = {
      get: this.#records.get,
      readSealingState: this.#cipher.readSealingState,
      replace: async (record, nextSealingState) =>
        this.#records.replace({ ...record, sealing: await this.#cipher.wrap("sealing", nextSealingState) }),
    };
    const sendingCalls: SendingCalls = {
      state: (_, signal) => calls.state(upload, signal),
      part: (_, fields, data, signal) => calls.part(upload, fields, data, signal),
    };
    const onProgress = (done: number, total: number): void =>
      this.#options.onProgress?.({ phase: "sending", done, total });
    return sendContent({ records, calls: sendingCalls, digest: createDigest(), retryPolicy, now }, requestId, content, {
      signal: this.#signal,
      onProgress,
    });
  }

  /** A finishing call that was sent may have been accepted, so it is never built again. */
  #reuseFinishBody({ last }: FinishingState): FinishBody | null {
    if (last === null) return null;
    const { name, mime, note } = this.#providedSecret;
    if (last.name !== name || last.mime !== mime || last.note !== note) throw new PortalError("file_changed");
    return last.call;
  }

  /** Step 4. Saves the call before it is sent. */
  async #createFinishBody(finishingState: FinishingState): Promise<FinishBody> {
    const { requestId, linkKey } = this.#link;
    const { name, mime, note, content, contentKind } = this.#providedSecret;
    const record = await this.#records.get(requestId);
    if (record === null) throw new PortalError("not_found");
    const { content_sha256: contentSha256 } = await this.#cipher.readSealingState(record);
    if (contentSha256 === null) throw new PortalError("upload_incomplete");
    const ticket = await sealProvidedTicket(linkKey, this.#document.statement.recipient, {
      v: 1,
      kind: "provided",
      request_id: requestId,
      name,
      mime,
      content_kind: contentKind,
      size: content.size,
      content_sha256: contentSha256,
      content_identity: finishingState.identity,
      note,
      created_at: formatTimestamp(this.#deps.now()),
    });
    const finishBody = { ticket: toBase64url(ticket), content_sha256: contentSha256 };
    await this.#records.replace({
      ...record,
      finishing: await this.#cipher.wrap("finishing", {
        ...finishingState,
        last: { call: finishBody, name, mime, note },
      }),
    });
    return finishBody;
  }
}

const ProvidedInput = z.object({
  contentKind: ContentKind,
  name: nonEmptyText(maxFileNameLength),
  mime: nonEmptyText(maxFileNameLength),
  note: boundedText(maxRequestNoteLength),
});
