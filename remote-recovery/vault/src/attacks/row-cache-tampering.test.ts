import "fake-indexeddb/auto";

import { deviceStorage } from "@relicario/shared/contract";
import { openDB } from "idb";

import { setFavorite, moveToTrash } from "../operations/favorite-and-trash.ts";
import { list } from "../operations/list.ts";
import { protect } from "../operations/protect.ts";
import { purge } from "../operations/purge.ts";
import { rotateAccountKey } from "../operations/rotate.ts";
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

/** An account of five secrets, two pages at the service; created once. */
let preparedAccount: Promise<{ account: FakeAccount; ids: readonly string[] }> | null = null;

async function prepareAccount(): Promise<{ account: FakeAccount; ids: readonly string[] }> {
  const world = createWorld();
  const laptop = await world.open();
  const ids = [(await protect(laptop, textSecret("A", makePicture("market")), {})).secretId];
  for (const title of ["B", "C", "D", "E"]) ids.push((await protect(laptop, textSecret(title), {})).secretId);
  return { account: world.service.snapshot(), ids };
}

async function openUnlocked(world: World, device = "laptop"): Promise<VaultSession> {
  const vault = await world.open(device);
  (await unlock(vault, makePicture("market"), {})).opener.wipe();
  return vault;
}

/** Lists the rows once on the user's own laptop, then closes the page. */
async function createLaptopWithCachedRows(): Promise<{ world: World; ids: readonly string[] }> {
  const { account, ids } = await (preparedAccount ??= prepareAccount());
  const world = createWorld();
  world.service.account = structuredClone(account);
  const laptop = await openUnlocked(world, "laptop");
  await setDeviceKind(laptop, "own");
  await listTitles(laptop);
  world.service.calls.length = 0;
  return { world, ids };
}

/** Titles of the list, after its rows are saved. */
async function listTitles(vault: VaultSession): Promise<string[]> {
  const rows = await list(vault);
  await vault.listCache.waitForSave();
  return rows.map(({ label }) => label?.title ?? "").sort();
}

/** Records the number of rows per page that the service sends after this call. */
function recordPageSizes(world: World): number[] {
  const pageSizes: number[] = [];
  const { transformResponse } = world.service;
  world.service.transformResponse = (call, response) => {
    const result = transformResponse(call, response);
    if (call === "GET /secrets/store") pageSizes.push((result as { secrets: unknown[] }).secrets.length);
    return result;
  };
  return pageSizes;
}

type Blocks = readonly (readonly [number, WrappedData])[];

async function readBlocks(world: World, device = "laptop"): Promise<Blocks> {
  const { storageKey } = await world.openNamedDevice(device);
  const database = await openDB(databaseName, 1);
  const range = IDBKeyRange.bound([storageKey], [storageKey, []]);
  const [keys, values] = [await database.getAllKeys("blocks", range), await database.getAll("blocks", range)];
  database.close();
  return keys.map((key, index) => [(key as [string, number])[1], values[index] as WrappedData]);
}

async function putBlocks(world: World, blocks: Blocks, device = "laptop"): Promise<void> {
  const { storageKey } = await world.openNamedDevice(device);
  const database = await openDB(databaseName, 1);
  for (const [block, value] of blocks) await database.put("blocks", value, [storageKey, block]);
  database.close();
}

async function readHead(world: World): Promise<Readonly<Record<string, unknown>> | undefined> {
  const { storageKey } = await world.openNamedDevice();
  const database = await openDB(databaseName, 1);
  const head = (await database.get("heads", storageKey)) as Readonly<Record<string, unknown>> | undefined;
  database.close();
  return head;
}

async function putHead(world: World, change: Readonly<Record<string, unknown>>): Promise<void> {
  const head = await readHead(world);
  const { storageKey } = await world.openNamedDevice();
  const database = await openDB(databaseName, 1);
  await database.put("heads", { ...head, ...change }, storageKey);
  database.close();
}

/** Decrypts the blocks with the device key. */
async function readPlainBlocks(world: World): Promise<string> {
  const device = await world.openNamedDevice();
  const plaintexts = await Promise.all((await readBlocks(world)).map(([, block]) => device.unwrap("rows", block)));
  return plaintexts.map((bytes) => new TextDecoder().decode(bytes ?? new Uint8Array())).join("");
}

afterEach(() => {
  jest.restoreAllMocks();
});

