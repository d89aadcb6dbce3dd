import { createHash, randomBytes } from "node:crypto";
import { Readable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";

import { digestInWorker } from "./content-digest.ts";

describe("digestInWorker", () => {
  it("is SHA-256 over all chunks, also of a few bytes and of none", async () => {
    for (const chunks of [[randomBytes(300_000), randomBytes(1), randomBytes(256 * 1024)], [Buffer.from("abc")], []]) {
      expect(await digestInWorker(Readable.from(chunks))).toEqual(
        createHash("sha256").update(Buffer.concat(chunks)).digest(),
      );
    }
  });

  it("fails when reading fails", async () => {
    const failingChunks = async function* () {
      yield await Promise.resolve(Buffer.from("some"));
      throw new Error("a broken disk");
    };
    await expect(digestInWorker(failingChunks())).rejects.toThrow("a broken disk");
  });

  it.each([
    ["fails", "throw new Error('out of memory')", "out of memory"],
    ["ends", "process.exit(0)", "ended early"],
  ])("fails when its worker %s before the first chunk", async (_case, script, message) => {
    const slowChunks = async function* () {
      await pause(500);
      yield Buffer.from("some");
    };
    await expect(
      digestInWorker(slowChunks(), new URL(`data:text/javascript,${encodeURIComponent(script)}`)),
    ).rejects.toThrow(message);
  });
});
