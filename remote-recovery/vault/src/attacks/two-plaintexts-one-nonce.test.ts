/*
 * The attacker keeps every byte that ever leaves the device, and wants two plaintexts that were
 * sealed under the same key and number: their ciphertexts together give the XOR of both. So they
 * make the device seal parts again: with a file that was written to, with two tabs, a power cut, or
 * a profile of an older day.
 */
import "fake-indexeddb/auto";

import { toB64u } from "@relicario/shared/api";
import { Encrypter } from "age-encryption";

import { beginUpload, finishUpload } from "../acts/resumable-uploads.ts";
import { copyOf, type Bytes } from "../seal/bytes.ts";
import { payloadNonceBytes } from "../seal/content-pieces.ts";
import { newContentSeal } from "../seal/content-stream.ts";
import { fakePartBytes } from "../testing/fake-uploads.ts";
import { fileSecret, moment, protectOrder, randomFile, tabWithFirst, type UploadingTab } from "../testing/uploading.ts";
import { createWorld, type World } from "../testing/world.ts";
import { readSealing, type UploadRecord } from "../transfer/records.ts";

const { plain, file } = randomFile(7 * fakePartBytes + 77);
const count = 8;
const isPart = (call: string): boolean => call.startsWith("POST /v2/secrets/secret/upload/");
/** The same file, of the same size, with every byte from `at` on another. */
const writtenTo = (at: number, end = plain.length): Blob =>
  new Blob([plain.map((byte, index) => (index >= at && index < end ? byte ^ 0x55 : byte))]);

let world: World;
let tab: UploadingTab;
let uploadId: string;
/** Parts that left the device, by number: as often as they left. */
let left: [part: number, bytes: Bytes][];

beforeEach(async () => {
  world = createWorld();
  ({ tab } = await tabWithFirst(world));
  uploadId = await beginUpload(tab.vault, tab, protectOrder(fileSecret("Film", file)), {});
  left = [];
  const { part } = tab.calls;
  const wiretap: typeof part = async (id, fields, data, signal) => {
    left.push([fields.part, new Uint8Array(await data.arrayBuffer())]);
    return part(id, fields, data, signal);
  };
  Object.assign(tab.calls, { part: wiretap });
});

/**
 * What the attacker got: numbers of the parts of which two different ciphertexts left the device.
 */
function sealedTwice(): number[] {
  const seen = new Map<number, Set<string>>();
  for (const [part, bytes] of left)
    seen.set(part, (seen.get(part) ?? new Set()).add(Buffer.from(bytes).toString("base64")));
  return [...seen].filter(([, bytes]) => bytes.size > 1).map(([part]) => part);
}

/** Sends so many parts, and is gone then, as a tab that is closed. */
async function sendSome(parts: number): Promise<void> {
  const closed = new AbortController();
  let sent = 0;
  world.service.before = (call) => {
    if (isPart(call) && ++sent > parts) closed.abort();
  };
  await expect(tab.send(uploadId, file, { signal: closed.signal })).rejects.toMatchObject({ code: "cancelled" });
  world.service.before = () => undefined;
}

const publishes = async (): Promise<unknown> => finishUpload(tab.vault, tab, uploadId, null, {});

/**
 * Works on a disk that loses in a power cut, which comes then, what was not written with strict
 * durability.
 */
async function powerCutAfter(work: () => Promise<unknown>): Promise<void> {
  const { prototype } = IDBDatabase;
  const { transaction } = prototype;
  let durable: UploadRecord | null = await tab.records.get(uploadId);
  prototype.transaction = function (...given: Parameters<typeof transaction>) {
    const made = transaction.apply(this, given);
    if (this.name !== "relicario-uploads" || made.durability !== "strict") return made;
    const store = made.objectStore("uploads");
    const put = store.put.bind(store);
    store.put = (value: UploadRecord, key) => {
      durable = value;
      return put(value, key);
    };
    return made;
  };
  try {
    await work();
  } finally {
    prototype.transaction = transaction;
  }
  await putBack(durable);
}

/** The record as it was: the disk of an older moment. */
async function putBack(record: UploadRecord | null): Promise<void> {
  await tab.records.remove(uploadId);
  if (record !== null) await tab.records.add(record);
}

