import "fake-indexeddb/auto";

import { deviceStorage } from "@relicario/shared/contract";
import { openDB } from "idb";

import { setFavorite, trash } from "../operations/favorite-and-trash.ts";
import { list } from "../operations/list.ts";
import { protect } from "../operations/protect.ts";
import { purge } from "../operations/purge.ts";
import { rotate } from "../operations/rotate.ts";
import { resetAccount } from "../operations/reset-account.ts";
import { setDeviceKind } from "../operations/set-device-kind.ts";
import { unlock } from "../openers/unlock.ts";
import { update } from "../operations/update.ts";
import type { WrappedData } from "../device/device.ts";
import { utf8 } from "../seal/bytes.ts";
import type { FakeAccount } from "../testing/fake-account.ts";
import { createWorld, makePicture, textSecret, type World } from "../testing/world.ts";
import type { VaultSession } from "../session/vault-session.ts";

const { database: databaseName } = deviceStorage.rows;

/** Five secrets, which are two pages of the service; made once. */
let prepared: Promise<{ account: FakeAccount; ids: readonly string[] }> | null = null;

async function prepare(): Promise<{ account: FakeAccount; ids: readonly string[] }> {
  const world = createWorld();
  const laptop = await world.open();
  const ids = [(await protect(laptop, textSecret("A", makePicture("market")), {})).secretId];
  for (const title of ["B", "C", "D", "E"]) ids.push((await protect(laptop, textSecret(title), {})).secretId);
  return { account: world.service.snapshot(), ids };
}

async function openUnlocked(world: World, device: string): Promise<VaultSession> {
  const vault = await world.open(device);
  (await unlock(vault, makePicture("market"), {})).opener.wipe();
  return vault;
}

/** The rows of an own laptop were read once, and its page was closed. */
async function createLaptopWithCachedRows(): Promise<{ world: World; ids: readonly string[] }> {
  const { account, ids } = await (prepared ??= prepare());
  const world = createWorld();
  world.service.account = structuredClone(account);
  const laptop = await openUnlocked(world, "laptop");
  await setDeviceKind(laptop, "own");
  await listTitles(laptop);
  world.service.calls.length = 0;
  return { world, ids };
}

/** Of the list, after what it begins to write was written. */
async function listTitles(vault: VaultSession): Promise<string[]> {
  const rows = await list(vault);
  await vault.list.waitForSave();
  return rows.map(({ label }) => label?.title ?? "").sort();
}

/** Rows of each page that the service gives from now on. */
function recordPageSizes(world: World): number[] {
  const pages: number[] = [];
  const { transformAnswer } = world.service;
  world.service.transformAnswer = (call, response) => {
    const result = transformAnswer(call, response);
    if (call === "GET /secrets/store") pages.push((result as { secrets: unknown[] }).secrets.length);
    return result;
  };
  return pages;
}

type Blocks = readonly (readonly [number, WrappedData])[];

async function readBlocks(world: World, device = "laptop"): Promise<Blocks> {
  const { name } = await world.openNamedDevice(device);
  const database = await openDB(databaseName, 1);
  const range = IDBKeyRange.bound([name], [name, []]);
  const [keys, values] = [await database.getAllKeys("blocks", range), await database.getAll("blocks", range)];
  database.close();
  return keys.map((key, index) => [(key as [string, number])[1], values[index] as WrappedData]);
}

async function putBlocks(world: World, blocks: Blocks, device = "laptop"): Promise<void> {
  const { name } = await world.openNamedDevice(device);
  const database = await openDB(databaseName, 1);
  for (const [block, value] of blocks) await database.put("blocks", value, [name, block]);
  database.close();
}

async function readHead(world: World): Promise<Readonly<Record<string, unknown>> | undefined> {
  const { name } = await world.openNamedDevice();
  const database = await openDB(databaseName, 1);
  const head = (await database.get("heads", name)) as Readonly<Record<string, unknown>> | undefined;
  database.close();
  return head;
}

