import { once } from "node:events";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";

import { Pace } from "./pace.ts";

/** A second of it is ten pieces. */
const bytesPerSecond = 10_000;
const piece = Buffer.alloc(1_000);

beforeEach(() => jest.useFakeTimers({ now: 1_000_000 }));
afterEach(() => jest.useRealTimers());

function taken(pace: Pace, who: string, times: number): () => number {
  let went = 0;
  for (let time = 0; time < times; time++) pace.take(who, piece.length, () => went++);
  return () => went;
}

describe("the pace of an address", () => {
  it("is not limited while nobody else is there", () => {
    const pace = new Pace(bytesPerSecond);
    pace.note("a");
    pace.note("a");
    expect(taken(pace, "a", 1_000)()).toBe(1_000);
  });

  it("is so many bytes in a second while others call, in their order", () => {
    const pace = new Pace(bytesPerSecond);
    for (const who of ["a", "b"]) pace.note(who);
    const went = taken(pace, "a", 31);
    expect(went()).toBe(1); // a tenth of a second goes on at once
    jest.advanceTimersByTime(1_000);
    expect(went()).toBe(11);
    jest.advanceTimersByTime(2_000);
    expect(went()).toBe(31);
  });

  it("is each address's own", () => {
    const pace = new Pace(bytesPerSecond);
    for (const who of ["a", "b"]) pace.note(who);
    const went = taken(pace, "a", 100);
    expect(taken(pace, "b", 1)()).toBe(1);
    expect(went()).toBe(1);
  });

  it("is free again when the others have called for the last time", () => {
    const pace = new Pace(bytesPerSecond);
    pace.note("b");
    for (let calls = 0; calls < 50; calls++) pace.note("a");
    expect(taken(pace, "a", 3)()).toBe(1);
    jest.advanceTimersByTime(1_000);
    expect(taken(pace, "a", 3)()).toBe(3);
  });

  it("does not grow by addresses that owe nothing, and keeps those that do", () => {
    const pace = new Pace(bytesPerSecond);
    for (const who of ["a", "b"]) pace.note(who);
    const went = taken(pace, "a", 9);
    for (let other = 0; other < 3_000; other++) taken(pace, `one of many ${String(other)}`, 1);
    expect(taken(pace, "a", 1)()).toBe(0);
    jest.advanceTimersByTime(900);
    expect(went()).toBe(9);
  });

  it("lets all bytes through, those that are paid at once", async () => {
    jest.useRealTimers();
    const pace = new Pace(1_000_000);
    for (const who of ["a", "b"]) pace.note(who);
    const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, index) => index % 251));
    const pieces = Array.from({ length: 30 }, (_, index) => bytes.subarray(index * 10_000, (index + 1) * 10_000));
    expect((await buffer(pace.of("a", Readable.from(pieces), 150_000))).equals(bytes)).toBe(true);
  });

  it("ends its source when it is ended, and fails with it", async () => {
    jest.useRealTimers();
    const pace = new Pace(bytesPerSecond);
    const left = new Readable({ read: () => undefined });
    pace.of("a", left).destroy();
    await new Promise((closed) => left.once("close", closed));
    const failing = new Readable({ read: () => undefined });
    const paced = pace.of("a", failing);
    const failed = once(paced, "error");
    failing.destroy(new Error("cut"));
    expect(await failed).toMatchObject([{ message: "cut" }]);
  });
});
