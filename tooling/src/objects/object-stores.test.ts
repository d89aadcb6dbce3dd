import { createHash, randomBytes, randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { buffer, text } from "node:stream/consumers";

import { copyObject } from "./copy-object.ts";
import {
  ExistingObjectError,
  MissingObjectError,
  WrongBytesError,
  type ExpectedBytes,
  type ObjectStore,
} from "./object-store.ts";
import { combineStores, openObjectStore } from "./open-store.ts";
import { startBuckets, startFolders, type TestStores } from "./testing/test-stores.ts";

const account = "019a9e2c-7c1e-7abc-8def-0123456789ab";
const key = `${account}/019a9e2c-7c1e-7abc-8def-0123456789ac/1-abc`;
const createKey = (): string => `${account}/${randomUUID()}/1-${randomBytes(6).toString("hex")}`;

const describeBytes = (bytes: Buffer): ExpectedBytes => ({
  size: bytes.length,
  sha256: createHash("sha256").update(bytes).digest(),
});

async function* streamChunks(bytes: Buffer, chunkBytes = 65_536): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.length; start += chunkBytes) yield bytes.subarray(start, start + chunkBytes);
}
const stream = (bytes: Buffer): Readable => Readable.from(streamChunks(bytes), { objectMode: false });
const breakingStream = (bytes: Buffer): Readable =>
  Readable.from(
    (async function* () {
      yield* streamChunks(bytes);
      throw new Error("connection lost");
    })(),
    { objectMode: false },
  );

const listKeys = async (store: ObjectStore): Promise<string[]> =>
  ((await Readable.from(store.list()).toArray()) as string[]).sort();

describe.each([
  ["a folder", startFolders],
  ["a bucket", startBuckets],
])("%s of objects", (_name, startStores) => {
  let stores: TestStores;
  let store: ObjectStore;
  beforeAll(async () => {
    stores = await startStores();
  });
  afterAll(() => stores.stop());
  beforeEach(async () => {
    store = await openObjectStore(await stores.createAddress());
  });

  it.each([0, 1, 300_000, 5_000_000])("returns %d stored bytes, from a buffer or a stream", async (size) => {
    const bytes = randomBytes(size);
    const [bufferKey, streamKey] = [createKey(), createKey()];
    await store.put(bufferKey, bytes, describeBytes(bytes));
    await store.put(streamKey, stream(bytes), describeBytes(bytes));
    for (const storedKey of [bufferKey, streamKey])
      expect((await buffer(await store.read(storedKey))).equals(bytes)).toBe(true);
  });

  it("returns a small secret in one chunk, so that it is verified before its first byte is sent", async () => {
    const bytes = randomBytes(256 * 1024);
    await store.put(key, bytes, describeBytes(bytes));
    expect(await (await store.read(key)).toArray()).toHaveLength(1);
  });

  describe.each([
    ["short", 100_000],
    ["long", 5_000_000],
  ])("given a %s stream", (_length, size) => {
    const bytes = randomBytes(size);
    const expected = describeBytes(bytes);

    it.each([
      ["breaks", () => breakingStream(bytes.subarray(1)), new Error("connection lost")],
      ["breaks before its first byte", () => breakingStream(Buffer.of()), new Error("connection lost")],
      ["breaks after its last byte", () => breakingStream(bytes), new Error("connection lost")],
      ["is shorter than its length", () => stream(bytes.subarray(1)), new WrongBytesError("too_short")],
      ["is longer than its length", () => stream(Buffer.concat([bytes, bytes])), new WrongBytesError("too_long")],
      ["has another digest", () => stream(randomBytes(size)), new WrongBytesError("other_digest")],
    ])("stores nothing when it %s", async (_case, createStream, error) => {
      const source = createStream();
      await expect(store.put(key, source, expected)).rejects.toThrow(error);
      expect(source.destroyed).toBe(true);
      await expect(store.read(key)).rejects.toBeInstanceOf(MissingObjectError);
      expect(await listKeys(store)).toEqual([]);
      await store.put(key, stream(bytes), expected); // the same key can be tried again
    });

    it("keeps the first bytes of a key: the same are stored already, others are refused", async () => {
      await store.put(key, stream(bytes), expected);
      await store.put(key, stream(bytes), expected);
      await store.put(key, bytes, expected);
      const otherBytes = randomBytes(size);
      for (const source of [otherBytes, stream(otherBytes)])
        await expect(store.put(key, source, describeBytes(otherBytes))).rejects.toBeInstanceOf(ExistingObjectError);
      expect((await buffer(await store.read(key))).equals(bytes)).toBe(true);
    });

    it("keeps one of several that are stored under one key at the same time", async () => {
      const contents = [bytes, randomBytes(size), randomBytes(size)];
      const results = await Promise.allSettled(
        contents.map((content) => store.put(key, stream(content), describeBytes(content))),
      );
      const stored = await buffer(await store.read(key));
      const storedIndex = contents.findIndex((content) => content.equals(stored));
      expect(results.map(({ status }) => status)).toEqual(
        contents.map((_content, index) => (index === storedIndex ? "fulfilled" : "rejected")),
      );
    });
  });

  it("reports a missing object when reading, and ignores a missing object when deleting", async () => {
    await expect(store.read(key)).rejects.toBeInstanceOf(MissingObjectError);
    await store.delete(key);
    await store.put(key, Buffer.from("x"), describeBytes(Buffer.from("x")));
    await store.delete(key);
    await store.delete(key);
    expect(await listKeys(store)).toEqual([]);
  });

  it("lists every key, also over several pages", async () => {
    expect(await listKeys(store)).toEqual([]);
    const keys = Array.from({ length: 8 }, createKey);
    for (const listedKey of keys) await store.put(listedKey, Buffer.from("x"), describeBytes(Buffer.from("x")));
    expect(await listKeys(store)).toEqual(keys.sort());
  });

  it.each(["../outside", `${account}/../../etc/passwd`, "/etc/passwd", `${key}/more`, "", `${account}/x/1-a`])(
    "refuses the key %j",
    async (invalidKey) => {
      const bytes = Buffer.from("x");
      await expect(store.put(invalidKey, bytes, describeBytes(bytes))).rejects.toThrow(TypeError);
      await expect(store.read(invalidKey)).rejects.toThrow(TypeError);
      await expect(store.delete(invalidKey)).rejects.toThrow(TypeError);
    },
  );

  it("checks itself by an object that it removes again", async () => {
    await Promise.all([store.check(), store.check()]);
    expect(await listKeys(store)).toEqual([]);
  });

  it("survives a reader that stops in the middle or never starts", async () => {
    const bytes = randomBytes(5_000_000);
    await store.put(key, bytes, describeBytes(bytes));
    for (let count = 0; count < 20; count++) (await store.read(key)).destroy();
    for (let count = 0; count < 20; count++)
      for await (const chunk of await store.read(key)) {
        expect((chunk as Buffer).length).toBeGreaterThan(0);
        break;
      }
    expect((await buffer(await store.read(key))).equals(bytes)).toBe(true);
  });
});