async function putHead(world: World, change: Readonly<Record<string, unknown>>): Promise<void> {
  const before = await readHead(world);
  const { name } = await world.openNamedDevice();
  const database = await openDB(databaseName, 1);
  await database.put("heads", { ...before, ...change }, name);
  database.close();
}

/** What stands in the blocks, with the key of the device. */
async function readPlainBlocks(world: World): Promise<string> {
  const device = await world.openNamedDevice();
  const plain = await Promise.all((await readBlocks(world)).map(([, block]) => device.unwrap("rows", block)));
  return plain.map((bytes) => new TextDecoder().decode(bytes ?? new Uint8Array())).join("");
}

afterEach(() => {
  jest.restoreAllMocks();
});

describe("a page loaded later on an own device", () => {
  it("asks for what changed, and shows the same", async () => {
    const { world } = await createLaptopWithCachedRows();
    const pages = recordPageSizes(world);
    expect(await listTitles(await world.open())).toEqual(["A", "B", "C", "D", "E"]);
    expect(pages).toEqual([0]);
  });

  it("lays what other devices changed over it, and keeps that too", async () => {
    const {
      world,
      ids: [first = "", second = "", third = "", fourth = ""],
    } = await createLaptopWithCachedRows();
    const phone = await openUnlocked(world, "phone");
    await setFavorite(phone, first, true);
    await update(phone, second, { baseVersion: 1, title: "B anew" }, {});
    await trash(phone, third);
    await trash(phone, fourth);
    await purge(phone, [fourth]);
    await protect(phone, textSecret("F"), {});
    const pages = recordPageSizes(world);
    for (const expectedPages of [[3, 1], [0]]) {
      pages.length = 0;
      const laptop = await world.open();
      const rows = await list(laptop);
      await laptop.list.waitForSave();
      expect(rows.map(({ label, favorite, deletedAt }) => [label?.title, favorite, deletedAt !== null])).toEqual([
        ["A", true, false],
        ["B anew", false, false],
        ["C", false, true],
        ["E", false, false],
        ["F", false, false],
      ]);
      expect(pages).toEqual(expectedPages); // A, B, C, F; then nothing
    }
  });

  it("reads the list whole where the service no longer names what was purged", async () => {
    const { world } = await createLaptopWithCachedRows();
    world.service.transformAnswer = (call, response) => {
      if (call !== "GET /secrets/store") return response;
      const { purged: _, ...page } = response as { purged?: unknown };
      return page;
    };
    const pages = recordPageSizes(world);
    expect(await listTitles(await world.open())).toEqual(["A", "B", "C", "D", "E"]);
    expect(pages).toEqual([0, 3, 2]);
  });

  it("goes on after the account key was rotated elsewhere", async () => {
    const { world } = await createLaptopWithCachedRows();
    const phone = await openUnlocked(world, "phone");
    await rotate(phone, [makePicture("market")], {});
    const laptop = await openUnlocked(world, "laptop");
    expect(await listTitles(laptop)).toEqual(["A", "B", "C", "D", "E"]);
    expect(await listTitles(await world.open())).toEqual(["A", "B", "C", "D", "E"]);
  });

  it("goes on after the account was begun anew", async () => {
    const { world } = await createLaptopWithCachedRows();
    world.service.account.accountReset = "ready";
    const laptop = await world.open();
    await resetAccount(laptop, { presentedPicture: makePicture("forest"), name: "Forest" });
    expect(await listTitles(laptop)).toEqual([]);
    await protect(laptop, textSecret("After", makePicture("forest")), {});
    expect(await listTitles(laptop)).toEqual(["After"]);
    expect(await listTitles(await world.open())).toEqual(["After"]);
    expect(await readBlocks(world)).toHaveLength(1);
  });
});

