import { createHash, randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";

import { digestInWorker } from "./content-digest.ts";

describe("digestOf", () => {
  it("is SHA-256 over all pieces, also of a few bytes and of none", async () => {
    for (const chunks of [[randomBytes(300_000), randomBytes(1), randomBytes(256 * 1024)], [Buffer.from("abc")], []]) {
      expect(await digestInWorker(Readable.from(chunks))).toEqual(
        createHash("sha256").update(Buffer.concat(chunks)).digest(),
      );
    }
  });

  it("fails with what reading fails with", async () => {
    const failingChunks = async function* () {
      yield await Promise.resolve(Buffer.from("some"));
      throw new Error("a broken disk");
    };
    await expect(digestInWorker(failingChunks())).rejects.toThrow("a broken disk");
  });

  it.each([
    ["fails", "throw new Error('out of memory')", "out of memory"],
    ["ends", "process.exit(0)", "ended by itself"],
  ])("fails when its thread %s before the first piece came", async (_case, script, message) => {
    const slowChunks = async function* () {
      await pause(500);
      yield Buffer.from("some");
    };
    await expect(
      digestInWorker(slowChunks(), new URL(`data:text/javascript,${encodeURIComponent(script)}`)),
    ).rejects.toThrow(message);
  });
});
