import { createHash, randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";

import { ObjectStoreError, type ObjectStore } from "./object-store.ts";
import { openObjectStore } from "./open-store.ts";
import { startS3Server, type TestS3Server } from "./testing/s3-server.ts";

const key = "019a9e2c-7c1e-7abc-8def-0123456789ab/019a9e2c-7c1e-7abc-8def-0123456789ac/1-abc";
const bytes = randomBytes(3_000_000);
const expected = { size: bytes.length, sha256: createHash("sha256").update(bytes).digest() };
const small = bytes.subarray(0, 1_000);
const smallExpected = { size: small.length, sha256: createHash("sha256").update(small).digest() };

let server: TestS3Server;
let store: ObjectStore;
beforeAll(async () => {
  server = await startS3Server();
});
afterAll(() => server.stop());
beforeEach(async () => {
  store = await openObjectStore(server.createAddress());
});
afterEach(() => server.faults.clear());

describe("openS3Store", () => {
  it("stores below the prefix of its address alone", async () => {
    await store.put(key, small, smallExpected);
    const otherStore = await openObjectStore(server.createAddress());
    expect(await Readable.from(otherStore.list()).toArray()).toEqual([]);
    expect([...server.objects.keys()]).toEqual([expect.stringMatching(new RegExp(`^/sealed/prefix-\\d+/${key}$`))]);
  });

  it.each([
    [{ status: 503, code: "SlowDown" }, "busy"],
    [{ status: 429, code: "TooManyRequests" }, "busy"],
    [{ status: 409, code: "ConditionalRequestConflict" }, "busy"],
    [{ status: 507, code: "XMinioStorageFull" }, "full"],
    [{ status: 403, code: "QuotaExceeded" }, "full"],
    [{ status: 403, code: "AccessDenied" }, "away"],
    [{ status: 404, code: "NoSuchBucket" }, "away"],
    [{ status: 500, code: "InternalError" }, "away"],
  ] as const)("reports %j as a fault of the store, not of an object", async (fault, name) => {
    for (const method of ["PUT", "GET", "DELETE"]) server.faults.set(method, fault);
    const calls = [
      () => store.put(key, small, smallExpected),
      () => store.put(key, Readable.from([bytes], { objectMode: false }), expected),
      () => store.read(key),
      () => store.delete(key),
      () => Readable.from(store.list()).toArray(),
      () => store.check(),
    ];
    for (const call of calls) await expect(call()).rejects.toMatchObject({ name: "ObjectStoreError", fault: name });
  });

  it("is away without its server", async () => {
    const lostServer = await startS3Server();
    const lostStore = await openObjectStore(lostServer.createAddress());
    await lostStore.put(key, small, smallExpected);
    await lostServer.stop();
    await expect(lostStore.read(key)).rejects.toMatchObject({ fault: "away" });
    await expect(lostStore.check()).rejects.toMatchObject({ fault: "away" }); // a write just succeeded
  });

  it("reports a response that is cut as a fault of the store", async () => {
    server.faults.set("GET", "cut_response");
    await expect(buffer(await store.read(key))).rejects.toBeInstanceOf(ObjectStoreError);
  });

  it("sends a small object again", async () => {
    const findFault = jest.spyOn(server.faults, "get").mockReturnValueOnce({ status: 503, code: "SlowDown" });
    await store.put(key, Readable.from([small], { objectMode: false }), smallExpected);
    expect(findFault.mock.calls).toEqual([["PUT"], ["PUT"]]);
    expect((await buffer(await store.read(key))).equals(small)).toBe(true);
  });
});
