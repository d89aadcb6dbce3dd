import { fromB64u, maxFileNameLength, maxRequestNoteLength, partBytes, RequestId, toB64u } from "@relicario/shared/api";
import type { CallOptions, OfferedRequest, ProvidedSecret } from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";
import { z } from "zod";

import { sha256, wipe, type Bytes } from "../seal/bytes.ts";
import { paddedLength, plainBytesWithin, sealedLength } from "../seal/content-pieces.ts";
import { newContentSeal } from "../seal/content-stream.ts";
import { timestamp } from "../seal/ids.ts";
import { ContentKind } from "../seal/label.ts";
import { linkAuth } from "../seal/link.ts";
import { receiptWords, sealProvided } from "../seal/provided.ts";
import { openRequestDocument, type RequestDocument } from "../seal/request-document.ts";
import { text, textOrNone } from "../seal/text.ts";
import { check } from "../steps/check-request.ts";
import type { RunningDigest } from "../transfer/running-digest.ts";
import { newSealing, requirePartSize } from "../transfer/sealing.ts";
import { requireSameContent, sendContent, type SendingCalls, type SendingRecords } from "../transfer/send-content.ts";
import { untilThrough, type Patience } from "../transfer/until-through.ts";
import { requireLinkKey, type VisitorContext } from "../visitor-context.ts";
import type { AnswerCalls, AnswerPlace } from "./answer-calls.ts";
import {
  answerLock,
  answerWrapping,
  type AnswerRecord,
  type AnswerRecords,
  type AnswerWrapping,
  type Finishing,
} from "./answer-records.ts";

/** What answering needs of its surroundings; nothing of an account. */
export interface AnswerParts {
  readonly calls: AnswerCalls;
  readonly records: () => Promise<AnswerRecords>;
  readonly newDigest: () => RunningDigest;
  readonly patience: Patience;
  readonly now: () => number;
}

/** The receipt of an answer that was taken. */
export interface TakenAnswer {
  /** Eight words. */
  readonly words: readonly string[];
  /** Set where it is not the one that was given now, but one that had left this browser before. */
  readonly earlier?: true;
}

/** What a link to a request carries. */
export interface RequestLink {
  readonly requestId: string;
  /** 32 bytes. Secret. */
  readonly linkKey: Bytes;
}

export interface AnswerOptions extends CallOptions {
  /** Begins from the first byte, whatever was begun before. */
  readonly anew?: boolean;
}

/**
 * The link that leads to a request. Ids come from addresses: what is not one never reaches a path.
 *
 * @throws PortalError `request_unavailable`, `link_incomplete`.
 */
export async function requestLink(visitor: VisitorContext, requestId: string): Promise<RequestLink> {
  if (!RequestId.safeParse(requestId).success) throw new PortalError("request_unavailable");
  return { requestId, linkKey: await requireLinkKey(visitor, `/request/${requestId}`) };
}

/**
 * What is asked for, and by whom; and what this browser had begun to answer.
 *
 * @throws PortalError `request_unavailable`, `decryption_failed` when it is not what the link's
 *   maker sealed.
 */
export async function lookAtRequest(
  parts: AnswerParts,
  link: RequestLink,
  signal?: AbortSignal,
): Promise<OfferedRequest> {
  const { document, state } = await readRequest(parts, link, signal);
  const { title, note, asked_by: askedBy, expires_at: expiresAt, max_size: most } = document;
  return {
    title,
    note,
    askedBy,
    expiresAt,
    maxSize: plainBytesWithin(most),
    state,
    ...(await begunAnswer(parts, link, state, signal)),
  };
}

/** What was begun here; or, where it was finished and the answer to that was lost, its receipt. */
async function begunAnswer(
  parts: AnswerParts,
  { linkKey, requestId }: RequestLink,
  state: OfferedRequest["state"],
  signal: AbortSignal | undefined,
): Promise<Pick<OfferedRequest, "begun" | "receipt">> {
  const records = await parts.records();
  const record = await records.get(requestId);
  if (record === null) return { begun: null };
  const wrapping = await answerWrapping(linkKey, requestId);
  const [{ size }, finishing] = [await wrapping.sealingOf(record), await wrapping.finishingOf(record)];
  const begun = { name: finishing.name, size, sent: record.sealed ? size : Math.min(size, record.sent) };
  if (finishing.last === null || (state !== "provided" && state !== "collected")) return { begun };
  let receipt: readonly string[] | null;
  try {
    receipt = await receiptOf(parts, record, finishing, signal);
  } catch {
    return { begun }; // whether it was this one is asked again at the next look
  }
  await records.remove(requestId);
  return { begun: null, ...(receipt === null ? {} : { receipt }) };
}

