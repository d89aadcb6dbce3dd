import { toBase64url, type ReceivedPart } from "@relicario/shared/api";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import { sha256Async, wipe, type Bytes } from "../seal/bytes.ts";
import { createChunkCipher } from "./chunk-cipher.ts";
import type { ResumableDigest } from "./resumable-digest.ts";
import { decodeKeys, type SealingState } from "./sealing-state.ts";
import { createSealedFile, type SealedFile } from "./sealed-file.ts";
import { retryUntilSuccess, type RetryPolicy } from "./retry-until-success.ts";
import type { TransferCalls } from "./upload-calls.ts";

export interface SendingRecord {
  /** When the last part that arrived was sent; milliseconds since 1970. */
  readonly touchedAt: number;
  /** Number of bytes of the sealed content that the service is known to have. */
  readonly sent: number;
  /** Whether everything is sealed and sent. */
  readonly sealed: boolean;
}

/** Saved records of an account's uploads, or of a visitor's answers. */
export interface SendingRecords<StoredRecord extends SendingRecord> {
  readonly get: (id: string) => Promise<StoredRecord | null>;
  /** Throws `not_found` if the state cannot be decrypted. */
  readonly readSealingState: (record: StoredRecord) => Promise<SealingState>;
  /** Like `UploadRecords.replace`. */
  readonly replace: (record: StoredRecord, sealing: SealingState) => Promise<StoredRecord>;
}

/** Calls by the id of an upload or an answer. */
export interface SendingCalls {
  /** Throws `upload_dropped` if the service does not know it, like the next call. */
  readonly state: (id: string, signal?: AbortSignal) => Promise<{ readonly received: readonly ReceivedPart[] }>;
  readonly part: TransferCalls["part"];
}

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

/** Three parts in flight, and one that is being recorded. */
const maxInFlight = 3 + 1;

/**
 * [Note: Upload sequence]
 * 1. The list of received parts is fetched. Every part that this device has recorded is sealed
 *    again and must have the recorded digest; otherwise the file is another one and nothing is
 *    sent. The
 * same applies to a part that the service has and this device has not recorded, because its profile
 * may have been restored from a backup.
 * 2. Each part is sealed. Its SHA-256 and the state of the digest of all parts are saved durably,
 *    unless another tab has written; then the part is sent. Three parts are in flight at once. The
 *    device
 * waits after a lost connection or a restart of the service.
 * 3. The digest of the whole content is saved as `sealed`. The vault then publishes an upload, or a
 *    visitor finishes an answer.
 *
 * Needs no key of an account, so it also runs while locked, and for a visitor. This device never
 * sends two plaintexts sealed with the same key and chunk number: a part is only sent with the
 * digest recorded for its number, which never changes.
 *
 * @throws PortalError `not_found` (another tab discarded it), `conflict` (another tab sends it, or
 *   the service has a part with another digest), `upload_dropped` (the service does not know it;
 *   the record stays), `file_changed`, `cancelled`, `storage_full`, `token_expired`
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
      const receivedDigests = new Map(receivedParts.map(({ part, sha256 }) => [part - 1, sha256]));
      await requireSameParts(sealedFile, sealing, receivedDigests, signal);
      await digest.start(sealing.digest_state);
      await new PartSender(deps, id, record, sealing, sealedFile, receivedDigests, onProgress).run(signal);
    });
  } catch (error) {
    const isDiscarded = isPortalError(error, "upload_dropped") && (await records.get(id)) === null;
    throw isDiscarded ? new PortalError("not_found", { cause: error }) : error;
  }
}

/**
 * Seals a file again without sending it, to check that it is the file that was sealed before.
 *
 * @throws PortalError `file_changed`, `cancelled`
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
  const cipher = await createChunkCipher(payloadKey);
  wipe(payloadKey);
  try {
    await callback(createSealedFile(file, sealing.kind, prefix, cipher));
  } finally {
    cipher.dispose();
  }
}

/** Step 1 of [Note: Upload sequence]. */
async function requireSameParts(
  sealedFile: SealedFile,
  sealing: SealingState,
  receivedDigests: ReadonlyMap<number, string>,
  signal: AbortSignal,
): Promise<void> {
  const partTotal = countParts(sealedFile, sealing);
  for (let index = 0; index < partTotal; index++) {
    const expectedDigest = sealing.parts[index] ?? receivedDigests.get(index);
    if (expectedDigest === undefined) continue;
    if (signal.aborted) throw new PortalError("cancelled", { cause: signal.reason });
    await requireSamePart(sealedFile, sealing, index, expectedDigest);
  }
}

async function requireSamePart(
  sealedFile: SealedFile,
  sealing: SealingState,
  index: number,
  expectedDigest: string,
): Promise<void> {
  if (toBase64url(await sha256Async(await sealPart(sealedFile, sealing, index))) !== expectedDigest)
    throw new PortalError("file_changed");
}

function countParts({ length }: SealedFile, { part_size: size }: SealingState): number {
  return Math.ceil(length / size);
}

function sealPart(sealedFile: SealedFile, { part_size: size }: SealingState, index: number): Promise<Bytes> {
  return sealedFile.sealRange(index * size, Math.min(sealedFile.length, (index + 1) * size));
}

