/** Measures for `pnpm bench:sealing`. A second worker computes digests, like in the portal. */
import { toBase64url } from "@relicario/shared/api";
import { Decrypter, Encrypter } from "age-encryption";
import * as Comlink from "comlink";

import { openDevice } from "../src/device/device.ts";
import { generateIdentity, deriveRecipient } from "../src/seal/age.ts";
import { copyOf, freeBuffers } from "../src/seal/bytes.ts";
import {
  contentHeadSize,
  computePaddedLength,
  chunkSize,
  computeSealedLength,
  sealedChunkSize,
} from "../src/seal/content-sizes.ts";
import { createContentSeal, openContentHead, createChunkNonce } from "../src/seal/content-stream.ts";
import { openChunks, createChunkCipher, type ChunkCipher } from "../src/transfer/chunk-cipher.ts";
import {
  openUploadRecords,
  readSealingState,
  createSendingRecords,
  wrapPublishingState,
  wrapSealingState,
} from "../src/transfer/upload-records.ts";
import { connectDigest, type ResumableDigest } from "../src/transfer/resumable-digest.ts";
import { saveContent } from "../src/transfer/save-content.ts";
import { createSealedFile } from "../src/transfer/sealed-file.ts";
import { sendContent } from "../src/transfer/send-content.ts";
import { createTransferWorkerApi, type DigestServer } from "../src/transfer/transfer-worker-api.ts";
import type { RetryPolicy } from "../src/transfer/retry-until-success.ts";
import type { TransferCalls } from "../src/transfer/upload-calls.ts";

export type Figures = Readonly<Record<string, number>>;

export interface BenchWorker {
  readonly serveDigests: (port: MessagePort) => void;
  /** Megabytes per second by name; medians of the rounds. */
  readonly measure: (digestPort: MessagePort, megabytes: number, rounds: number) => Promise<Figures>;
}

const retryPolicy: RetryPolicy = { wait: () => Promise.reject(new Error("no call of the benchmark may be retried")) };
const partSize = 8 * 1024 * 1024;
const uploadId = "019a9e2c-7c1e-7abc-8def-0123456789ab";

const worker: BenchWorker = {
  serveDigests: createTransferWorkerApi().serveDigests,
  measure: async (digestPort, megabytes, rounds) => {
    const digestWorker = Comlink.wrap<DigestServer>(digestPort);
    const file = randomFile(megabytes * 1_000_000);
    const figures = new Map<string, number[]>();
    for (let round = 0; round < rounds; round++) {
      const measure = async (name: string, callback: () => Promise<unknown>): Promise<void> => {
        const startTime = performance.now();
        await callback();
        figures.set(name, [...(figures.get(name) ?? []), file.size / 1000 / (performance.now() - startTime)]);
      };
      const sealedByTypage = await sealByTypage(file, measure);
      await measure("typage_open", () => openByTypage(sealedByTypage));
      const sealedWithVault = await sealByVault(file, digestWorker, measure);
      await measure("fetch_and_save", () => openByVault(file.size, sealedWithVault, digestWorker));
      await measure("aes_gcm_seal", () => sealByAesGcm(file));
      for (const backend of ["browser", "libsodium"] as const) await sealAndOpen(file, backend, measure);
    }
    return Object.fromEntries([...figures].map(([name, values]) => [name, Math.round(10 * median(values)) / 10]));
  },
};
Comlink.expose(worker);

type Measure = (name: string, callback: () => Promise<unknown>) => Promise<void>;

async function sealByTypage(file: Blob, measure: Measure): Promise<{ sealed: Blob; identity: string }> {
  const identity = generateIdentity();
  const encrypter = new Encrypter();
  encrypter.addRecipient(await deriveRecipient(identity));
  await measure("typage_seal", async () => drain(await encrypter.encrypt(file.stream())));
  return { sealed: await new Response(await encrypter.encrypt(file.stream())).blob(), identity };
}

async function openByTypage({ sealed, identity }: { sealed: Blob; identity: string }): Promise<void> {
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  await drain(await decrypter.decrypt(sealed.stream()));
}

/**
 * Seals and sends a whole upload without the network, including records in IndexedDB and digests of
 * parts and content.
 */
async function sealByVault(
  file: Blob,
  digestWorker: Comlink.Remote<DigestServer>,
  measure: Measure,
): Promise<{ sealed: Blob; identity: string; sha256: string }> {
  const device = await openDevice({ vendorId: "bench", issuer: "https://id.example", subject: "bench" });
  const records = await openUploadRecords(device.storageKey);
  const { identity, payloadKey, prefix } = await createContentSeal();
  const sealedSize = computeSealedLength(prefix.length, computePaddedLength("file", file.size));
  const sealing = {
    payload_key: toBase64url(payloadKey),
    prefix: toBase64url(prefix),
    kind: "file",
    size: file.size,
    part_size: partSize,
    parts: [],
    digest_state: null,
    content_sha256: null,
  } as const;
  const now = Date.now();
  await records.add({
    account: device.storageKey,
    uploadId,
    secretId: uploadId,
    version: 1,
    writes: 0,
    startedAt: now,
    touchedAt: now,
    sealedSize,
    sent: 0,
    sealed: false,
    handle: null,
    sealing: await wrapSealingState(device, { ...sealing, parts: [] }),
    publishing: await wrapPublishingState(device, {
      identity,
      base_version: null,
      request: null,
      title: "bench",
      name: "bench",
      sent: [],
      last: null,
    }),
  });
  const parts: Blob[] = [];
  const state = {
    upload_id: uploadId,
    secret_db_id: uploadId,
    base_version: null,
    size: sealedSize,
    part_size: partSize,
    parts: Math.ceil(sealedSize / partSize),
    received: [],
    expires_at: new Date(now).toISOString(),
    published: null,
  };
  const calls: TransferCalls = {
    ...unmeasuredCalls,
    state: () => Promise.resolve(state),
    part: async (_id, { part }, data) => {
      parts[part - 1] = data;
    },
  };
  await measure("seal_and_send", () =>
    withDigest(digestWorker, (digest) =>
      sendContent(
        { records: createSendingRecords(device, records), calls, digest, retryPolicy, now: Date.now },
        uploadId,
        file,
        callOptions,
      ),
    ),
  );
  const record = await records.get(uploadId);
  const { content_sha256: sha256 } =
    record === null ? { content_sha256: null } : await readSealingState(device, record);
  await records.remove(uploadId);
  records.close();
  device.close();
  if (sha256 === null) throw new Error("the upload was not sealed");
  return { sealed: new Blob(parts), identity, sha256 };
}