/**
 * The receipt of an answer whose finishing call has left: the same bytes once more. Null when none
 * left, or another answer was taken.
 */
async function receiptOf(
  { calls }: AnswerParts,
  { answerId }: AnswerRecord,
  { token, last }: Finishing,
  signal: AbortSignal | undefined,
): Promise<readonly string[] | null> {
  if (last === null) return null;
  try {
    await calls.finish({ answerId, token }, last.call, signal);
  } catch (error) {
    if (isPortalError(error, "request_closed")) return null;
    throw error;
  }
  return receiptWords(sha256(fromB64u(last.call.ticket)));
}

async function readRequest(
  { calls }: AnswerParts,
  { linkKey, requestId }: RequestLink,
  signal: AbortSignal | undefined,
): Promise<{ readonly document: RequestDocument; readonly state: OfferedRequest["state"] }> {
  const offer = await calls.look(requestId, toB64u(linkAuth(linkKey)), signal);
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
 *   the one that was begun: `anew` begins once more), `payload_too_large`, `conflict` (another tab
 *   is sending), `validation_error`, `storage_full`, `cancelled`.
 */
export async function answerRequest(
  parts: AnswerParts,
  link: RequestLink,
  provided: ProvidedSecret,
  options: AnswerOptions = {},
): Promise<TakenAnswer> {
  check(Provided, provided);
  const { document, state } = await readRequest(parts, link, options.signal);
  const records = await parts.records();
  const answering = new Answering(
    parts,
    records,
    link,
    document,
    provided,
    await answerWrapping(link.linkKey, link.requestId),
    options,
  );
  return alone(link.requestId, async () => {
    const begun = await records.get(link.requestId);
    if (options.anew === true) return answering.anew(begun, state);
    if (begun === null) refuseClosed(state);
    try {
      return await answering.goOn(begun ?? (await answering.begin()));
    } catch (error) {
      if (begun === null || !isPortalError(error, "upload_dropped")) throw error;
      // a day has passed at the service, or others answered meanwhile: it says so
      return answering.goOn(await answering.begin());
    }
  });
}

/** Begun before it expired, it may be finished: so this is asked only of one that is to begin. */
function refuseClosed(state: OfferedRequest["state"]): void {
  if (state === "awaiting") return;
  throw new PortalError(state === "provided" || state === "collected" ? "request_closed" : "request_unavailable");
}

type FinishingCall = NonNullable<Finishing["last"]>["call"];

/** Steps 2 to 5. */
class Answering {
  readonly #parts: AnswerParts;
  readonly #records: AnswerRecords;
  readonly #link: RequestLink;
  readonly #document: RequestDocument;
  readonly #provided: ProvidedSecret;
  readonly #wrapping: AnswerWrapping;
  readonly #options: AnswerOptions;
  readonly #signal: AbortSignal;

  constructor(
    parts: AnswerParts,
    records: AnswerRecords,
    link: RequestLink,
    document: RequestDocument,
    provided: ProvidedSecret,
    wrapping: AnswerWrapping,
    options: AnswerOptions,
  ) {
    this.#parts = parts;
    this.#records = records;
    this.#link = link;
    this.#document = document;
    this.#provided = provided;
    this.#wrapping = wrapping;
    this.#options = options;
    this.#signal = options.signal ?? new AbortController().signal;
  }

