import { createHash, randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";

import { digestOf } from "./content-digest.ts";

describe("digestOf", () => {
  it("is SHA-256 over all pieces, also of a few bytes and of none", async () => {
    for (const pieces of [[randomBytes(300_000), randomBytes(1), randomBytes(256 * 1024)], [Buffer.from("abc")], []]) {
      expect(await digestOf(Readable.from(pieces))).toEqual(
        createHash("sha256").update(Buffer.concat(pieces)).digest(),
      );
    }
  });

  it("fails with what reading fails with", async () => {
    const broken = async function* () {
      yield await Promise.resolve(Buffer.from("some"));
      throw new Error("a broken disk");
    };
    await expect(digestOf(broken())).rejects.toThrow("a broken disk");
  });

  it.each([
    ["fails", "throw new Error('out of memory')", "out of memory"],
    ["ends", "process.exit(0)", "ended by itself"],
  ])("fails when its thread %s before the first piece came", async (_what, script, words) => {
    const slow = async function* () {
      await pause(500);
      yield Buffer.from("some");
    };
    await expect(digestOf(slow(), new URL(`data:text/javascript,${encodeURIComponent(script)}`))).rejects.toThrow(
      words,
    );
  });
});
