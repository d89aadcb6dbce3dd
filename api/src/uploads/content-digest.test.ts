import { createHash, randomBytes } from "node:crypto";
import { Readable } from "node:stream";

import { digestOf } from "./content-digest.ts";

describe("digestOf", () => {
  it("is SHA-256 over all pieces, also of a few bytes and of none", async () => {
    for (const pieces of [[randomBytes(300_000), randomBytes(1), randomBytes(256 * 1024)], [Buffer.from("abc")], []]) {
      expect(await digestOf(Readable.from(pieces))).toEqual(createHash("sha256").update(Buffer.concat(pieces)).digest());
    }
  });

  it("fails with what reading fails with", async () => {
    const broken = async function* () {
      yield await Promise.resolve(Buffer.from("some"));
      throw new Error("a broken disk");
    };
    await expect(digestOf(broken())).rejects.toThrow("a broken disk");
  });
});
