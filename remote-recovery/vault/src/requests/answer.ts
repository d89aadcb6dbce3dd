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
import { paddedLength, maxPlainLength, sealedLength } from "../seal/content-sizes.ts";
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
import { retryUntilSuccess, type RetryPolicy } from "../transfer/retry-until-success.ts";
import { requireLinkKey, type VisitorContext } from "../visitor/visitor-context.ts";
import type { AnswerCalls, AnswerUpload } from "./answer-calls.ts";
import {
  answerLockName,
  createAnswerCipher,
  type AnswerRecord,
  type AnswerRecords,
  type AnswerCipher,
  type FinishingState,
} from "./answer-records.ts";

/** What answering needs of its surroundings; nothing of an account. */
export interface AnswerDeps {
  readonly calls: AnswerCalls;
  readonly openRecords: () => Promise<AnswerRecords>;
  readonly createDigest: () => ResumableDigest;
  readonly retryPolicy: RetryPolicy;
  readonly now: () => number;
}

/** The receipt of an answer that was taken. */
export interface AnswerReceipt {
  /** Eight words. */
  readonly receiptWords: readonly string[];
  /** Set where it is not the one that was given now, but one that had left this browser before. */
  readonly fromEarlierAnswer?: true;
}

/** What a link to a request carries. */
export interface RequestLink {
  readonly requestId: string;
  /** 32 bytes. Secret. */
  readonly linkKey: Bytes;
}

export interface AnswerOptions extends CallOptions {
  /** Begins from the first byte, whatever was begun before. */
  readonly restart?: boolean;
}

/**
 * The link that leads to a request. Ids come from addresses: what is not one never reaches a path.
 *
 * @throws PortalError `request_unavailable`, `link_incomplete`.
 */
export async function resolveRequestLink(visitor: VisitorContext, requestId: string): Promise<RequestLink> {
  if (!RequestId.safeParse(requestId).success) throw new PortalError("request_unavailable");
  return { requestId, linkKey: await requireLinkKey(visitor, `/request/${requestId}`) };
}

/**
 * What is asked for, and by whom; and what this browser had begun to answer.
 *
 * @throws PortalError `request_unavailable`, `decryption_failed` when it is not what the link's
 *   maker sealed.
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
    maxSize: maxPlainLength(maxSealedSize),
    state,
    ...(await findStartedAnswer(deps, link, state, signal)),
  };
}

/** What was begun here; or, where it was finished and the answer to that was lost, its receipt. */
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
  const [{ size }, finishing] = [await cipher.readSealingState(record), await cipher.readFinishingState(record)];
  const unfinishedAnswer = { name: finishing.name, size, sent: record.sealed ? size : Math.min(size, record.sent) };
  if (finishing.last === null || (state !== "provided" && state !== "collected")) return { unfinishedAnswer };
  let receiptWords: readonly string[] | null;
  try {
    receiptWords = await fetchReceipt(deps, record, finishing, signal);
  } catch {
    return { unfinishedAnswer }; // whether it was this one is asked again at the next look
  }
  await records.remove(requestId);
  return { unfinishedAnswer: null, ...(receiptWords === null ? {} : { receiptWords }) };
}

/**
 * The receipt of an answer whose finishing call has left: the same bytes once more. Null when none
 * left, or another answer was taken.
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
 * 1. The request is read once more: its document, sealed under the link key, names the keys that
 *    the answer is sealed to.
 * 2. A content identity, keys of the pieces, and a place at the service; all of it is written down,
 *    wrapped under a key of the link.
 * 3. Parts are sealed and sent as those of an upload ([Note: Upload sequence]): a part sealed again
 *    must have the digest it had.
 * 4. The ticket is sealed to whoever asked, once, and written down with the finishing call; then
 *    that leaves, again and again as it is, until it is answered. The first finished answer wins.
 * 5. What was written down goes. The receipt is eight words of the ticket's digest.
 *
 * Aborting keeps what was sent: the same content goes on, in the same browser, for a day.
 *
 * @throws PortalError `request_closed`, `request_unavailable`, `file_changed` (another content than
 *   the one that was begun: `restart` begins once more), `payload_too_large`, `conflict` (another
 *   tab is sending), `validation_error`, `storage_full`, `cancelled`.
 */
export async function answerRequest(
  deps: AnswerDeps,
  link: RequestLink,
  provided: ProvidedSecret,
  options: AnswerOptions = {},
): Promise<AnswerReceipt> {
  validate(ProvidedInput, provided);
  const { document, state } = await readRequest(deps, link, options.signal);
  const records = await deps.openRecords();
  const sender = new AnswerSender(
    deps,
    records,
    link,
    document,
    provided,
    await createAnswerCipher(link.linkKey, link.requestId),
    options,
  );
  return withAnswerLock(link.requestId, async () => {
    const existing = await records.get(link.requestId);
    if (options.restart === true) return sender.restart(existing, state);
    if (existing === null) requireOpen(state);
    try {
      return await sender.resume(existing ?? (await sender.start()));
    } catch (error) {
      if (existing === null || !isPortalError(error, "upload_dropped")) throw error;
      // a day has passed at the service, or others answered meanwhile: it says so
      return sender.resume(await sender.start());
    }
  });
}

/** Begun before it expired, it may be finished: so this is asked only of one that is to begin. */
function requireOpen(state: RequestPreview["state"]): void {
  if (state === "awaiting") return;
  throw new PortalError(state === "provided" || state === "collected" ? "request_closed" : "request_unavailable");
}

type FinishingCall = NonNullable<FinishingState["last"]>["call"];

