/**
 * Attacker: records every byte that leaves the device. It wants two plaintexts that were sealed
 * under one key and nonce, because their ciphertexts reveal the XOR of both. It makes the device
 * seal parts again: with a changed file, two tabs, a power cut, or an older profile.
 */
import "fake-indexeddb/auto";

import { toBase64url } from "@relicario/shared/api";
import { Encrypter } from "age-encryption";

import { beginUpload, finishUpload } from "../operations/resumable-uploads.ts";
import { copyOf, type Bytes } from "../seal/bytes.ts";
import { payloadNonceSize } from "../seal/content-sizes.ts";
import { createContentSeal } from "../seal/content-stream.ts";
import { fakePartBytes } from "../testing/fake-uploads.ts";
import {
  fileSecret,
  createGate,
  makeProtectPlan,
  randomFile,
  openTabWithFirstSecret,
  type UploadingTab,
} from "../testing/uploading-tab.ts";
import { createWorld, type World } from "../testing/world.ts";
import { readSealingState, type UploadRecord } from "../transfer/upload-records.ts";

const { plaintext, file } = randomFile(7 * fakePartBytes + 77);
const partCount = 8;
const isPart = (call: string): boolean => call.startsWith("POST /v2/secrets/secret/upload/");
/** The file with changed bytes from `start` to before `end`. */
const alterFile = (start: number, end = plaintext.length): Blob =>
  new Blob([plaintext.map((byte, index) => (index >= start && index < end ? byte ^ 0x55 : byte))]);

let world: World;
let tab: UploadingTab;
let uploadId: string;
/** One entry per sent part. */
let sentParts: [part: number, bytes: Bytes][];

beforeEach(async () => {
  world = createWorld();
  ({ tab } = await openTabWithFirstSecret(world));
  uploadId = await beginUpload(tab.vault, tab, makeProtectPlan(fileSecret("Film", file)), {});
  sentParts = [];
  const { part } = tab.calls;
  const wiretap: typeof part = async (id, fields, data, signal) => {
    sentParts.push([fields.part, new Uint8Array(await data.arrayBuffer())]);
    return part(id, fields, data, signal);
  };
  Object.assign(tab.calls, { part: wiretap });
});

/** Numbers of parts that were sent as two different ciphertexts. */
function findPartsSealedTwice(): number[] {
  const ciphertextsByPart = new Map<number, Set<string>>();
  for (const [part, bytes] of sentParts)
    ciphertextsByPart.set(part, (ciphertextsByPart.get(part) ?? new Set()).add(Buffer.from(bytes).toString("base64")));
  return [...ciphertextsByPart].filter(([, bytes]) => bytes.size > 1).map(([part]) => part);
}

/** Sends this many parts, then stops like a closed tab. */
async function sendParts(count: number): Promise<void> {
  const tabClosed = new AbortController();
  let sentCount = 0;
  world.service.beforeCall = (call) => {
    if (isPart(call) && ++sentCount > count) tabClosed.abort();
  };
  await expect(tab.send(uploadId, file, { signal: tabClosed.signal })).rejects.toMatchObject({ code: "cancelled" });
  world.service.beforeCall = () => undefined;
}

const publish = async (): Promise<unknown> => finishUpload(tab.vault, tab, uploadId, null, {});

/** Runs `callback`, then loses every write without strict durability, like a power cut may. */
async function simulatePowerCut(callback: () => Promise<unknown>): Promise<void> {
  const { prototype } = IDBDatabase;
  const { transaction } = prototype;
  let durableRecord: UploadRecord | null = await tab.records.get(uploadId);
  prototype.transaction = function (...parameters: Parameters<typeof transaction>) {
    const openedTransaction = transaction.apply(this, parameters);
    if (this.name !== "relicario-uploads" || openedTransaction.durability !== "strict") return openedTransaction;
    const store = openedTransaction.objectStore("uploads");
    const put = store.put.bind(store);
    store.put = (value: UploadRecord, key) => {
      durableRecord = value;
      return put(value, key);
    };
    return openedTransaction;
  };
  try {
    await callback();
  } finally {
    prototype.transaction = transaction;
  }
  await restoreRecord(durableRecord);
}

async function restoreRecord(record: UploadRecord | null): Promise<void> {
  await tab.records.remove(uploadId);
  if (record !== null) await tab.records.add(record);
}

