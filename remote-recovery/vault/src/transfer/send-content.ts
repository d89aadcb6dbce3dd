import { toBase64url, type ReceivedPart } from "@relicario/shared/api";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import { sha256Async, wipe, type Bytes } from "../seal/bytes.ts";
import { createPieceCipher } from "./piece-cipher.ts";
import type { ResumableDigest } from "./resumable-digest.ts";
import { decodeKeys, type SealingState } from "./sealing-state.ts";
import { createSealedFile, type SealedFile } from "./sealed-file.ts";
import { retryUntilSuccess, type RetryPolicy } from "./retry-until-success.ts";
import type { TransferCalls } from "./upload-calls.ts";

/** How far a content on its way is, as it is written down on this device. */
export interface SendingRecord {
  /** Milliseconds since 1970: when the part that last arrived left. */
  readonly touchedAt: number;
  /** Bytes of the sealed content that are known to be there. */
  readonly sent: number;
  /** Whether all of them are. */
  readonly sealed: boolean;
}

/**
 * Where contents on their way are written down: an account's uploads, or the answers of a visitor.
 */
export interface SendingRecords<StoredRecord extends SendingRecord> {
  readonly get: (id: string) => Promise<StoredRecord | null>;
  /** What sealing goes on with. `not_found` when it can no longer be read. */
  readonly readSealingState: (record: StoredRecord) => Promise<SealingState>;
  /** Writes what follows a record as it was read; as `replace` of an account's uploads. */
  readonly replace: (record: StoredRecord, sealing: SealingState) => Promise<StoredRecord>;
}

/** The calls of sending, by the id of the upload or the answer. */
export interface SendingCalls {
  /** `upload_dropped` when the service does not know it, here and in the next one. */
  readonly state: (id: string, signal?: AbortSignal) => Promise<{ readonly received: readonly ReceivedPart[] }>;
  readonly part: TransferCalls["part"];
}

/** What sending needs of its surroundings. */
export interface SendDeps<StoredRecord extends SendingRecord> {
  readonly records: SendingRecords<StoredRecord>;
  readonly calls: SendingCalls;
  readonly digest: ResumableDigest;
  readonly retryPolicy: RetryPolicy;
  readonly now: () => number;
}

export interface SendOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, total: number) => void;
}

/** Parts on their way at the same time, and one that is written down meanwhile. */
const maxInFlight = 3 + 1;

/**
 * [Note: Upload sequence]
 * 1. What the service has is read. Every part that this device sealed before is sealed again and
 *    must have the digest that was written down; else the file is another one, and nothing is sent.
 *    So must a part that the service has and this device does not remember: its profile may be a
 *    copy of an older day.
 * 2. Part by part: sealed; its SHA-256 and the state of the digest over all parts are written down,
 *    to the disk itself, unless another tab wrote there meanwhile; then it leaves. Three are on
 *    their way at once. A lost connection or a service that starts anew is waited for.
 * 3. The digest over the whole is written down: `sealed`. Publishing is the vault's; a visitor
 *    finishes an answer.
 *
 * No key of an account is needed, so this goes on under the lock, and for a visitor. Key and number
 * of a piece never meet two plaintexts of which any bytes leave this device: no part leaves but
 * with the digest that was written down for its number, once and for good.
 *
 * @throws PortalError `not_found` (it was given up in another tab), `conflict` (it is sent by
 *   another tab), `upload_dropped` (the service does not know it; what this device keeps stays),
 *   `file_changed`, `cancelled`, `storage_full`, `token_expired`.
 */