/** Steps 2 to 5. */
class AnswerSender {
  readonly #deps: AnswerDeps;
  readonly #records: AnswerRecords;
  readonly #link: RequestLink;
  readonly #document: RequestDocument;
  readonly #provided: ProvidedSecret;
  readonly #cipher: AnswerCipher;
  readonly #options: AnswerOptions;
  readonly #signal: AbortSignal;

  constructor(
    deps: AnswerDeps,
    records: AnswerRecords,
    link: RequestLink,
    document: RequestDocument,
    provided: ProvidedSecret,
    cipher: AnswerCipher,
    options: AnswerOptions,
  ) {
    this.#deps = deps;
    this.#records = records;
    this.#link = link;
    this.#document = document;
    this.#provided = provided;
    this.#cipher = cipher;
    this.#options = options;
    this.#signal = options.signal ?? new AbortController().signal;
  }

  /** Step 2. */
  async start(): Promise<AnswerRecord> {
    const { requestId, linkKey } = this.#link;
    const { content, contentKind, name } = this.#provided;
    const maxSealedSize = this.#document.max_size;
    const contentSeal = await createContentSeal();
    try {
      const size = sealedLength(contentSeal.prefix.length, paddedLength(contentKind, content.size));
      if (size > maxSealedSize)
        throw new PortalError("payload_too_large", { details: { limit: maxPlainLength(maxSealedSize) } });
      const started = await this.#deps.calls.start(
        { request_id: requestId, link_auth: toBase64url(deriveLinkAuth(linkKey)), size, part_size: defaultPartBytes },
        this.#signal,
      );
      const record: AnswerRecord = {
        requestId,
        answerId: started.answer_id,
        writes: 0,
        touchedAt: this.#deps.now(),
        sent: 0,
        sealed: false,
        sealing: await this.#cipher.wrap(
          "sealing",
          createSealingState(contentSeal, contentKind, content.size, requirePartSize(started, size)),
        ),
        finishing: await this.#cipher.wrap("finishing", {
          token: started.token,
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
   * Steps 2 to 5, in the place of what was begun. If the request is closed to it, perhaps by that:
   * then this gives the receipt of that.
   */
  async restart(previous: AnswerRecord | null, state: RequestPreview["state"]): Promise<AnswerReceipt> {
    try {
      requireOpen(state);
      return await this.resume(await this.start());
    } catch (error) {
      if (previous === null || !isPortalError(error, "request_closed")) throw error;
      await this.#records.put(previous); // there until it is known whether it was taken
      const receiptWords = await fetchReceipt(
        this.#deps,
        previous,
        await this.#cipher.readFinishingState(previous),
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
    const finishing = await this.#cipher.readFinishingState(record);
    const upload: AnswerUpload = { answerId: record.answerId, token: finishing.token };
    try {
      await this.#sendParts(record, upload);
      const call = this.#reuseFinishingCall(finishing) ?? (await this.#createFinishingCall(finishing));
      await retryUntilSuccess(
        () => this.#deps.calls.finish(upload, call, this.#signal),
        this.#deps.retryPolicy,
        this.#signal,
      );
      await this.#records.remove(requestId);
      return { receiptWords: deriveReceiptWords(sha256(fromBase64url(call.ticket))) };
    } catch (error) {
      // nothing of it will ever be taken
      if (isPortalError(error, "request_closed")) await this.#records.remove(requestId);
      throw error;
    }
  }

  /**
   * Step 3. Where all of it is sent already, it is sealed once more and compared: what is finished
   * now is what was given now.
   */
  async #sendParts(unfinishedAnswer: AnswerRecord, upload: AnswerUpload): Promise<void> {
    const { requestId } = this.#link;
    const { calls, createDigest, retryPolicy, now } = this.#deps;
    const { content, contentKind } = this.#provided;
    const sealing = await this.#cipher.readSealingState(unfinishedAnswer);
    if (sealing.kind !== contentKind) throw new PortalError("file_changed");
    if (unfinishedAnswer.sealed) return requireSameContent(sealing, content, this.#signal);
    const records: SendingRecords<AnswerRecord> = {
      get: this.#records.get,
      readSealingState: this.#cipher.readSealingState,
      replace: async (record, sealing) =>
        this.#records.replace({ ...record, sealing: await this.#cipher.wrap("sealing", sealing) }),
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

  /** The finishing call that left already: perhaps it was taken, so it is never made anew. */
  #reuseFinishingCall({ last }: FinishingState): FinishingCall | null {
    if (last === null) return null;
    const { name, mime, note } = this.#provided;
    if (last.name !== name || last.mime !== mime || last.note !== note) throw new PortalError("file_changed");
    return last.call;
  }

  /** Step 4: the call is written down before it leaves. */
  async #createFinishingCall(finishing: FinishingState): Promise<FinishingCall> {
    const { requestId, linkKey } = this.#link;
    const { name, mime, note, content, contentKind } = this.#provided;
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
      content_identity: finishing.identity,
      note,
      created_at: formatTimestamp(this.#deps.now()),
    });
    const call = { ticket: toBase64url(ticket), content_sha256: contentSha256 };
    await this.#records.replace({
      ...record,
      finishing: await this.#cipher.wrap("finishing", { ...finishing, last: { call, name, mime, note } }),
    });
    return call;
  }
}

const ProvidedInput = z.object({
  contentKind: ContentKind,
  name: nonEmptyText(maxFileNameLength),
  mime: nonEmptyText(maxFileNameLength),
  note: boundedText(maxRequestNoteLength),
});

/** One answer is sent by one tab. */
async function withAnswerLock<T>(requestId: string, callback: () => Promise<T>): Promise<T> {
  if (!("navigator" in globalThis) || !("locks" in navigator)) return callback();
  return navigator.locks.request(answerLockName(requestId), { ifAvailable: true }, (lock) => {
    if (lock === null) throw new PortalError("conflict");
    return callback();
  });
}
