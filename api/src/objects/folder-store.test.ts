import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";

import { openFolderStore } from "./folder-store.ts";
import { MissingObjectError, type ObjectStore } from "./object-store.ts";

const account = "019a9e2c-7c1e-7abc-8def-0123456789ab";
const key = `${account}/019a9e2c-7c1e-7abc-8def-0123456789ac/1-abc`;

let folder: string;
let store: ObjectStore;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "relicario-store-"));
  store = await openFolderStore(folder);
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const listFiles = async (): Promise<string[]> =>
  (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name);

describe("openFolderStore", () => {
  it("gives back what was put, bytes or a stream, readable by its owner alone", async () => {
    await store.put(key, Buffer.from("sealed"));
    expect(await text(await store.read(key))).toBe("sealed");
    await store.put(`${key}2`, Readable.from([Buffer.from("in "), Buffer.from("pieces")]));
    expect(await text(await store.read(`${key}2`))).toBe("in pieces");
    expect((await stat(join(folder, key))).mode & 0o077).toBe(0);
  });

  it("leaves nothing when a stream breaks off", async () => {
    const brokenStream = Readable.from(
      (async function* () {
        yield Buffer.from("half");
        throw new Error("connection lost");
      })(),
    );
    await expect(store.put(key, brokenStream)).rejects.toThrow("connection lost");
    await expect(store.read(key)).rejects.toBeInstanceOf(MissingObjectError);
    expect(await listFiles()).toEqual([]);
  });

  it("says that an object is missing, and deletes what is not there without a word", async () => {
    await expect(store.read(key)).rejects.toBeInstanceOf(MissingObjectError);
    await store.delete(key);
    await store.put(key, Buffer.from("x"));
    await store.delete(key);
    await store.delete(key);
    expect(await listFiles()).toEqual([]);
  });

  it.each(["../outside", `${account}/../../etc/passwd`, "/etc/passwd", `${key}/more`, "", `${account}/x/1-a`])(
    "refuses the key %j",
    async (invalidKey) => {
      await expect(store.put(invalidKey, Buffer.from("x"))).rejects.toThrow(TypeError);
      await expect(store.read(invalidKey)).rejects.toThrow(TypeError);
      await expect(store.delete(invalidKey)).rejects.toThrow(TypeError);
    },
  );

  it("notices when its folder is gone", async () => {
    await store.checkWritable();
    await rm(folder, { recursive: true });
    await expect(store.checkWritable()).rejects.toThrow();
  });
});
