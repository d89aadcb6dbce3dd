/*
 * The attacker keeps every byte that ever leaves the device, and wants two plaintexts that were
 * sealed under the same key and number: their ciphertexts together give the XOR of both. So they
 * make the device seal parts again: with a file that was written to, with two tabs, a power cut, or
 * a profile of an older day.
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
  makeProtectOrder,
  randomFile,
  openTabWithFirstSecret,
  type UploadingTab,
} from "../testing/uploading-tab.ts";
import { createWorld, type World } from "../testing/world.ts";
import { readSealingState, type UploadRecord } from "../transfer/upload-records.ts";

const { plain, file } = randomFile(7 * fakePartBytes + 77);
const partCount = 8;
const isPart = (call: string): boolean => call.startsWith("POST /v2/secrets/secret/upload/");
/** The same file, of the same size, with every byte from `at` on another. */
const alterFile = (start: number, end = plain.length): Blob =>
  new Blob([plain.map((byte, index) => (index >= start && index < end ? byte ^ 0x55 : byte))]);

let world: World;
let tab: UploadingTab;
let uploadId: string;
/** Parts that left the device, by number: as often as they left. */
let sentParts: [part: number, bytes: Bytes][];

beforeEach(async () => {
  world = createWorld();
  ({ tab } = await openTabWithFirstSecret(world));
  uploadId = await beginUpload(tab.vault, tab, makeProtectOrder(fileSecret("Film", file)), {});
  sentParts = [];
  const { part } = tab.calls;
  const wiretap: typeof part = async (id, fields, data, signal) => {
    sentParts.push([fields.part, new Uint8Array(await data.arrayBuffer())]);
    return part(id, fields, data, signal);
  };
  Object.assign(tab.calls, { part: wiretap });
});

/**
 * What the attacker got: numbers of the parts of which two different ciphertexts left the device.
 */
function partsSealedTwice(): number[] {
  const seen = new Map<number, Set<string>>();
  for (const [part, bytes] of sentParts)
    seen.set(part, (seen.get(part) ?? new Set()).add(Buffer.from(bytes).toString("base64")));
  return [...seen].filter(([, bytes]) => bytes.size > 1).map(([part]) => part);
}

/** Sends so many parts, and is gone then, as a tab that is closed. */
async function sendParts(parts: number): Promise<void> {
  const tabClosed = new AbortController();
  let sent = 0;
  world.service.beforeCall = (call) => {
    if (isPart(call) && ++sent > parts) tabClosed.abort();
  };
  await expect(tab.send(uploadId, file, { signal: tabClosed.signal })).rejects.toMatchObject({ code: "cancelled" });
  world.service.beforeCall = () => undefined;
}

const publish = async (): Promise<unknown> => finishUpload(tab.vault, tab, uploadId, null, {});

/**
 * Works on a disk that loses in a power cut, which comes then, what was not written with strict
 * durability.
 */
async function simulatePowerCut(callback: () => Promise<unknown>): Promise<void> {
  const { prototype } = IDBDatabase;
  const { transaction } = prototype;
  let durableRecord: UploadRecord | null = await tab.records.get(uploadId);
  prototype.transaction = function (...parameters: Parameters<typeof transaction>) {
    const created = transaction.apply(this, parameters);
    if (this.name !== "relicario-uploads" || created.durability !== "strict") return created;
    const store = created.objectStore("uploads");
    const put = store.put.bind(store);
    store.put = (value: UploadRecord, key) => {
      durableRecord = value;
      return put(value, key);
    };
    return created;
  };
  try {
    await callback();
  } finally {
    prototype.transaction = transaction;
  }
  await restoreRecord(durableRecord);
}

/** The record as it was: the disk of an older moment. */
async function restoreRecord(record: UploadRecord | null): Promise<void> {
  await tab.records.remove(uploadId);
  if (record !== null) await tab.records.add(record);
}