/** Steps 2 and 3 of [Note: Upload sequence]. */
class PartSender<StoredRecord extends SendingRecord> {
  readonly #deps: SendDeps<StoredRecord>;
  readonly #id: string;
  readonly #sealedFile: SealedFile;
  /** Digests of the parts that the service has, by index. */
  readonly #receivedDigests: ReadonlyMap<number, string>;
  readonly #onProgress: (done: number, total: number) => void;
  #record: StoredRecord;
  #sealing: SealingState;
  #sentBytes = 0;
  #touchedAt: number;

  constructor(
    deps: SendDeps<StoredRecord>,
    id: string,
    record: StoredRecord,
    sealing: SealingState,
    sealedFile: SealedFile,
    receivedDigests: ReadonlyMap<number, string>,
    onProgress: (done: number, total: number) => void,
  ) {
    this.#deps = deps;
    this.#id = id;
    this.#record = record;
    this.#sealing = sealing;
    this.#sealedFile = sealedFile;
    this.#receivedDigests = receivedDigests;
    this.#onProgress = onProgress;
    this.#touchedAt = record.touchedAt;
  }

  async run(signal: AbortSignal): Promise<void> {
    const failureController = new AbortController(); // a failed part stops the others
    const combinedSignal = AbortSignal.any([signal, failureController.signal]);
    const activeTasks = new Set<Promise<void>>();
    const partTotal = countParts(this.#sealedFile, this.#sealing);
    let lastRecordTask: Promise<unknown> = Promise.resolve(); // serializes writes; the next part is sealed meanwhile
    try {
      for (let index = 0; index < partTotal; index++) {
        combinedSignal.throwIfAborted();
        const recordedDigest = this.#sealing.parts[index];
        if (recordedDigest !== undefined && this.#receivedDigests.get(index) === recordedDigest) {
          this.#reportProgress(index);
          continue;
        }
        while (activeTasks.size >= maxInFlight) await Promise.race(activeTasks);
        const bytes = await this.#sealPart(index);
        const data = new Blob([bytes]);
        const digestPromise = sha256Async(bytes); // digest of a copy, because #recordPart detaches the bytes
        const recordTask = lastRecordTask.then(() => this.#recordPart(index, bytes, digestPromise));
        lastRecordTask = recordTask;
        const sendTask: Promise<void> = recordTask
          .then((sha256) => this.#sendPart(index, sha256, data, combinedSignal))
          .finally(() => activeTasks.delete(sendTask));
        sendTask.catch((error: unknown) => {
          failureController.abort(error);
        });
        activeTasks.add(sendTask);
      }
      await Promise.all(activeTasks);
      combinedSignal.throwIfAborted();
    } catch (error) {
      failureController.abort(error);
      await Promise.allSettled(activeTasks);
      if (signal.aborted) throw new PortalError("cancelled", { cause: signal.reason });
      throw failureController.signal.reason;
    }
    await this.#saveRecord(
      { content_sha256: await this.#deps.digest.finish() },
      { sealed: true, sent: this.#sealedFile.length },
    );
  }

  /**
   * Seals a part. A new part may continue a chunk whose beginning was sent in the previous part. If
   * that chunk is no longer stored, seals the previous part again, which must still have its
   * digest.
   */
  async #sealPart(index: number): Promise<Bytes> {
    const [previousDigest, recordedDigest] = [this.#sealing.parts[index - 1], this.#sealing.parts[index]];
    if (
      previousDigest !== undefined &&
      recordedDigest === undefined &&
      !this.#sealedFile.continuesAt(index * this.#sealing.part_size)
    )
      await requireSamePart(this.#sealedFile, this.#sealing, index - 1, previousDigest);
    return sealPart(this.#sealedFile, this.#sealing, index);
  }

  /**
   * Saves a part's digest, and the state of the digest of all parts so far, before the part is
   * sent. A part sealed again must have its recorded digest.
   */
  async #recordPart(index: number, bytes: Bytes, digestPromise: Promise<Bytes>): Promise<string> {
    const recordedDigest = this.#sealing.parts[index];
    const expectedDigest = recordedDigest ?? this.#receivedDigests.get(index);
    const state = recordedDigest === undefined ? await this.#deps.digest.update(bytes) : null;
    const sha256 = toBase64url(await digestPromise);
    if (expectedDigest !== undefined && sha256 !== expectedDigest) throw new PortalError("file_changed");
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
    // the time of sending, because the service counts from the arrival
    this.#touchedAt = Math.max(this.#touchedAt, sentAt);
    this.#reportProgress(index);
  }

  #reportProgress(index: number): void {
    const { part_size: size } = this.#sealing;
    this.#sentBytes += Math.min(this.#sealedFile.length, (index + 1) * size) - index * size;
    this.#onProgress(this.#sentBytes, this.#sealedFile.length);
  }

  async #saveRecord(sealingChanges: Partial<SealingState>, recordChanges: Partial<SendingRecord>): Promise<void> {
    this.#sealing = { ...this.#sealing, ...sealingChanges };
    this.#record = await this.#deps.records.replace(
      { ...this.#record, sent: this.#sentBytes, touchedAt: this.#touchedAt, ...recordChanges },
      this.#sealing,
    );
  }
}
