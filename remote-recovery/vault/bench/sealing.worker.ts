/**
 * What `pnpm bench:sealing` measures, in one worker of one page; the second one computes digests,
 * as in the product.
 */
import { toB64u } from "@relicario/shared/api";
import { Decrypter, Encrypter } from "age-encryption";
import * as Comlink from "comlink";

import { openDevice } from "../src/device/device.ts";
import { newIdentity, recipientOf } from "../src/seal/age.ts";
import { copyOf, release } from "../src/seal/bytes.ts";
import {
  contentHeadBytes,
  paddedLength,
  pieceBytes,
  sealedLength,
  sealedPieceBytes,
} from "../src/seal/content-pieces.ts";
import { newContentSeal, openContentHead, pieceNonce } from "../src/seal/content-stream.ts";
import { openPieces, pieceCipher, type PieceCipher } from "../src/transfer/piece-cipher.ts";
import { openUploadRecords, readSealing, uploadsOf, wrapPublishing, wrapSealing } from "../src/transfer/records.ts";
import { digestOver, type RunningDigest } from "../src/transfer/running-digest.ts";
import { saveContent } from "../src/transfer/save-content.ts";
import { sealedFile } from "../src/transfer/sealed-file.ts";
import { sendContent } from "../src/transfer/send-content.ts";
import { createTransferWorkerApi, type DigestMaker } from "../src/transfer/transfer-worker-api.ts";
import type { Patience } from "../src/transfer/until-through.ts";
import type { TransferCalls } from "../src/transfer/upload-calls.ts";

export type Figures = Readonly<Record<string, number>>;

export interface BenchWorker {
  readonly serveDigests: (port: MessagePort) => void;
  /** Megabytes a second of each, the median of the rounds. */
  readonly measure: (helper: MessagePort, megabytes: number, rounds: number) => Promise<Figures>;
}

const patience: Patience = { wait: () => Promise.reject(new Error("nothing to wait for")) };
const partSize = 8 * 1024 * 1024;
const uploadId = "019a9e2c-7c1e-7abc-8def-0123456789ab";

const worker: BenchWorker = {
  serveDigests: createTransferWorkerApi().serveDigests,
  measure: async (port, megabytes, rounds) => {
    const helper = Comlink.wrap<DigestMaker>(port);
    const file = randomFile(megabytes * 1_000_000);
    const figures = new Map<string, number[]>();
    for (let round = 0; round < rounds; round++) {
      const add = async (name: string, work: () => Promise<unknown>): Promise<void> => {
        const before = performance.now();
        await work();
        figures.set(name, [...(figures.get(name) ?? []), file.size / 1000 / (performance.now() - before)]);
      };
      const typage = await sealByTypage(file, add);
      await add("typage_open", () => typageOpens(typage));
      const ours = await sealByVault(file, helper, add);
      await add("fetch_and_save", () => vaultOpens(file.size, ours, helper));
      await add("aes_gcm_seal", () => aesGcm(file));
      for (const by of ["browser", "libsodium"] as const) await sealAndOpen(file, by, add);
    }
    return Object.fromEntries([...figures].map(([name, values]) => [name, Math.round(10 * median(values)) / 10]));
  },
};
Comlink.expose(worker);

type Add = (name: string, work: () => Promise<unknown>) => Promise<void>;

async function sealByTypage(file: Blob, add: Add): Promise<{ sealed: Blob; identity: string }> {
  const identity = newIdentity();
  const encrypter = new Encrypter();
  encrypter.addRecipient(await recipientOf(identity));
  await add("typage_seal", async () => drain(await encrypter.encrypt(file.stream())));
  return { sealed: await new Response(await encrypter.encrypt(file.stream())).blob(), identity };
}

async function typageOpens({ sealed, identity }: { sealed: Blob; identity: string }): Promise<void> {
  const decrypter = new Decrypter();
  decrypter.addIdentity(identity);
  await drain(await decrypter.decrypt(sealed.stream()));
}

/**
 * The product's own path: records in IndexedDB, digest of each part and of the whole. Only the
 * network is left out.
 */
