import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import { ByteSearch, type Needle } from "./byte-search.ts";

const text = (value: string): Needle => ({ name: "text", kind: "text", bytes: Buffer.from(value) });
const runs = (bytes: Uint8Array): Needle => ({ name: "runs", kind: "runs", bytes });
const surroundWithRandom = (bytes: Uint8Array | string): Buffer =>
  Buffer.concat([randomBytes(1003), Buffer.from(bytes as string), randomBytes(701)]);

describe("ByteSearch", () => {
  const sentinel = "k3Jq9vTz0LmXw2Ra";

  it.each([0, 1, 2])("finds a text raw, in hex and in base64 at offset %d", (offset) => {
    const search = new ByteSearch([text(sentinel)]);
    const padded = Buffer.concat([Buffer.alloc(offset, "."), Buffer.from(sentinel), Buffer.from("!!")]);
    expect(search.search(surroundWithRandom(sentinel), "x").map(({ encoding }) => encoding)).toContain("raw");
    expect(
      search.search(surroundWithRandom(` ${padded.toString("base64")} `), "x").map(({ encoding }) => encoding),
    ).toContain("base64");
    expect(
      search.search(surroundWithRandom(`"${padded.toString("base64url")}"`), "x").map(({ encoding }) => encoding),
    ).toContain("base64url");
    expect(
      search.search(surroundWithRandom(`"${padded.toString("hex")}"`), "x").map(({ encoding }) => encoding),
    ).toContain("hex");
    expect(
      search
        .search(surroundWithRandom(`"${padded.toString("hex").toUpperCase()}"`), "x")
        .map(({ encoding }) => encoding),
    ).toContain("hex");
  });

  it("finds any run of 32 bytes of a picture, wherever the run begins, in each encoding", () => {
    const picture = randomBytes(5000);
    const search = new ByteSearch([runs(picture)]);
    for (let start = 0; start < 40; start++) {
      const run = picture.subarray(1000 + start, 1032 + start);
      expect(search.search(surroundWithRandom(run), "x")).toHaveLength(1);
      expect(
        search.search(surroundWithRandom(` ${Buffer.concat([randomBytes(start), run]).toString("base64url")} `), "x")
          .length,
      ).toBeGreaterThan(0);
      expect(search.search(surroundWithRandom(` ${run.toString("hex")} `), "x").length).toBeGreaterThan(0);
    }
  });

  it("finds a run whose middle is flat, and a run that occurs in the picture a thousand times", () => {
    const flat = Buffer.concat([
      Buffer.from([1, 2, 3, 4, 5, 6, 7, 8]),
      Buffer.alloc(16, 200),
      Buffer.from([9, 10, 11, 12, 13, 14, 15, 16]),
    ]);
    const row = Buffer.from(Array.from({ length: 16 }, (_, value) => 3 * value));
    const repeated = Buffer.concat(Array.from({ length: 1000 }, () => row));
    const picture = Buffer.concat([randomBytes(1000), flat, repeated, randomBytes(8), flat]);
    const search = new ByteSearch([runs(picture)]);
    expect(search.search(surroundWithRandom(flat), "x")).toHaveLength(1);
    const last = Buffer.concat([row, randomBytes(8), flat]);
    expect(search.search(surroundWithRandom(picture.subarray(picture.length - 48)), "x")).toHaveLength(1);
    expect(search.search(surroundWithRandom(last.subarray(0, 16)), "x")).toEqual([]);
  });

  it("does not mistake a shorter run, a flat one or random bytes for the picture", () => {
    const picture = Buffer.concat([randomBytes(2000), Buffer.alloc(400, 7)]);
    const search = new ByteSearch([runs(picture), text(sentinel)]);
    const flip = (at: number) => Buffer.of((picture[at] ?? 0) ^ 1);
    const shortRun = Buffer.concat([flip(499), picture.subarray(500, 531), flip(531)]); // cannot go on by chance
    expect(search.search(surroundWithRandom(shortRun), "x")).toEqual([]);
    expect(search.search(surroundWithRandom(Buffer.alloc(300, 7)), "x")).toEqual([]);
    expect(search.search(randomBytes(2_000_000), "x")).toEqual([]);
  });

  it("names the file in which it found something", async () => {
    const folder = await mkdtemp(path.join(tmpdir(), "byte-search-"));
    try {
      await writeFile(path.join(folder, "clean"), randomBytes(1000));
      await writeFile(path.join(folder, "dirty"), surroundWithRandom(sentinel));
      const { findings, files } = await new ByteSearch([text(sentinel)]).searchFolder(folder);
      expect(files).toBe(2);
      expect(findings.map(({ where }) => where)).toEqual(["dirty"]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