describe("an attacker who wants two plaintexts under one key and nonce", () => {
  it("changes the file after a power cut that lost the records: only equal parts are sent", async () => {
    await simulatePowerCut(() => sendParts(3));
    expect(sentParts.length).toBeGreaterThanOrEqual(3);
    const error = await tab.send(uploadId, alterFile(0)).catch((error: unknown) => error);
    expect(findPartsSealedTwice()).toEqual([]);
    expect(error).toMatchObject({ code: "file_changed" });
    await tab.send(uploadId, file);
    await publish();
  });

  it("has two tabs send two files of the same size, in a browser without locks: one tab stops before it sends a part", async () => {
    const bothReached = createGate();
    let waitingCount = 0;
    world.service.beforeCall = async (call) => {
      if (!call.startsWith("GET /v2/")) return;
      if (++waitingCount === 2) bothReached.open();
      await bothReached.whenOpened;
    };
    const otherRecords = { ...tab.records };
    const results = await Promise.allSettled([
      tab.send(uploadId, file),
      tab.send(uploadId, alterFile(0), { records: otherRecords }),
    ]);
    expect(findPartsSealedTwice()).toEqual([]);
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(results.find(({ status }) => status === "rejected")).toMatchObject({ reason: { code: "conflict" } });
  });

  it("restores an older profile with its records and changes the file: parts that the service already has must match", async () => {
    const olderRecord = await tab.records.get(uploadId);
    await tab.send(uploadId, file);
    await restoreRecord(olderRecord);
    const error = await tab.send(uploadId, alterFile(2 * fakePartBytes)).catch((error: unknown) => error);
    expect(findPartsSealedTwice()).toEqual([]);
    expect(error).toMatchObject({ code: "file_changed" });
    expect(sentParts).toHaveLength(partCount);
    await tab.send(uploadId, file);
    await publish();
  });

  it.each<[string, number, number | undefined]>([
    ["in a part that was sent", 1000, 1001],
    ["in the chunk that two parts share, before their boundary", fakePartBytes - 3000, fakePartBytes - 2999],
    ["at its end, in the last part", plaintext.length - 1, undefined],
  ])("changes the file %s but not the file's size: nothing is sent", async (_where, start, end) => {
    await (start > 6 * fakePartBytes ? tab.send(uploadId, file) : sendParts(3));
    const record = await tab.records.get(uploadId);
    if (record?.sealed === true) await restoreRecord({ ...record, sealed: false });
    sentParts.length = 0;
    await expect(tab.send(uploadId, alterFile(start, end))).rejects.toMatchObject({ code: "file_changed" });
    expect(sentParts).toEqual([]);
  });

  it("changes the file while the upload resumes: the chunk that two parts share keeps one plaintext", async () => {
    await sendParts(1);
    const record = await tab.records.get(uploadId);
    const knownParts = record === null ? 0 : (await readSealingState(tab.vault.device, record)).parts.length;
    expect([knownParts > 1, knownParts < partCount]).toEqual([true, true]);
    world.service.account.uploads?.get(uploadId)?.parts.delete(1); // denies the first part
    sentParts.length = 0;
    let readCount = 0; // the file changes after the known parts were compared and the first part was sealed again
    const changedFile = alterFile(0);
    const changingFile = Object.assign(new Blob([plaintext]), {
      slice: (start: number, end: number) => (readCount++ <= knownParts ? file : changedFile).slice(start, end),
    });
    await expect(tab.send(uploadId, changingFile)).rejects.toMatchObject({ code: "file_changed" });
    expect(sentParts.filter(([part]) => part !== 1)).toEqual([]);
    await tab.send(uploadId, file);
    await publish();
  });

  it("expects the nonce of typage's own empty payload: the content gets another nonce", async () => {
    const encrypted = jest.spyOn(Encrypter.prototype, "encrypt");
    const { prefix } = await createContentSeal();
    const [result] = encrypted.mock.results;
    encrypted.mockRestore();
    const emptyFile: unknown = await result?.value;
    if (!(emptyFile instanceof Uint8Array)) throw new TypeError("typage was not called");
    const headerSize = prefix.length - payloadNonceSize;
    expect(toBase64url(copyOf(emptyFile.subarray(0, headerSize)))).toBe(toBase64url(prefix.subarray(0, headerSize)));
    expect(toBase64url(copyOf(emptyFile.subarray(headerSize, prefix.length)))).not.toBe(
      toBase64url(prefix.subarray(headerSize)),
    );
  });
});