describe("a page loaded later on the user's own device", () => {
  it("requests only changes, and shows the same list", async () => {
    const { world } = await createLaptopWithCachedRows();
    const pageSizes = recordPageSizes(world);
    expect(await listTitles(await world.open())).toEqual(["A", "B", "C", "D", "E"]);
    expect(pageSizes).toEqual([0]);
  });

  it("merges and saves changes of other devices", async () => {
    const {
      world,
      ids: [firstId = "", secondId = "", thirdId = "", fourthId = ""],
    } = await createLaptopWithCachedRows();
    const phone = await openUnlocked(world, "phone");
    await setFavorite(phone, firstId, true);
    await update(phone, secondId, { baseVersion: 1, title: "B renamed" }, {});
    await moveToTrash(phone, thirdId);
    await moveToTrash(phone, fourthId);
    await purge(phone, [fourthId]);
    await protect(phone, textSecret("F"), {});
    const pageSizes = recordPageSizes(world);
    for (const expectedPageSizes of [[3, 1], [0]]) {
      pageSizes.length = 0;
      const laptop = await world.open();
      const rows = await list(laptop);
      await laptop.listCache.waitForSave();
      expect(rows.map(({ label, favorite, deletedAt }) => [label?.title, favorite, deletedAt !== null])).toEqual([
        ["A", true, false],
        ["B renamed", false, false],
        ["C", false, true],
        ["E", false, false],
        ["F", false, false],
      ]);
      expect(pageSizes).toEqual(expectedPageSizes); // A, B, C, F; then no changes
    }
  });

  it("reads the whole list if the service does not name purged secrets", async () => {
    const { world } = await createLaptopWithCachedRows();
    world.service.transformResponse = (call, response) => {
      if (call !== "GET /secrets/store") return response;
      const { purged: _, ...page } = response as { purged?: unknown };
      return page;
    };
    const pageSizes = recordPageSizes(world);
    expect(await listTitles(await world.open())).toEqual(["A", "B", "C", "D", "E"]);
    expect(pageSizes).toEqual([0, 3, 2]);
  });

  it("continues after the account key was replaced elsewhere", async () => {
    const { world } = await createLaptopWithCachedRows();
    const phone = await openUnlocked(world, "phone");
    await rotateAccountKey(phone, [makePicture("market")], {});
    const laptop = await openUnlocked(world, "laptop");
    expect(await listTitles(laptop)).toEqual(["A", "B", "C", "D", "E"]);
    expect(await listTitles(await world.open())).toEqual(["A", "B", "C", "D", "E"]);
  });

  it("continues after an account reset", async () => {
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

describe("saved rows", () => {
  it("contain nothing readable: labels stay sealed with the metadata keys", async () => {
    const { world } = await createLaptopWithCachedRows();
    const text = await readPlainBlocks(world);
    expect(text).toContain('"label":"ey');
    expect(text).not.toContain("paper");
    expect((await readBlocks(world)).map(([, { data }]) => Buffer.from(data).includes("label"))).not.toContain(true);
  });

  it.each(["shared", null] as const)("do not exist on a device that is not the user's own (%s)", async (kind) => {
    const { account } = await (preparedAccount ??= prepareAccount());
    const world = createWorld();
    world.service.account = structuredClone(account);
    const laptop = await openUnlocked(world, "laptop");
    if (kind !== null) await setDeviceKind(laptop, kind);
    expect(await listTitles(laptop)).toHaveLength(5);
    expect(await readBlocks(world)).toEqual([]);
  });

  it("are deleted when the device becomes a shared one", async () => {
    const { world } = await createLaptopWithCachedRows();
    const laptop = await world.open();
    await list(laptop);
    await setDeviceKind(laptop, "shared");
    expect([await readBlocks(world), await readHead(world)]).toEqual([[], undefined]);
  });

  it("are not saved at all on a full disk, and the list still opens", async () => {
    const { account } = await (preparedAccount ??= prepareAccount());
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
  it("keep one list, whichever writes last", async () => {
    const {
      world,
      ids: [firstId = "", secondId = ""],
    } = await createLaptopWithCachedRows();
    const [firstTab, secondTab] = [await world.open(), await world.open()];
    await Promise.all([listTitles(firstTab), listTitles(secondTab)]);
    await update(firstTab, firstId, { baseVersion: 1, title: "A renamed" }, {});
    await listTitles(firstTab);
    await update(secondTab, secondId, { baseVersion: 1, title: "B renamed" }, {});
    await listTitles(secondTab);
    await setFavorite(firstTab, firstId, true);
    await Promise.all([listTitles(firstTab), listTitles(secondTab)]);
    const pageSizes = recordPageSizes(world);
    expect(await listTitles(await world.open())).toEqual(["A renamed", "B renamed", "C", "D", "E"]);
    expect(pageSizes).toEqual([0]);
  });
});

describe("an attacker who edits saved rows", () => {
  it.each<[string, (world: World, ids: readonly string[]) => Promise<void>]>([
    [
      "a byte",
      async (world) => {
        const blocks = await readBlocks(world);
        for (const [, { data }] of blocks) data[data.length >> 1] = (data[data.length >> 1] ?? 0) ^ 1;
        await putBlocks(world, blocks);
      },
    ],
    ["the counter to a later one", (world) => putHead(world, { changes: 1_000 })],
    ["the version of the head", (world) => putHead(world, { v: 2 })],
    [
      "a block to an empty list",
      async (world) => {
        const [[block] = [0]] = await readBlocks(world);
        await putBlocks(world, [[block, await (await world.openNamedDevice()).wrap("rows", utf8("[]"))]]);
      },
    ],
    [
      "a block to an object",
      async (world) => putBlocks(world, [[0, await (await world.openNamedDevice()).wrap("rows", utf8("{}"))]]),
    ],
    [
      "labels, swapped with the device key",
      async (world) => {
        const device = await world.openNamedDevice();
        const rows = JSON.parse((await readPlainBlocks(world)).replaceAll("][", ",")) as {
          row: { secret_db_id: string; label: string };
        }[];
        const swappedRows = rows.map((entry, index) => ({
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
                    swappedRows.filter(({ row }) => Number.parseInt(row.secret_db_id.slice(-2), 16) % 64 === block),
                  ),
                ),
              ),
            ],
          ]);
      },
    ],
  ])("and changes %s only causes the whole list to be read", async (_case, edit) => {
    const { world, ids } = await createLaptopWithCachedRows();
    await edit(world, ids);
    const pageSizes = recordPageSizes(world);
    expect(await listTitles(await world.open())).toEqual(["A", "B", "C", "D", "E"]);
    expect(pageSizes.slice(-2)).toEqual([3, 2]);
    expect(await listTitles(await world.open())).toEqual(["A", "B", "C", "D", "E"]);
    expect(pageSizes.slice(-1)).toEqual([0]); // the rows were saved again
  });

  it("and restores an older copy of some rows is detected by the state", async () => {
    const {
      world,
      ids: [firstId = ""],
    } = await createLaptopWithCachedRows();
    const olderBlocks = await readBlocks(world);
    const laptop = await world.open();
    await update(laptop, firstId, { baseVersion: 1, title: "A renamed" }, {});
    await listTitles(laptop);
    await putBlocks(world, olderBlocks);
    expect(await listTitles(await world.open())).toEqual(["A renamed", "B", "C", "D", "E"]);
  });

  it("and copies rows of another account gets none of these accepted", async () => {
    const { world } = await createLaptopWithCachedRows();
    const stranger = await createLaptopWithCachedRows();
    await putBlocks(world, await readBlocks(stranger.world));
    const pageSizes = recordPageSizes(world);
    expect(await listTitles(await world.open())).toEqual(["A", "B", "C", "D", "E"]);
    expect(pageSizes).toEqual([3, 2]);
  });
});

describe("a service that sends changes to a device with saved rows", () => {
  it("is refused with an older account", async () => {
    const { world } = await createLaptopWithCachedRows();
    const olderAccount = world.service.snapshot();
    const laptop = await openUnlocked(world);
    await protect(laptop, textSecret("F"), {});
    await listTitles(laptop);
    world.service.account = olderAccount;
    await expect(list(await world.open())).rejects.toMatchObject({ code: "older_state" });
    expect(await readBlocks(world)).toEqual([]);
  });

  it("is refused when it withholds a change, in the changes or in the whole list", async () => {
    const {
      world,
      ids: [firstId = ""],
    } = await createLaptopWithCachedRows();
    const staleLabel = (world.service.account.rows.get(firstId)?.versions ?? [])[0]?.label;
    const phone = await openUnlocked(world, "phone");
    await update(phone, firstId, { baseVersion: 1, title: "A renamed" }, {});
    world.service.transformResponse = (call, response) => {
      if (call !== "GET /secrets/store") return response;
      const page = response as { secrets: { secret_db_id: string; label: string }[] };
      return {
        ...page,
        secrets: page.secrets.map((row) => (row.secret_db_id === firstId ? { ...row, label: staleLabel } : row)),
      };
    };
    await expect(list(await world.open())).rejects.toMatchObject({ code: "list_mismatch" });
    world.service.transformResponse = (_call, response) => response;
    expect(await listTitles(await world.open())).toEqual(["A renamed", "B", "C", "D", "E"]);
  });

  it("is asked for the whole list when its change counter is lower but the state is not", async () => {
    const { world } = await createLaptopWithCachedRows();
    world.service.account.changes = 1;
    const pageSizes = recordPageSizes(world);
    expect(await listTitles(await world.open())).toEqual(["A", "B", "C", "D", "E"]);
    expect(pageSizes).toEqual([0, 3, 2]);
  });
});
