import { toB64u } from "@relicario/shared/api";
import { PortalError } from "@relicario/shared/errors";

import type { Device } from "../device/device.ts";
import { digestOf, wipe, type Bytes } from "../seal/bytes.ts";
import { pieceCipher } from "./piece-cipher.ts";
import { keyBytes, readSealing, wrapSealing, type Sealing, type UploadRecord, type UploadRecords } from "./records.ts";
import type { RunningDigest } from "./running-digest.ts";
import { sealedFile, type SealedFile } from "./sealed-file.ts";
import { untilThrough, type Patience } from "./until-through.ts";
import type { TransferCalls } from "./upload-calls.ts";

/** What sending needs of its surroundings. */
export interface SendParts {
  readonly device: Device;
  readonly records: UploadRecords;
  readonly calls: TransferCalls;
  readonly digest: RunningDigest;
  readonly patience: Patience;
  readonly now: () => number;
}

export interface SendOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (done: number, total: number) => void;
}

/** Parts on their way at the same time, and one that is written down meanwhile. */
const inFlight = 3 + 1;

/**
 * [Note: Upload sequence]
 * 1. What the service has is read. Every part that this device sealed before is sealed again and must have the digest that
 *    was written down; else the file is another one, and nothing is sent.
 * 2. Part by part: sealed; its SHA-256 and the state of the digest over all parts are written down; then it leaves. Three
 *    are on their way at once. A lost connection or a service that starts anew is waited for.
 * 3. The digest over the whole is written down: `sealed`. Publishing is the vault's.
 *
 * No key of the account is needed, so this goes on under the lock.
 *
 * @throws PortalError `not_found` (the service dropped it, or it was given up in another tab), `file_changed`, `cancelled`, `storage_full`, `token_expired`.
 */
export async function sendUpload(parts: SendParts, uploadId: string, file: Blob, { signal, onProgress }: SendOptions): Promise<void> {
  const { device, records, calls, digest, patience } = parts;
  const record = await records.get(uploadId);
  if (record === null) throw new PortalError("not_found");
  if (record.sealed) return;
  const sealing = await readSealing(device, record);
  if (file.size !== sealing.size) throw new PortalError("file_changed");
  const state = await untilThrough(() => calls.state(uploadId, signal), patience, signal);
  if (state === null) {
    await records.remove(uploadId);
    throw new PortalError("not_found");
  }
  const { payloadKey, prefix } = keyBytes(sealing);
  const cipher = await pieceCipher(payloadKey);
  wipe(payloadKey);
  try {
    const sealed = sealedFile(file, sealing.kind, prefix, cipher);
    await requireSameFile(sealed, sealing, signal);
    await digest.start(sealing.digest_state);
    const received = new Map(state.received.map(({ part, sha256 }) => [part, sha256]));
    await new Sending(parts, record, sealing, sealed, received, onProgress).run(signal);
  } finally {
    cipher.end();
  }
}

/** Step 1. */
async function requireSameFile(sealed: SealedFile, sealing: Sealing, signal: AbortSignal): Promise<void> {
  for (const [index, expected] of sealing.parts.entries()) {
    if (signal.aborted) throw new PortalError("cancelled", { cause: signal.reason });
    if (toB64u(await digestOf(await partOf(sealed, sealing, index))) !== expected) throw new PortalError("file_changed");
  }
}

function partOf(sealed: SealedFile, { part_size: size }: Sealing, index: number): Promise<Bytes> {
  return sealed.range(index * size, Math.min(sealed.length, (index + 1) * size));
}

/** Steps 2 and 3 of one run. */
class Sending {
  readonly #parts: SendParts;
  readonly #sealed: SealedFile;
  readonly #received: ReadonlyMap<number, string>;
  readonly #onProgress: (done: number, total: number) => void;
  #record: UploadRecord;
  #sealing: Sealing;
  #sent = 0;

  constructor(parts: SendParts, record: UploadRecord, sealing: Sealing, sealed: SealedFile, received: ReadonlyMap<number, string>, onProgress: (done: number, total: number) => void) {
    this.#parts = parts;
    this.#record = record;
    this.#sealing = sealing;
    this.#sealed = sealed;
    this.#received = received;
    this.#onProgress = onProgress;
  }

  async run(signal: AbortSignal): Promise<void> {
    const failing = new AbortController(); // one part that fails for good stops the others
    const either = AbortSignal.any([signal, failing.signal]);
    const underWay = new Set<Promise<void>>();
    const count = Math.ceil(this.#sealed.length / this.#sealing.part_size);
    let written: Promise<unknown> = Promise.resolve(); // in order; the next part is sealed meanwhile
    try {
      for (let index = 0; index < count; index++) {
        either.throwIfAborted();
        const known = this.#sealing.parts[index];
        if (known !== undefined && this.#received.get(index + 1) === known) {
          this.#count(index);
          continue;
        }
        while (underWay.size >= inFlight) await Promise.race(underWay);
        const bytes = await partOf(this.#sealed, this.#sealing, index);
        const data = new Blob([bytes]);
        const digest = digestOf(bytes); // of a copy: the bytes are taken away below
        const writing = written.then(() => this.#writeDown(index, bytes, digest));
        written = writing;
        const sending: Promise<void> = writing.then((sha256) => this.#send(index, sha256, data, either)).finally(() => underWay.delete(sending));
        sending.catch((error: unknown) => {
          failing.abort(error);
        });
        underWay.add(sending);
      }
      await Promise.all(underWay);
      either.throwIfAborted();
    } catch (error) {
      failing.abort(error);
      await Promise.allSettled(underWay);
      if (signal.aborted) throw new PortalError("cancelled", { cause: signal.reason });
      throw failing.signal.reason;
    }
    await this.#keep({ content_sha256: await this.#parts.digest.finish() }, { sealed: true, sent: this.#sealed.length });
  }

  /** Before a part leaves: its digest, and the state of the digest over all so far. A part sealed again must have the digest it had. */
  async #writeDown(index: number, bytes: Bytes, digest: Promise<Bytes>): Promise<string> {
    const known = this.#sealing.parts[index];
    if (known !== undefined) {
      if (known !== toB64u(await digest)) throw new PortalError("file_changed");
      return known;
    }
    const state = await this.#parts.digest.update(bytes);
    const sha256 = toB64u(await digest);
    await this.#keep({ parts: [...this.#sealing.parts, sha256], digest_state: state }, {});
    return sha256;
  }

  async #send(index: number, sha256: string, data: Blob, signal: AbortSignal): Promise<void> {
    await untilThrough(() => this.#parts.calls.part(this.#record.uploadId, { part: index + 1, sha256 }, data, signal), this.#parts.patience, signal);
    this.#count(index);
  }

  #count(index: number): void {
    const { part_size: size } = this.#sealing;
    this.#sent += Math.min(this.#sealed.length, (index + 1) * size) - index * size;
    this.#onProgress(this.#sent, this.#sealed.length);
  }

  async #keep(sealing: Partial<Sealing>, record: Partial<UploadRecord>): Promise<void> {
    this.#sealing = { ...this.#sealing, ...sealing };
    this.#record = { ...this.#record, sent: this.#sent, touchedAt: this.#parts.now(), ...record, sealing: await wrapSealing(this.#parts.device, this.#sealing) };
    await this.#parts.records.replace(this.#record);
  }
}
