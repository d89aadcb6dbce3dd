import { once } from "node:events";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";

import { TokenBucket } from "./token-bucket.ts";

/** Ten chunks in a second. */
const bytesPerSecond = 10_000;
const chunk = Buffer.alloc(1_000);

beforeEach(() => jest.useFakeTimers({ now: 1_000_000 }));
afterEach(() => jest.useRealTimers());

function acquireRepeatedly(bucket: TokenBucket, client: string, times: number): () => number {
  let granted = 0;
  for (let time = 0; time < times; time++) bucket.acquire(client, chunk.length, () => granted++);
  return () => granted;
}

describe("TokenBucket", () => {
  it("does not limit an IP address while no other address is active", () => {
    const bucket = new TokenBucket(bytesPerSecond);
    bucket.recordCall("a");
    bucket.recordCall("a");
    expect(acquireRepeatedly(bucket, "a", 1_000)()).toBe(1_000);
  });

  it("limits the bytes per second of an IP address while other addresses call, in order", () => {
    const bucket = new TokenBucket(bytesPerSecond);
    for (const client of ["a", "b"]) bucket.recordCall(client);
    const granted = acquireRepeatedly(bucket, "a", 31);
    expect(granted()).toBe(1); // the burst: a tenth of a second
    jest.advanceTimersByTime(1_000);
    expect(granted()).toBe(11);
    jest.advanceTimersByTime(2_000);
    expect(granted()).toBe(31);
  });

  it("limits each IP address separately", () => {
    const bucket = new TokenBucket(bytesPerSecond);
    for (const client of ["a", "b"]) bucket.recordCall(client);
    const granted = acquireRepeatedly(bucket, "a", 100);
    expect(acquireRepeatedly(bucket, "b", 1)()).toBe(1);
    expect(granted()).toBe(1);
  });

  it("stops limiting after the last call of the other addresses", () => {
    const bucket = new TokenBucket(bytesPerSecond);
    bucket.recordCall("b");
    for (let calls = 0; calls < 50; calls++) bucket.recordCall("a");
    expect(acquireRepeatedly(bucket, "a", 3)()).toBe(1);
    jest.advanceTimersByTime(1_000);
    expect(acquireRepeatedly(bucket, "a", 3)()).toBe(3);
  });

  it("forgets IP addresses that owe nothing, and keeps addresses that owe bytes", () => {
    const bucket = new TokenBucket(bytesPerSecond);
    for (const client of ["a", "b"]) bucket.recordCall(client);
    const granted = acquireRepeatedly(bucket, "a", 9);
    for (let clientIndex = 0; clientIndex < 3_000; clientIndex++)
      acquireRepeatedly(bucket, `one of many ${String(clientIndex)}`, 1);
    expect(acquireRepeatedly(bucket, "a", 1)()).toBe(0);
    jest.advanceTimersByTime(900);
    expect(granted()).toBe(9);
  });

  it("passes all bytes, prepaid ones at once", async () => {
    jest.useRealTimers();
    const bucket = new TokenBucket(1_000_000);
    for (const client of ["a", "b"]) bucket.recordCall(client);
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251));
    const chunks = Array.from({ length: 30 }, (_, index) => bytes.subarray(index * 10_000, (index + 1) * 10_000));
    expect((await buffer(bucket.throttle("a", Readable.from(chunks), 150_000))).equals(bytes)).toBe(true);
  });

  it("destroys the source of a destroyed stream, and passes its error on", async () => {
    jest.useRealTimers();
    const bucket = new TokenBucket(bytesPerSecond);
    const idleSource = new Readable({ read: () => undefined });
    bucket.throttle("a", idleSource).destroy();
    await new Promise((resolve) => idleSource.once("close", resolve));
    const failingSource = new Readable({ read: () => undefined });
    const throttled = bucket.throttle("a", failingSource);
    const failure = once(throttled, "error");
    failingSource.destroy(new Error("cut"));
    expect(await failure).toMatchObject([{ message: "cut" }]);
  });
});