export async function sendContent<StoredRecord extends SendingRecord>(
  deps: SendDeps<StoredRecord>,
  id: string,
  file: Blob,
  { signal, onProgress }: SendOptions,
): Promise<void> {
  const { records, calls, digest, retryPolicy } = deps;
  const record = await records.get(id);
  if (record === null) throw new PortalError("not_found");
  if (record.sealed) return;
  const sealing = await records.readSealingState(record);
  if (file.size !== sealing.size) throw new PortalError("file_changed");
  const { received: receivedParts } = await retryUntilSuccess(() => calls.state(id, signal), retryPolicy, signal);
  try {
    await withSealedFile(sealing, file, async (sealedFile) => {
      const received = new Map(receivedParts.map(({ part, sha256 }) => [part - 1, sha256]));
      await requireSameParts(sealedFile, sealing, received, signal);
      await digest.start(sealing.digest_state);
      await new PartSender(deps, id, record, sealing, sealedFile, received, onProgress).run(signal);
    });
  } catch (error) {
    const isDiscarded = isPortalError(error, "upload_dropped") && (await records.get(id)) === null;
    throw isDiscarded ? new PortalError("not_found", { cause: error }) : error;
  }
}

/**
 * Whether a file is the one of which all parts were sealed, by sealing it once more. Nothing is
 * sent.
 *
 * @throws PortalError `file_changed`, `cancelled`.
 */
export async function requireSameContent(sealing: SealingState, file: Blob, signal: AbortSignal): Promise<void> {
  if (file.size !== sealing.size) throw new PortalError("file_changed");
  await withSealedFile(sealing, file, (sealedFile) => requireSameParts(sealedFile, sealing, new Map(), signal));
}

async function withSealedFile(
  sealing: SealingState,
  file: Blob,
  callback: (sealedFile: SealedFile) => Promise<void>,
): Promise<void> {
  const { payloadKey, prefix } = decodeKeys(sealing);
  const cipher = await createPieceCipher(payloadKey);
  wipe(payloadKey);
  try {
    await callback(createSealedFile(file, sealing.kind, prefix, cipher));
  } finally {
    cipher.dispose();
  }
}

/** Step 1. */
async function requireSameParts(
  sealedFile: SealedFile,
  sealing: SealingState,
  received: ReadonlyMap<number, string>,
  signal: AbortSignal,
): Promise<void> {
  const partTotal = countParts(sealedFile, sealing);
  for (let index = 0; index < partTotal; index++) {
    const expected = sealing.parts[index] ?? received.get(index);
    if (expected === undefined) continue;
    if (signal.aborted) throw new PortalError("cancelled", { cause: signal.reason });
    await requireSamePart(sealedFile, sealing, index, expected);
  }
}

async function requireSamePart(
  sealedFile: SealedFile,
  sealing: SealingState,
  index: number,
  expected: string,
): Promise<void> {
  if (toBase64url(await sha256Async(await sealPart(sealedFile, sealing, index))) !== expected)
    throw new PortalError("file_changed");
}

function countParts({ length }: SealedFile, { part_size: size }: SealingState): number {
  return Math.ceil(length / size);
}

function sealPart(sealedFile: SealedFile, { part_size: size }: SealingState, index: number): Promise<Bytes> {
  return sealedFile.range(index * size, Math.min(sealedFile.length, (index + 1) * size));
}

/** Steps 2 and 3 of one run. */
class PartSender<StoredRecord extends SendingRecord> {
  readonly #deps: SendDeps<StoredRecord>;
  readonly #id: string;
  readonly #sealed: SealedFile;
  /** Digests of what the service has, by index. */
  readonly #received: ReadonlyMap<number, string>;
  readonly #onProgress: (done: number, total: number) => void;
  #record: StoredRecord;
  #sealing: SealingState;
  #sent = 0;
  #touchedAt: number;

  constructor(
    deps: SendDeps<StoredRecord>,
    id: string,
    record: StoredRecord,
    sealing: SealingState,
    sealedFile: SealedFile,
    received: ReadonlyMap<number, string>,
    onProgress: (done: number, total: number) => void,
  ) {
    this.#deps = deps;
    this.#id = id;
    this.#record = record;
    this.#sealing = sealing;
    this.#sealed = sealedFile;
    this.#received = received;
    this.#onProgress = onProgress;
    this.#touchedAt = record.touchedAt;
  }