describe("somebody who wants two plaintexts under one key and number", () => {
  it("writes to the file after a power cut that took the records: nothing but the same parts leaves", async () => {
    await powerCutAfter(() => sendSome(3));
    expect(left.length).toBeGreaterThanOrEqual(3);
    const refused = await tab.send(uploadId, writtenTo(0)).catch((error: unknown) => error);
    expect(sealedTwice()).toEqual([]);
    expect(refused).toMatchObject({ code: "file_changed" });
    await tab.send(uploadId, file);
    await publishes();
  });

  it("lets two tabs send two files of the same size, in a browser without locks: one of them stops before its part leaves", async () => {
    const both = moment();
    let waiting = 0;
    world.service.before = async (call) => {
      if (!call.startsWith("GET /v2/")) return;
      if (++waiting === 2) both.happen();
      await both.come;
    };
    const other = { ...tab.records };
    const results = await Promise.allSettled([
      tab.send(uploadId, file),
      tab.send(uploadId, writtenTo(0), { records: other }),
    ]);
    expect(sealedTwice()).toEqual([]);
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(results.find(({ status }) => status === "rejected")).toMatchObject({ reason: { code: "conflict" } });
  });

  it("brings an older profile back, with the records of that day, and writes to the file: what the service has must come out again", async () => {
    const older = await tab.records.get(uploadId);
    await tab.send(uploadId, file);
    await putBack(older);
    const refused = await tab.send(uploadId, writtenTo(2 * fakePartBytes)).catch((error: unknown) => error);
    expect(sealedTwice()).toEqual([]);
    expect(refused).toMatchObject({ code: "file_changed" });
    expect(left).toHaveLength(count);
    await tab.send(uploadId, file);
    await publishes();
  });

  it.each<[string, number, number | undefined]>([
    ["in a part that left", 1000, 1001],
    ["in the piece that two parts share, before the border", fakePartBytes - 3000, fakePartBytes - 2999],
    ["at its end, in the last part", plain.length - 1, undefined],
  ])("writes to the file %s, in place, and with the same size: nothing is sent", async (_where, at, end) => {
    await (at > 6 * fakePartBytes ? tab.send(uploadId, file) : sendSome(3));
    const record = await tab.records.get(uploadId);
    if (record?.sealed === true) await putBack({ ...record, sealed: false });
    left.length = 0;
    await expect(tab.send(uploadId, writtenTo(at, end))).rejects.toMatchObject({ code: "file_changed" });
    expect(left).toEqual([]);
  });

  it("writes to the file while it is gone on with: the piece that two parts share stays one plaintext", async () => {
    await sendSome(1);
    const record = await tab.records.get(uploadId);
    const known = record === null ? 0 : (await readSealing(tab.vault.device, record)).parts.length;
    expect([known > 1, known < count]).toEqual([true, true]);
    world.service.account.uploads?.get(uploadId)?.parts.delete(1); // it says that the first one never came
    left.length = 0;
    let reads = 0; // all known parts are compared, the first one is made again, and then the file is another one
    const changed = writtenTo(0);
    const changing = Object.assign(new Blob([plain]), {
      slice: (start: number, end: number) => (reads++ <= known ? file : changed).slice(start, end),
    });
    await expect(tab.send(uploadId, changing)).rejects.toMatchObject({ code: "file_changed" });
    expect(left.filter(([part]) => part !== 1)).toEqual([]);
    await tab.send(uploadId, file);
    await publishes();
  });

  it("hopes for the nonce of typage's own empty payload: it is another one", async () => {
    const encrypted = jest.spyOn(Encrypter.prototype, "encrypt");
    const { prefix } = await newContentSeal();
    const [answer] = encrypted.mock.results;
    encrypted.mockRestore();
    const empty: unknown = await answer?.value;
    if (!(empty instanceof Uint8Array)) throw new TypeError("typage was not asked");
    const header = prefix.length - payloadNonceBytes;
    expect(toB64u(copyOf(empty.subarray(0, header)))).toBe(toB64u(prefix.subarray(0, header)));
    expect(toB64u(copyOf(empty.subarray(header, prefix.length)))).not.toBe(toB64u(prefix.subarray(header)));
  });
});