describe("where rows are kept", () => {
  it("nothing readable stands: no title, under no key but that of titles", async () => {
    const { world } = await createLaptopWithCachedRows();
    const text = await readPlainBlocks(world);
    expect(text).toContain('"label":"ey');
    expect(text).not.toContain("paper");
    expect((await readBlocks(world)).map(([, { data }]) => Buffer.from(data).includes("label"))).not.toContain(true);
  });

  it.each(["shared", null] as const)("there are none of a device that is not the person's own (%s)", async (kind) => {
    const { account } = await (prepared ??= prepare());
    const world = createWorld();
    world.service.account = structuredClone(account);
    const laptop = await openUnlocked(world, "laptop");
    if (kind !== null) await setDeviceKind(laptop, kind);
    expect(await listTitles(laptop)).toHaveLength(5);
    expect(await readBlocks(world)).toEqual([]);
  });

  it("they go when the device becomes a shared one", async () => {
    const { world } = await createLaptopWithCachedRows();
    const laptop = await world.open();
    await list(laptop);
    await setDeviceKind(laptop, "shared");
    expect([await readBlocks(world), await readHead(world)]).toEqual([[], undefined]);
  });

  it("a full disk costs nothing but the reading, and leaves nothing half", async () => {
    const { account } = await (prepared ??= prepare());
    const world = createWorld();
    world.service.account = structuredClone(account);
    const laptop = await openUnlocked(world, "laptop");
    await setDeviceKind(laptop, "own");
    const { put } = IDBObjectStore.prototype;
    jest.spyOn(IDBObjectStore.prototype, "put").mockImplementation(function (this: IDBObjectStore, ...parameters) {
      if (this.name === "blocks" || this.name === "heads") throw new DOMException("full", "QuotaExceededError");
      return put.apply(this, parameters);
    });
    expect(await listTitles(laptop)).toHaveLength(5);
    jest.restoreAllMocks();
    expect([await readBlocks(world), await readHead(world)]).toEqual([[], undefined]);
  });
});

describe("two tabs", () => {
  it("keep one list, whoever writes last", async () => {
    const {
      world,
      ids: [first = "", second = ""],
    } = await createLaptopWithCachedRows();
    const [firstTab, secondTab] = [await world.open(), await world.open()];
    await Promise.all([listTitles(firstTab), listTitles(secondTab)]);
    await update(firstTab, first, { baseVersion: 1, title: "A anew" }, {});
    await listTitles(firstTab);
    await update(secondTab, second, { baseVersion: 1, title: "B anew" }, {});
    await listTitles(secondTab);
    await setFavorite(firstTab, first, true);
    await Promise.all([listTitles(firstTab), listTitles(secondTab)]);
    const pages = recordPageSizes(world);
    expect(await listTitles(await world.open())).toEqual(["A anew", "B anew", "C", "D", "E"]);
    expect(pages).toEqual([0]);
  });
});