  async run(signal: AbortSignal): Promise<void> {
    const failureController = new AbortController(); // one part that fails for good stops the others
    const combinedSignal = AbortSignal.any([signal, failureController.signal]);
    const activeParts = new Set<Promise<void>>();
    const partTotal = countParts(this.#sealed, this.#sealing);
    let lastWrite: Promise<unknown> = Promise.resolve(); // in order; the next part is sealed meanwhile
    try {
      for (let index = 0; index < partTotal; index++) {
        combinedSignal.throwIfAborted();
        const recordedDigest = this.#sealing.parts[index];
        if (recordedDigest !== undefined && this.#received.get(index) === recordedDigest) {
          this.#reportProgress(index);
          continue;
        }
        while (activeParts.size >= maxInFlight) await Promise.race(activeParts);
        const bytes = await this.#sealPart(index);
        const data = new Blob([bytes]);
        const digest = sha256Async(bytes); // of a copy: the bytes are taken away below
        const recording = lastWrite.then(() => this.#recordPart(index, bytes, digest));
        lastWrite = recording;
        const sending: Promise<void> = recording
          .then((sha256) => this.#sendPart(index, sha256, data, combinedSignal))
          .finally(() => activeParts.delete(sending));
        sending.catch((error: unknown) => {
          failureController.abort(error);
        });
        activeParts.add(sending);
      }
      await Promise.all(activeParts);
      combinedSignal.throwIfAborted();
    } catch (error) {
      failureController.abort(error);
      await Promise.allSettled(activeParts);
      if (signal.aborted) throw new PortalError("cancelled", { cause: signal.reason });
      throw failureController.signal.reason;
    }
    await this.#saveRecord(
      { content_sha256: await this.#deps.digest.finish() },
      { sealed: true, sent: this.#sealed.length },
    );
  }

  /**
   * A part. The first piece of a new one may have begun in the part before, which left with what
   * the file was then: where that piece is not at hand any more it is made again, and its beginning
   * must be the one that left.
   */
  async #sealPart(index: number): Promise<Bytes> {
    const [previousDigest, recordedDigest] = [this.#sealing.parts[index - 1], this.#sealing.parts[index]];
    if (
      previousDigest !== undefined &&
      recordedDigest === undefined &&
      !this.#sealed.continuesAt(index * this.#sealing.part_size)
    )
      await requireSamePart(this.#sealed, this.#sealing, index - 1, previousDigest);
    return sealPart(this.#sealed, this.#sealing, index);
  }

  /**
   * Before a part leaves: its digest, and the state of the digest over all so far. A part sealed
   * again must have the digest it had.
   */
  async #recordPart(index: number, bytes: Bytes, digest: Promise<Bytes>): Promise<string> {
    const recordedDigest = this.#sealing.parts[index];
    const expected = recordedDigest ?? this.#received.get(index);
    const state = recordedDigest === undefined ? await this.#deps.digest.update(bytes) : null;
    const sha256 = toBase64url(await digest);
    if (expected !== undefined && sha256 !== expected) throw new PortalError("file_changed");
    if (recordedDigest === undefined)
      await this.#saveRecord({ parts: [...this.#sealing.parts, sha256], digest_state: state }, {});
    return sha256;
  }

  async #sendPart(index: number, sha256: string, data: Blob, signal: AbortSignal): Promise<void> {
    const { calls, now, retryPolicy } = this.#deps;
    let sentAt = 0;
    const send = (): Promise<void> => {
      sentAt = now();
      return calls.part(this.#id, { part: index + 1, sha256 }, data, signal);
    };
    await retryUntilSuccess(send, retryPolicy, signal);
    // not when it was answered: the service counts from its arrival
    this.#touchedAt = Math.max(this.#touchedAt, sentAt);
    this.#reportProgress(index);
  }

  #reportProgress(index: number): void {
    const { part_size: size } = this.#sealing;
    this.#sent += Math.min(this.#sealed.length, (index + 1) * size) - index * size;
    this.#onProgress(this.#sent, this.#sealed.length);
  }

  async #saveRecord(sealing: Partial<SealingState>, record: Partial<SendingRecord>): Promise<void> {
    this.#sealing = { ...this.#sealing, ...sealing };
    this.#record = await this.#deps.records.replace(
      { ...this.#record, sent: this.#sent, touchedAt: this.#touchedAt, ...record },
      this.#sealing,
    );
  }
}
