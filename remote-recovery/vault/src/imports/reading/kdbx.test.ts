import { readFileSync } from "node:fs";
import { join } from "node:path";

import type { ImportReadResult } from "@relicario/shared/contract";

import { readItemText } from "../../testing/import-item-text.ts";
import { readImport } from "./read-import.ts";

const readSample = (name: string): Buffer<ArrayBuffer> =>
  Buffer.from(readFileSync(join(__dirname, "../samples/kdbx", name)));
const readDatabase = (content: BlobPart, password?: string): Promise<ImportReadResult> =>
  readImport([{ path: "passwords.kdbx", content: new Blob([content]) }], {
    language: "en",
    ...(password === undefined ? {} : { password }),
  });

/**
 * The first was written by KeePassXC 2.7.4, the others by pykeepass 4.0.3. KeePassXC opens all of
 * them.
 */
const databases = ["kdbx3-aes.kdbx", "kdbx4-argon2d-aes.kdbx", "kdbx4-argon2id-chacha20.kdbx"] as const;

describe("a KeePass database", () => {
  it.each(databases)("opens with its password, including history and attachments: %s", async (name) => {
    const read = await readDatabase(readSample(name), "pässword");
    if (read.status !== "read") throw new Error(read.status);
    const texts = await Promise.all(read.items.map(async (item) => [item.title, await readItemText(item)]));
    expect([read.format, read.failures, texts.map(([title]) => title)]).toEqual([
      "keepass_kdbx",
      [],
      ["Mail", "Mail: f.txt"],
    ]);
    for (const line of ["User name: ana", "Password: newer", "Website: https://mail.example", "line one"])
      expect(texts[0]?.[1]).toContain(line);
    expect(texts[0]?.[1]).toMatch(/Password \(previous, \d{4}-\d\d-\d\d\): pw-ñ&<x>/);
    expect(texts[1]?.[1]).toMatch(/^hello\n?$/);
  });

  it.each(databases)("asks for its password, and asks again after a wrong one: %s", async (name) => {
    expect(await readDatabase(readSample(name))).toEqual({ status: "password_needed" });
    expect(await readDatabase(readSample(name), "password")).toEqual({ status: "password_wrong" });
  });

  it.each(databases)("is refused as damaged when cut or changed after its header: %s", async (name) => {
    const bytes = readSample(name);
    const cut = bytes.subarray(0, bytes.length - 100);
    const changed = Buffer.from(bytes);
    changed[bytes.length - 120] = (changed[bytes.length - 120] ?? 0) ^ 1;
    for (const content of [cut, changed]) {
      const read = await readDatabase(new Uint8Array(content), "pässword");
      // KDBX 3.1 cannot tell damage from a wrong password: both break the padding
      expect(name.startsWith("kdbx3") ? ["refused", "password_wrong"] : ["refused"]).toContain(read.status);
      if (read.status === "refused") expect(read.reason).toBe("damaged");
    }
  });

  it("is refused when it demands more memory, passes or rounds than a device has", async () => {
    const bytes = readSample("kdbx4-argon2d-aes.kdbx");
    const memoryAt = bytes.indexOf(Buffer.from([5, 1, 0, 0, 0, 0x4d, 8, 0, 0, 0])) + 10;
    const greedy = Buffer.from(bytes);
    greedy.writeBigUInt64LE(2n ** 40n, memoryAt);
    // its header no longer matches its digest
    expect(await readDatabase(new Uint8Array(greedy), "pässword")).toEqual({ status: "refused", reason: "damaged" });
    const headerLength = findHeaderLength(greedy);
    const digest = await crypto.subtle.digest("SHA-256", new Uint8Array(greedy.subarray(0, headerLength)));
    Buffer.from(digest).copy(greedy, headerLength);
    expect(await readDatabase(new Uint8Array(greedy), "pässword")).toEqual({ status: "refused", reason: "too_large" });
  });
});

/** Length of a KDBX 4 header: up to the field 0. */
function findHeaderLength(bytes: Buffer): number {
  for (let at = 12; ;) {
    const [id, length] = [bytes[at], bytes.readUInt32LE(at + 1)];
    at += 5 + length;
    if (id === 0) return at;
  }
}