describe("whoever edits what is kept", () => {
  it.each<[string, (world: World, ids: readonly string[]) => Promise<void>]>([
    [
      "a byte",
      async (world) => {
        const blocks = await readBlocks(world);
        for (const [, { data }] of blocks) data[data.length >> 1] = (data[data.length >> 1] ?? 0) ^ 1;
        await putBlocks(world, blocks);
      },
    ],
    ["the counter, to one that is ahead", (world) => putHead(world, { changes: 1_000 })],
    ["what the counter is of", (world) => putHead(world, { v: 2 })],
    [
      "a row away",
      async (world) => {
        const [[block] = [0]] = await readBlocks(world);
        await putBlocks(world, [[block, await (await world.openNamedDevice()).wrap("rows", utf8("[]"))]]);
      },
    ],
    [
      "a block that is no list",
      async (world) => putBlocks(world, [[0, await (await world.openNamedDevice()).wrap("rows", utf8("{}"))]]),
    ],
    [
      "labels for each other's, with the key of the device",
      async (world) => {
        const device = await world.openNamedDevice();
        const rows = JSON.parse((await readPlainBlocks(world)).replaceAll("][", ",")) as {
          row: { secret_db_id: string; label: string };
        }[];
        const swapped = rows.map((entry, index) => ({
          ...entry,
          row: { ...entry.row, label: rows[(index + 1) % rows.length]?.row.label ?? "" },
        }));
        const blocks = await readBlocks(world);
        for (const [block] of blocks)
          await putBlocks(world, [
            [
              block,
              await device.wrap(
                "rows",
                utf8(
                  JSON.stringify(
                    swapped.filter(({ row }) => Number.parseInt(row.secret_db_id.slice(-2), 16) % 64 === block),
                  ),
                ),
              ),
            ],
          ]);
      },
    ],
  ])("and changes %s makes the list be read whole, and nothing else", async (_case, edit) => {
    const { world, ids } = await createLaptopWithCachedRows();
    await edit(world, ids);
    const pages = recordPageSizes(world);
    expect(await listTitles(await world.open())).toEqual(["A", "B", "C", "D", "E"]);
    expect(pages.slice(-2)).toEqual([3, 2]);
    expect(await listTitles(await world.open())).toEqual(["A", "B", "C", "D", "E"]);
    expect(pages.slice(-1)).toEqual([0]); // what was read is kept again
  });

  it("and puts an older copy of some rows back is found out by the state", async () => {
    const {
      world,
      ids: [first = ""],
    } = await createLaptopWithCachedRows();
    const older = await readBlocks(world);
    const laptop = await world.open();
    await update(laptop, first, { baseVersion: 1, title: "A anew" }, {});
    await listTitles(laptop);
    await putBlocks(world, older);
    expect(await listTitles(await world.open())).toEqual(["A anew", "B", "C", "D", "E"]);
  });

  it("and brings what another account of this browser keeps gets none of it in", async () => {
    const { world } = await createLaptopWithCachedRows();
    const stranger = await createLaptopWithCachedRows();
    await putBlocks(world, await readBlocks(stranger.world));
    const pages = recordPageSizes(world);
    expect(await listTitles(await world.open())).toEqual(["A", "B", "C", "D", "E"]);
    expect(pages).toEqual([3, 2]);
  });
});

describe("a service that gives changes to a device that keeps rows", () => {
  it("is refused with an older account, as ever", async () => {
    const { world } = await createLaptopWithCachedRows();
    const earlier = world.service.snapshot();
    const laptop = await world.open();
    await protect(laptop, textSecret("F"), {});
    await listTitles(laptop);
    world.service.account = earlier;
    await expect(list(await world.open())).rejects.toMatchObject({ code: "older_state" });
    expect(await readBlocks(world)).toEqual([]);
  });

  it("is refused when it holds a change back, whether changes or all is asked", async () => {
    const {
      world,
      ids: [first = ""],
    } = await createLaptopWithCachedRows();
    const stale = (world.service.account.rows.get(first)?.versions ?? [])[0]?.label;
    const phone = await openUnlocked(world, "phone");
    await update(phone, first, { baseVersion: 1, title: "A anew" }, {});
    world.service.transformAnswer = (call, response) => {
      if (call !== "GET /secrets/store") return response;
      const page = response as { secrets: { secret_db_id: string; label: string }[] };
      return {
        ...page,
        secrets: page.secrets.map((row) => (row.secret_db_id === first ? { ...row, label: stale } : row)),
      };
    };
    await expect(list(await world.open())).rejects.toMatchObject({ code: "list_mismatch" });
    world.service.transformAnswer = (_call, response) => response;
    expect(await listTitles(await world.open())).toEqual(["A anew", "B", "C", "D", "E"]);
  });

  it("is asked for everything when its counters went back though the state did not", async () => {
    const { world } = await createLaptopWithCachedRows();
    world.service.account.changes = 1;
    const pages = recordPageSizes(world);
    expect(await listTitles(await world.open())).toEqual(["A", "B", "C", "D", "E"]);
    expect(pages).toEqual([0, 3, 2]);
  });
});