describe("copyObject", () => {
  let stores: TestStores[];
  beforeAll(async () => {
    stores = [await startFolders(), await startBuckets()];
  });
  afterAll(async () => {
    for (const { stop } of stores) await stop();
  });

  it.each([
    [0, 1],
    [1, 0],
  ])("copies between a folder and a bucket, repeatedly, and nothing that is damaged (%d to %d)", async (from, to) => {
    const [source, target] = [
      await openObjectStore((await stores[from]?.createAddress()) ?? ""),
      await openObjectStore((await stores[to]?.createAddress()) ?? ""),
    ];
    const bytes = randomBytes(400_000);
    const sha256 = describeBytes(bytes).sha256.toString("hex");
    await source.put(key, bytes, describeBytes(bytes));
    const reference = { key, size: bytes.length, sha256 };
    for (const damagedReference of [
      { ...reference, size: 399_999 },
      { ...reference, size: 400_001, sha256: null },
      { ...reference, sha256: "0".repeat(64) },
      { ...reference, key: createKey() },
      { ...reference, key: createKey(), sha256: null },
    ])
      expect(await copyObject(source, target, damagedReference)).toBeNull();
    expect(await listKeys(target)).toEqual([]);
    for (const copiedReference of [reference, { ...reference, sha256: null }, reference])
      expect(await copyObject(source, target, copiedReference)).toBe(sha256);
    expect((await buffer(await target.read(key))).equals(bytes)).toBe(true);
  });

  it("reads from two stores, writes to the first, and deletes in both", async () => {
    const [first, second] = [
      await openObjectStore((await stores[0]?.createAddress()) ?? ""),
      await openObjectStore((await stores[1]?.createAddress()) ?? ""),
    ];
    const combined = combineStores(first, second);
    const [oldKey, newKey] = [createKey(), createKey()];
    await second.put(oldKey, Buffer.from("old"), describeBytes(Buffer.from("old")));
    await combined.put(newKey, Buffer.from("new"), describeBytes(Buffer.from("new")));
    expect(await text(await combined.read(oldKey))).toBe("old");
    expect(await text(await first.read(newKey))).toBe("new");
    expect(await listKeys(combined)).toEqual([oldKey, newKey].sort());
    await combined.check();
    for (const deletedKey of [oldKey, newKey]) await combined.delete(deletedKey);
    expect([...(await listKeys(first)), ...(await listKeys(second))]).toEqual([]);
    await expect(combined.read(oldKey)).rejects.toBeInstanceOf(MissingObjectError);
  });
});