  /** Step 2. */
  async begin(): Promise<AnswerRecord> {
    const { requestId, linkKey } = this.#link;
    const { content, contentKind, name } = this.#provided;
    const most = this.#document.max_size;
    const seal = await newContentSeal();
    try {
      const size = sealedLength(seal.prefix.length, paddedLength(contentKind, content.size));
      if (size > most) throw new PortalError("payload_too_large", { details: { limit: plainBytesWithin(most) } });
      const started = await this.#parts.calls.start(
        { request_id: requestId, link_auth: toB64u(linkAuth(linkKey)), size, part_size: partBytes },
        this.#signal,
      );
      const record: AnswerRecord = {
        requestId,
        answerId: started.answer_id,
        writes: 0,
        touchedAt: this.#parts.now(),
        sent: 0,
        sealed: false,
        sealing: await this.#wrapping.wrap(
          "sealing",
          newSealing(seal, contentKind, content.size, requirePartSize(started, size)),
        ),
        finishing: await this.#wrapping.wrap("finishing", {
          token: started.token,
          identity: seal.identity,
          name,
          last: null,
        }),
      };
      await this.#records.put(record);
      return record;
    } finally {
      wipe(seal.payloadKey);
    }
  }

  /**
   * Steps 2 to 5, in the place of what was begun. If the request is closed to it, perhaps by that:
   * then this gives the receipt of that.
   */
  async anew(former: AnswerRecord | null, state: OfferedRequest["state"]): Promise<TakenAnswer> {
    try {
      refuseClosed(state);
      return await this.goOn(await this.begin());
    } catch (error) {
      if (former === null || !isPortalError(error, "request_closed")) throw error;
      await this.#records.put(former); // there until it is known whether it was taken
      const words = await receiptOf(this.#parts, former, await this.#wrapping.finishingOf(former), this.#signal);
      await this.#records.remove(this.#link.requestId);
      if (words === null) throw error;
      return { words, earlier: true };
    }
  }

  /** Steps 3 to 5. */
  async goOn(begun: AnswerRecord): Promise<TakenAnswer> {
    const { requestId } = this.#link;
    const finishing = await this.#wrapping.finishingOf(begun);
    const place: AnswerPlace = { answerId: begun.answerId, token: finishing.token };
    try {
      await this.#send(begun, place);
      const call = this.#sameAsSaid(finishing) ?? (await this.#writeFinish(finishing));
      await untilThrough(() => this.#parts.calls.finish(place, call, this.#signal), this.#parts.patience, this.#signal);
      await this.#records.remove(requestId);
      return { words: receiptWords(sha256(fromB64u(call.ticket))) };
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
  async #send(begun: AnswerRecord, place: AnswerPlace): Promise<void> {
    const { requestId } = this.#link;
    const { calls, newDigest, patience, now } = this.#parts;
    const { content, contentKind } = this.#provided;
    const sealing = await this.#wrapping.sealingOf(begun);
    if (sealing.kind !== contentKind) throw new PortalError("file_changed");
    if (begun.sealed) return requireSameContent(sealing, content, this.#signal);
    const records: SendingRecords<AnswerRecord> = {
      get: this.#records.get,
      sealingOf: this.#wrapping.sealingOf,
      replace: async (record, sealing) =>
        this.#records.replace({ ...record, sealing: await this.#wrapping.wrap("sealing", sealing) }),
    };
    const sending: SendingCalls = {
      state: (_, signal) => calls.state(place, signal),
      part: (_, fields, data, signal) => calls.part(place, fields, data, signal),
    };
    const onProgress = (done: number, total: number): void =>
      this.#options.onProgress?.({ phase: "sending", done, total });
    return sendContent({ records, calls: sending, digest: newDigest(), patience, now }, requestId, content, {
      signal: this.#signal,
      onProgress,
    });
  }

  /** The finishing call that left already: perhaps it was taken, so it is never made anew. */
  #sameAsSaid({ last }: Finishing): FinishingCall | null {
    if (last === null) return null;
    const { name, mime, note } = this.#provided;
    if (last.name !== name || last.mime !== mime || last.note !== note) throw new PortalError("file_changed");
    return last.call;
  }

  /** Step 4: the call is written down before it leaves. */
  async #writeFinish(finishing: Finishing): Promise<FinishingCall> {
    const { requestId, linkKey } = this.#link;
    const { name, mime, note, content, contentKind } = this.#provided;
    const record = await this.#records.get(requestId);
    if (record === null) throw new PortalError("not_found");
    const { content_sha256: contentSha256 } = await this.#wrapping.sealingOf(record);
    if (contentSha256 === null) throw new PortalError("upload_incomplete");
    const ticket = await sealProvided(linkKey, this.#document.statement.recipient, {
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
      created_at: timestamp(this.#parts.now()),
    });
    const call = { ticket: toB64u(ticket), content_sha256: contentSha256 };
    await this.#records.replace({
      ...record,
      finishing: await this.#wrapping.wrap("finishing", { ...finishing, last: { call, name, mime, note } }),
    });
    return call;
  }
}

const Provided = z.object({
  contentKind: ContentKind,
  name: text(maxFileNameLength),
  mime: text(maxFileNameLength),
  note: textOrNone(maxRequestNoteLength),
});

/** One answer is sent by one tab. */
async function alone<T>(requestId: string, work: () => Promise<T>): Promise<T> {
  if (!("navigator" in globalThis) || !("locks" in navigator)) return work();
  return navigator.locks.request(answerLock(requestId), { ifAvailable: true }, (lock) => {
    if (lock === null) throw new PortalError("conflict");
    return work();
  });
}