describe("somebody who wants two plaintexts under one key and number", () => {
  it("writes to the file after a power cut that took the records: nothing but the same parts leaves", async () => {
    await simulatePowerCut(() => sendParts(3));
    expect(sentParts.length).toBeGreaterThanOrEqual(3);
    const error = await tab.send(uploadId, alterFile(0)).catch((error: unknown) => error);
    expect(partsSealedTwice()).toEqual([]);
    expect(error).toMatchObject({ code: "file_changed" });
    await tab.send(uploadId, file);
    await publish();
  });

  it("lets two tabs send two files of the same size, in a browser without locks: one of them stops before its part leaves", async () => {
    const bothReached = createGate();
    let waitingCount = 0;
    world.service.beforeCall = async (call) => {
      if (!call.startsWith("GET /v2/")) return;
      if (++waitingCount === 2) bothReached.open();
      await bothReached.opened;
    };
    const otherRecords = { ...tab.records };
    const results = await Promise.allSettled([
      tab.send(uploadId, file),
      tab.send(uploadId, alterFile(0), { records: otherRecords }),
    ]);
    expect(partsSealedTwice()).toEqual([]);
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(results.find(({ status }) => status === "rejected")).toMatchObject({ reason: { code: "conflict" } });
  });

  it("brings an older profile back, with the records of that day, and writes to the file: what the service has must come out again", async () => {
    const olderRecord = await tab.records.get(uploadId);
    await tab.send(uploadId, file);
    await restoreRecord(olderRecord);
    const error = await tab.send(uploadId, alterFile(2 * fakePartBytes)).catch((error: unknown) => error);
    expect(partsSealedTwice()).toEqual([]);
    expect(error).toMatchObject({ code: "file_changed" });
    expect(sentParts).toHaveLength(partCount);
    await tab.send(uploadId, file);
    await publish();
  });

  it.each<[string, number, number | undefined]>([
    ["in a part that left", 1000, 1001],
    ["in the piece that two parts share, before the border", fakePartBytes - 3000, fakePartBytes - 2999],
    ["at its end, in the last part", plain.length - 1, undefined],
  ])("writes to the file %s, in place, and with the same size: nothing is sent", async (_where, at, end) => {
    await (at > 6 * fakePartBytes ? tab.send(uploadId, file) : sendParts(3));
    const record = await tab.records.get(uploadId);
    if (record?.sealed === true) await restoreRecord({ ...record, sealed: false });
    sentParts.length = 0;
    await expect(tab.send(uploadId, alterFile(at, end))).rejects.toMatchObject({ code: "file_changed" });
    expect(sentParts).toEqual([]);
  });

  it("writes to the file while it is gone on with: the piece that two parts share stays one plaintext", async () => {
    await sendParts(1);
    const record = await tab.records.get(uploadId);
    const knownParts = record === null ? 0 : (await readSealingState(tab.vault.device, record)).parts.length;
    expect([knownParts > 1, knownParts < partCount]).toEqual([true, true]);
    world.service.account.uploads?.get(uploadId)?.parts.delete(1); // it says that the first one never came
    sentParts.length = 0;
    let reads = 0; // all known parts are compared, the first one is made again, and then the file is another one
    const changed = alterFile(0);
    const changing = Object.assign(new Blob([plain]), {
      slice: (start: number, end: number) => (reads++ <= knownParts ? file : changed).slice(start, end),
    });
    await expect(tab.send(uploadId, changing)).rejects.toMatchObject({ code: "file_changed" });
    expect(sentParts.filter(([part]) => part !== 1)).toEqual([]);
    await tab.send(uploadId, file);
    await publish();
  });

  it("hopes for the nonce of typage's own empty payload: it is another one", async () => {
    const encrypted = jest.spyOn(Encrypter.prototype, "encrypt");
    const { prefix } = await createContentSeal();
    const [answer] = encrypted.mock.results;
    encrypted.mockRestore();
    const empty: unknown = await answer?.value;
    if (!(empty instanceof Uint8Array)) throw new TypeError("typage was not asked");
    const header = prefix.length - payloadNonceSize;
    expect(toBase64url(copyOf(empty.subarray(0, header)))).toBe(toBase64url(prefix.subarray(0, header)));
    expect(toBase64url(copyOf(empty.subarray(header, prefix.length)))).not.toBe(toBase64url(prefix.subarray(header)));
  });
});
