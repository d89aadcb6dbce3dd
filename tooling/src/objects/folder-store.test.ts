import { createHash } from "node:crypto";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";

import { openFolderStore } from "./folder-store.ts";
import type { ObjectStore } from "./object-store.ts";

const key = "019a9e2c-7c1e-7abc-8def-0123456789ab/019a9e2c-7c1e-7abc-8def-0123456789ac/1-abc";
const bytes = Buffer.from("sealed");
const expected = { size: bytes.length, sha256: createHash("sha256").update(bytes).digest() };

let folder: string;
let store: ObjectStore;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "relicario-store-"));
  store = await openFolderStore(folder);
});
const listKeys = async (): Promise<string[]> => (await Readable.from(store.list()).toArray()) as string[];
afterEach(() => rm(folder, { recursive: true, force: true }));

describe("openFolderStore", () => {
  it("stores files that only their owner can read", async () => {
    await store.put(key, bytes, expected);
    expect((await stat(join(folder, key))).mode & 0o077).toBe(0);
  });

  it("lists and deletes what a killed process left under its key", async () => {
    await store.put(key, bytes, expected);
    await writeFile(join(folder, `${key}.0123456789ab.tmp`), "half");
    expect(new Set(await listKeys())).toEqual(new Set([key]));
    await store.delete(key);
    expect(await listKeys()).toEqual([]);
  });

  it("detects a missing folder", async () => {
    await store.check();
    await rm(folder, { recursive: true });
    await expect(store.check()).rejects.toThrow();
  });
});