async function sealByVault(
  file: Blob,
  helper: Comlink.Remote<DigestMaker>,
  add: Add,
): Promise<{ sealed: Blob; identity: string; sha256: string }> {
  const device = await openDevice({ vendorId: "bench", issuer: "https://id.example", subject: "bench" });
  const records = await openUploadRecords(device.name);
  const { identity, payloadKey, prefix } = await newContentSeal();
  const sealedSize = sealedLength(prefix.length, paddedLength("file", file.size));
  const sealing = {
    payload_key: toB64u(payloadKey),
    prefix: toB64u(prefix),
    kind: "file",
    size: file.size,
    part_size: partSize,
    parts: [],
    digest_state: null,
    content_sha256: null,
  } as const;
  const now = Date.now();
  await records.add({
    account: device.name,
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
    sealing: await wrapSealing(device, { ...sealing, parts: [] }),
    publishing: await wrapPublishing(device, {
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
    ...noCalls,
    state: () => Promise.resolve(state),
    part: async (_id, { part }, data) => {
      parts[part - 1] = data;
    },
  };
  await add("seal_and_send", () =>
    withDigest(helper, (digest) =>
      sendContent(
        { records: uploadsOf(device, records), calls, digest, patience, now: Date.now },
        uploadId,
        file,
        quiet,
      ),
    ),
  );
  const record = await records.get(uploadId);
  const { content_sha256: sha256 } = record === null ? { content_sha256: null } : await readSealing(device, record);
  await records.remove(uploadId);
  records.close();
  device.close();
  if (sha256 === null) throw new Error("not sealed");
  return { sealed: new Blob(parts), identity, sha256 };
}

async function vaultOpens(
  size: number,
  { sealed, identity, sha256 }: { sealed: Blob; identity: string; sha256: string },
  helper: Comlink.Remote<DigestMaker>,
): Promise<void> {
  const range: TransferCalls["range"] = async (_content, start, end) => ({
    bytes: new Uint8Array(await sealed.slice(start, end).arrayBuffer()),
    size: sealed.size,
  });
  const head = await openContentHead(
    identity,
    copyOf(new Uint8Array(await sealed.slice(0, contentHeadBytes).arrayBuffer())),
  );
  const sink = { write: async () => undefined, commit: () => Promise.resolve(null), discard: async () => undefined };
  await withDigest(helper, (digest) =>
    saveContent(
      { calls: { range }, digest, patience, sink },
      { secretId: uploadId, version: 1, kind: "file", size, sha256, ...head },
      quiet,
    ),
  );
}

async function aesGcm(file: Blob): Promise<void> {
  const key = await crypto.subtle.generateKey({ name: "AES-GCM", length: 256 }, false, ["encrypt"]);
  await overPieces(file, async (piece, index) => {
    await crypto.subtle.encrypt({ name: "AES-GCM", iv: pieceNonce(index, false) }, key, piece);
  });
}

/**
 * Sealing and opening alone, by either library: what digests, records and sending do not slow down.
 */
async function sealAndOpen(file: Blob, by: PieceCipher["by"], add: Add): Promise<void> {
  const { payloadKey, prefix } = await newContentSeal();
  const cipher = await pieceCipher(payloadKey, by);
  const sealed = sealedFile(file, "file", prefix, cipher);
  const perRange = 128 * sealedPieceBytes;
  const parts: Blob[] = [];
  await add(`${by}_seal`, async () => {
    for (let at = prefix.length; at < sealed.length; at += perRange)
      release(await sealed.range(at, Math.min(sealed.length, at + perRange)));
  });
  // Once more, to be kept: that is the browser's store of blobs, which typage's stream is not kept
  // in either.
  for (let at = prefix.length; at < sealed.length; at += perRange)
    parts.push(new Blob([await sealed.range(at, Math.min(sealed.length, at + perRange))]));
  await add(`${by}_open`, async () => {
    const room = new Uint8Array(128 * pieceBytes);
    const fetched = (index: number): Promise<ArrayBuffer> | undefined => parts[index]?.arrayBuffer();
    let next = fetched(0);
    for (let index = 0; next !== undefined; index++) {
      const sealedRange = new Uint8Array(await next);
      next = fetched(index + 1); // ahead, as the product does
      await openPieces(cipher, sealedRange, index * 128, next === undefined, room);
      release(sealedRange);
    }
  });
  cipher.end();
}

async function overPieces(
  file: Blob,
  work: (piece: Uint8Array<ArrayBuffer>, index: number) => Promise<void>,
): Promise<void> {
  for (let at = 0; at < file.size; at += partSize) {
    const part = new Uint8Array(await file.slice(at, at + partSize).arrayBuffer());
    for (let from = 0; from < part.length; from += pieceBytes)
      await work(part.subarray(from, from + pieceBytes), (at + from) / pieceBytes);
  }
}

const quiet = { signal: new AbortController().signal, onProgress: (): void => undefined };

const never = (): Promise<never> => Promise.reject(new Error("this call is not measured"));
const noCalls: TransferCalls = { start: never, state: never, part: never, finish: never, cancel: never, range: never };

async function withDigest(
  helper: Comlink.Remote<DigestMaker>,
  work: (digest: RunningDigest) => Promise<unknown>,
): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  await helper.digest(Comlink.transfer(port2, [port2]));
  await work(digestOver(port1));
  port1.close();
}

async function drain(stream: ReadableStream<Uint8Array>): Promise<void> {
  const reader = stream.getReader();
  while (!(await reader.read()).done);
}

/**
 * In few blocks, as a file on a disk: a browser puts thousands of small ones together at every
 * reading.
 */
function randomFile(size: number): Blob {
  const blocks = Array.from({ length: Math.ceil(size / partSize) }, () => {
    const block = new Uint8Array(partSize);
    for (let at = 0; at < partSize; at += 65_536) crypto.getRandomValues(block.subarray(at, at + 65_536));
    return new Blob([block]);
  });
  return new Blob(blocks).slice(0, size);
}

function median(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[Math.floor(values.length / 2)] ?? 0;
}