async function openByVault(
  size: number,
  { sealed, identity, sha256 }: { sealed: Blob; identity: string; sha256: string },
  digestWorker: Comlink.Remote<DigestServer>,
): Promise<void> {
  const range: TransferCalls["range"] = async (_content, start, end) => ({
    bytes: new Uint8Array(await sealed.slice(start, end).arrayBuffer()),
    size: sealed.size,
  });
  const head = await openContentHead(
    identity,
    copyOf(new Uint8Array(await sealed.slice(0, contentHeadSize).arrayBuffer())),
  );
  const sink = { write: async () => undefined, commit: async () => new Blob(), discard: async () => undefined };
  await withDigest(digestWorker, (digest) =>
    saveContent(
      { calls: { range }, digest, retryPolicy, sink },
      { secretId: uploadId, version: 1, kind: "file", size, sha256, ...head },
      callOptions,
    ),
  );
}

async function sealByAesGcm(file: Blob): Promise<void> {
  const key = await crypto.subtle.generateKey({ name: "AES-GCM", length: 256 }, false, ["encrypt"]);
  await forEachChunk(file, async (chunk, index) => {
    await crypto.subtle.encrypt({ name: "AES-GCM", iv: createChunkNonce(index, false) }, key, chunk);
  });
}

/** Seals and opens without digests, records or sending. */
async function sealAndOpen(file: Blob, backend: ChunkCipher["backend"], measure: Measure): Promise<void> {
  const { payloadKey, prefix } = await createContentSeal();
  const cipher = await createChunkCipher(payloadKey, backend);
  const sealed = createSealedFile(file, "file", prefix, cipher);
  const rangeSize = 128 * sealedChunkSize;
  const parts: Blob[] = [];
  await measure(`${backend}_seal`, async () => {
    for (let offset = prefix.length; offset < sealed.length; offset += rangeSize)
      freeBuffers(await sealed.sealRange(offset, Math.min(sealed.length, offset + rangeSize)));
  });
  // seal again outside the measurement, because typage's measurement does not include storing blobs
  // either
  for (let offset = prefix.length; offset < sealed.length; offset += rangeSize)
    parts.push(new Blob([await sealed.sealRange(offset, Math.min(sealed.length, offset + rangeSize))]));
  await measure(`${backend}_open`, async () => {
    const buffer = new Uint8Array(128 * chunkSize);
    const fetchPart = (index: number): Promise<ArrayBuffer> | undefined => parts[index]?.arrayBuffer();
    let nextPartPromise = fetchPart(0);
    for (let index = 0; nextPartPromise !== undefined; index++) {
      const sealedRange = new Uint8Array(await nextPartPromise);
      nextPartPromise = fetchPart(index + 1); // prefetch, like the portal
      await openChunks(cipher, sealedRange, index * 128, nextPartPromise === undefined, buffer);
      freeBuffers(sealedRange);
    }
  });
  cipher.dispose();
}

async function forEachChunk(
  file: Blob,
  callback: (chunk: Uint8Array<ArrayBuffer>, index: number) => Promise<void>,
): Promise<void> {
  for (let offset = 0; offset < file.size; offset += partSize) {
    const part = new Uint8Array(await file.slice(offset, offset + partSize).arrayBuffer());
    for (let chunkStart = 0; chunkStart < part.length; chunkStart += chunkSize)
      await callback(part.subarray(chunkStart, chunkStart + chunkSize), (offset + chunkStart) / chunkSize);
  }
}

const callOptions = { signal: new AbortController().signal, onProgress: (): void => undefined };

const rejectCall = (): Promise<never> => Promise.reject(new Error("this call is not measured"));
const unmeasuredCalls: TransferCalls = {
  start: rejectCall,
  state: rejectCall,
  part: rejectCall,
  finish: rejectCall,
  cancel: rejectCall,
  range: rejectCall,
};

async function withDigest(
  digestWorker: Comlink.Remote<DigestServer>,
  callback: (digest: ResumableDigest) => Promise<unknown>,
): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  await digestWorker.startDigest(Comlink.transfer(port2, [port2]));
  await callback(connectDigest(port1));
  port1.close();
}

async function drain(stream: ReadableStream<Uint8Array>): Promise<void> {
  const reader = stream.getReader();
  while (!(await reader.read()).done);
}

/**
 * Random file of a few blobs, like a file on disk. Browsers would join thousands of small blobs on
 * each read.
 */
function randomFile(size: number): Blob {
  const blocks = Array.from({ length: Math.ceil(size / partSize) }, () => {
    const block = new Uint8Array(partSize);
    for (let offset = 0; offset < partSize; offset += 65_536)
      crypto.getRandomValues(block.subarray(offset, offset + 65_536));
    return new Blob([block]);
  });
  return new Blob(blocks).slice(0, size);
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
}
