/** @jest-environment node */
import "fake-indexeddb/auto";

import { buildAccountStorageKey, type DeviceAccount } from "@relicario/shared/contract";
import { IDBFactory } from "fake-indexeddb";
import { openDB } from "idb";

import { listStoredAccounts } from "../device/accounts.ts";
import { requirePinnedUserId } from "../device/pinned-user-id.ts";
import { createSweeps, type SweepKind } from "../device/sweeps.ts";
import { originVaultStorage } from "../device/vault-storage.ts";
import { readAllDatabases, installPrivateFiles, fillDevice, createOriginStorage } from "../testing/device.ts";

const ana: DeviceAccount = { vendorId: "relicario", issuer: "https://id.example", subject: "ana" };
const ben: DeviceAccount = { ...ana, subject: "ben" };
const userId = "01890a5d-ac96-7000-8000-000000000001";
const unclaimedDevice = { kind: null, remembered: { root: "of ana" }, pending: "of ana", locked: false };

const getVaultStorage = () => Promise.resolve(originVaultStorage);

/** Local storage of the origin, and the sweeps of successive pages. */
function createOrigin() {
  const { items: marks, storage } = createOriginStorage();
  const dropLinkSecret = jest.fn(() => Promise.resolve());
  const log = jest.fn();
  const createPageSweeps = () => createSweeps({ storage, now: () => 5_000, dropLinkSecret, getVaultStorage, log });
  return {
    marks,
    dropLinkSecret,
    log,
    createPageSweeps,
    sweep: (kind: SweepKind, person: DeviceAccount | null = ana) => createPageSweeps().prepare(kind, person)(),
  };
}

const pin = (account: DeviceAccount, id = userId) => requirePinnedUserId(account, id, () => true);
const readAllAsJson = async () => JSON.stringify(await readAllDatabases());

/** Archives a record as the vault does when it cannot read it. */
async function archiveRecord(account: DeviceAccount, record: unknown): Promise<void> {
  const database = await openDB("relicario-vault");
  await database.put("accounts", record, `${buildAccountStorageKey(account)} set aside 2026-11-22T10:00:00.000Z`);
  database.close();
}

beforeEach(() => {
  globalThis.indexedDB = new IDBFactory();
});

describe("a person who uses a shared computer after another", () => {
  it.each([
    ["shared", { ...unclaimedDevice, kind: "shared" }],
    ["not answered", unclaimedDevice],
    ["of an unknown version", { v: 99, what: "of ana" }],
    ["damaged", "of ana"],
  ])("finds no data of that person, even if no screen loaded the vault (device: %s)", async (_kind, record) => {
    const { files } = installPrivateFiles();
    files.set("plaintext", "closed");
    await fillDevice(ana, record as Record<string, unknown>, ["u1", "u2"]);
    await pin(ana);
    const { sweep, marks, dropLinkSecret } = createOrigin();
    await sweep("sign_out");
    expect(await readAllAsJson()).not.toContain("ana");
    expect(Object.values(await readAllDatabases()).flat()).toEqual([]); // the device key too: this was the last account
    expect(files.size).toBe(0);
    expect(marks.size).toBe(0);
    expect(dropLinkSecret).toHaveBeenCalledTimes(1);
  });

  it("finds no database created by a sweep", async () => {
    installPrivateFiles();
    await createOrigin().sweep("sign_out");
    expect((await indexedDB.databases()).map(({ name }) => name)).toEqual(["relicario-host"]);
  });

  it("finds no uploads, even those without an account record", async () => {
    installPrivateFiles();
    await fillDevice(ana, null, ["u1"]);
    await createOrigin().sweep("sign_out");
    expect(Object.values(await readAllDatabases()).flat()).toEqual([]);
  });

  it("keeps their own account", async () => {
    installPrivateFiles();
    await fillDevice(ana, unclaimedDevice, ["u1"]);
    await fillDevice(ben, { ...unclaimedDevice, kind: "shared" }, ["u2"]);
    await pin(ben);
    await createOrigin().sweep("sign_out");
    expect(await listStoredAccounts(ana, originVaultStorage)).toEqual([]);
    expect(await listStoredAccounts(ben, originVaultStorage)).toEqual([
      { storageKey: buildAccountStorageKey(ben), kind: "shared", uploadCount: 1 },
    ]);
    expect(Object.values(await readAllDatabases()).flat()).toHaveLength(4); // record, upload, account id, device key
  });

  it("gains nothing by closing the page early: the next page finishes the sweep", async () => {
    installPrivateFiles();
    await fillDevice(ana, unclaimedDevice, ["u1"]);
    const { createPageSweeps, marks, dropLinkSecret } = createOrigin();
    createPageSweeps().prepare("sign_out", ana); // the page is closed here
    expect([...marks.keys()].sort()).toEqual([
      expect.stringMatching(/^sweep\.files\.[0-9a-f-]{36}$/),
      expect.stringMatching(/^sweep\.sign_out\.[0-9a-f-]{36}$/),
    ]);
    await createPageSweeps().finishMarked();
    expect(Object.values(await readAllDatabases()).flat()).toEqual([]);
    expect(marks.size).toBe(0);
    expect(dropLinkSecret).not.toHaveBeenCalled(); // finishing another page's sweep leaves this tab's link secret alone
  });

  it("gains nothing by a full disk, which prevents storing the mark", async () => {
    installPrivateFiles();
    await fillDevice(ana, unclaimedDevice, ["u1"]);
    const storage = {
      ...createOriginStorage().storage,
      setItem: () => {
        throw new DOMException("full", "QuotaExceededError");
      },
    };
    const log = jest.fn();
    const dropLinkSecret = () => Promise.resolve();
    await createSweeps({ storage, now: () => 5_000, dropLinkSecret, getVaultStorage, log }).prepare("sign_out", ana)();
    expect(Object.values(await readAllDatabases()).flat()).toEqual([]);
    expect(log).toHaveBeenCalledTimes(2); // once for each part
  });

  it("gains nothing by a sweep of a signed-out tab that ends first", async () => {
    installPrivateFiles();
    await fillDevice(ana, unclaimedDevice, ["u1"]);
    const { createPageSweeps, marks } = createOrigin();
    createPageSweeps().prepare("sign_out", ana); // the page is closed here
    await createPageSweeps().prepare("sign_out", null)();
    await createPageSweeps().finishMarked();
    expect(Object.values(await readAllDatabases()).flat()).toEqual([]);
    expect(marks.size).toBe(0);
  });

  it("finds no account id that arrived while that person signed out", async () => {
    installPrivateFiles();
    let isSessionActive = true;
    const pinning = requirePinnedUserId(ana, userId, () => isSessionActive); // opening its database
    isSessionActive = false;
    await expect(pinning).rejects.toMatchObject({ code: "cancelled" });
    await createOrigin().sweep("sign_out");
    expect(Object.values(await readAllDatabases()).flat()).toEqual([]);
  });

  it("cannot make a starting page wipe data without a mark", async () => {
    const { files } = installPrivateFiles();
    files.set("of a page that lives", "closed");
    await fillDevice(ana, unclaimedDevice, ["u1"]);
    const contentsBefore = await readAllAsJson();
    await createOrigin().createPageSweeps().finishMarked();
    expect(await readAllAsJson()).toBe(contentsBefore);
    expect(files.size).toBe(1);
  });
});

describe("a person who takes another's own device, signed out", () => {
  it("finds the account locked, with its uploads and record", async () => {
    installPrivateFiles();
    const record = { ...unclaimedDevice, kind: "own", member_of_a_later_version: 1 };
    await fillDevice(ana, record, ["u1"]);
    await pin(ana);
    const { sweep } = createOrigin();
    await sweep("sign_out");
    const contents = await readAllDatabases();
    expect(contents["relicario-vault/accounts"]).toEqual([
      [buildAccountStorageKey(ana), { ...record, locked: true, lockedAt: 5_000 }],
    ]);
    expect(contents["relicario-uploads/uploads"]).toHaveLength(1);
    expect(contents["relicario-vault/keys"]).toHaveLength(1);
    await expect(pin(ana, "01890a5d-ac96-7000-8000-000000000002")).rejects.toMatchObject({ code: "account_changed" });
  });

  it("finds the account locked, not wiped, if only its archived record says whose device this is", async () => {
    installPrivateFiles();
    await fillDevice(ana, unclaimedDevice, ["u1"]);
    await archiveRecord(ana, { kind: "own", remembered: "the only memory" });
    await createOrigin().sweep("sign_out");
    const contents = await readAllDatabases();
    expect(contents["relicario-vault/accounts"]).toHaveLength(2);
    expect(contents["relicario-uploads/uploads"]).toHaveLength(1);
    expect(contents["relicario-vault/keys"]).toHaveLength(1);
  });

  it.each([
    ["answered that the device is shared", "sign_out", { ...unclaimedDevice, kind: "shared" }],
    ["made the device forget an account with only archived records", "forget", null],
  ] as const)("finds no archived records once the owner %s", async (_when, kind, record) => {
    installPrivateFiles();
    await fillDevice(ana, record);
    await archiveRecord(ana, { kind: "own", remembered: "the only memory" });
    await createOrigin().sweep(kind);
    expect(Object.values(await readAllDatabases()).flat()).toEqual([]);
  });

  it("finds no data once the owner made the device forget the account", async () => {
    installPrivateFiles();
    await fillDevice(ana, { ...unclaimedDevice, kind: "own" }, ["u1"]);
    await pin(ana);
    await createOrigin().sweep("forget");
    expect(Object.values(await readAllDatabases()).flat()).toEqual([]);
  });
});

describe("sealed rows of the list", () => {
  it.each([
    ["sign_out", { ...unclaimedDevice, kind: "own" }],
    ["sign_out", { ...unclaimedDevice, kind: "shared" }],
    ["sign_out", null],
    ["forget", { ...unclaimedDevice, kind: "own" }],
  ] as const)("are wiped when the session ends (%s, %j), and those of other people stay", async (kind, record) => {
    installPrivateFiles();
    await fillDevice(ana, record, [], true);
    await fillDevice(ben, { ...unclaimedDevice, kind: "own" }, [], true);
    await createOrigin().sweep(kind);
    const contents = await readAllDatabases();
    expect(contents["relicario-rows/heads"]).toEqual([
      [buildAccountStorageKey(ben), { of: buildAccountStorageKey(ben) }],
    ]);
    expect(contents["relicario-rows/blocks"]).toHaveLength(2);
    expect(JSON.stringify([contents["relicario-rows/heads"], contents["relicario-rows/blocks"]])).not.toContain("ana");
  });

  it("stay when the portal locks", async () => {
    installPrivateFiles();
    await fillDevice(ana, { ...unclaimedDevice, kind: "own" }, [], true);
    await createOrigin().sweep("lock");
    expect((await readAllDatabases())["relicario-rows/blocks"]).toHaveLength(2);
  });
});

describe("an unfinished sweep, after the person has signed in again", () => {
  /** A file of a frozen tab, which stays open past the time limit. */
  const withStuckFile = () => {
    const { files } = installPrivateFiles();
    files.set("of a frozen tab", "open");
    jest.spyOn(AbortSignal, "timeout").mockImplementation(() => AbortSignal.abort());
    return files;
  };
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it.each([
    ["forget", { ...unclaimedDevice, kind: "own" }],
    ["sign_out", { ...unclaimedDevice, kind: "shared" }],
  ] as const)(
    "wipes nothing stored after that, however many pages start while a file stays open (%s)",
    async (kind, record) => {
      const files = withStuckFile();
      await fillDevice(ana, record, ["old"]);
      const { sweep, createPageSweeps, marks } = createOrigin();
      await expect(sweep(kind)).rejects.toThrow();
      expect((await readAllDatabases())["relicario-uploads/uploads"]).toEqual([]);
      await fillDevice(ana, record, ["the only key of a new content"]);
      await pin(ana);
      const before = await readAllAsJson();
      await createPageSweeps().finishMarked();
      await createPageSweeps().finishMarked();
      expect(await readAllAsJson()).toBe(before);
      expect([...marks.keys()]).toEqual([expect.stringMatching(/^sweep\.files\./)]);

      files.set("of a frozen tab", "closed");
      await createPageSweeps().finishMarked();
      expect(files.size).toBe(0);
      expect(marks.size).toBe(0);
    },
  );

  it("does not lock the account on their own device", async () => {
    withStuckFile();
    const record = { ...unclaimedDevice, kind: "own" };
    await fillDevice(ana, record);
    const { sweep, createPageSweeps } = createOrigin();
    await expect(sweep("sign_out")).rejects.toThrow();
    await fillDevice(ana, record); // the vault unlocked it
    await createPageSweeps().finishMarked();
    expect((await readAllDatabases())["relicario-vault/accounts"]).toEqual([[buildAccountStorageKey(ana), record]]);
  });

  it("is cancelled for that person and continues for other people when databases are slow", async () => {
    installPrivateFiles();
    await fillDevice(ana, unclaimedDevice, ["u1"]);
    await fillDevice(ben, unclaimedDevice, ["u2"]);
    const { createPageSweeps, marks, log } = createOrigin();
    createPageSweeps().prepare("sign_out", ana);
    createPageSweeps().prepare("sign_out", ben);
    const pageSweeps = createPageSweeps();
    const finishing = pageSweeps.finishMarked(); // not awaited by the page
    pageSweeps.cancelMarked(ana);
    await finishing;
    expect(await listStoredAccounts(ana, originVaultStorage)).toHaveLength(1);
    expect(await listStoredAccounts(ben, originVaultStorage)).toEqual([]);
    expect(marks.size).toBe(0);
    expect(log).not.toHaveBeenCalled();
  });

  it("is not cancelled once that person signs out again", async () => {
    installPrivateFiles();
    await fillDevice(ana, unclaimedDevice, ["u1"]);
    const { createPageSweeps, marks } = createOrigin();
    const laterSweeps = createPageSweeps();
    await laterSweeps.finishMarked();
    laterSweeps.prepare("sign_out", ana);
    laterSweeps.cancelMarked(ana); // called by an exchange that was in progress
    expect(marks.size).toBe(2);
  });

  it("is not disturbed by a forged mark", async () => {
    installPrivateFiles();
    const { createPageSweeps, marks, log } = createOrigin();
    marks.set(`sweep.forget.${crypto.randomUUID()}`, "not JSON");
    await createPageSweeps().finishMarked();
    expect(marks.size).toBe(0);
    expect(log).not.toHaveBeenCalled();
  });
});

describe("a person who comes to a locked page", () => {
  it("finds no plaintext in private files of any page, and waiting uploads stay", async () => {
    const { files, closeFile } = installPrivateFiles();
    files.set("committed", "closed");
    files.set("still written", "open");
    await fillDevice(ana, { ...unclaimedDevice, kind: "own" }, ["u1"]);
    const before = await readAllAsJson();
    const { sweep, marks } = createOrigin();
    const sweeping = sweep("lock", null);
    await new Promise((resolve) => setImmediate(resolve));
    closeFile("still written"); // its worker has ended
    await sweeping;
    expect(files.size).toBe(0);
    expect(marks.size).toBe(0);
    expect(await readAllAsJson()).toBe(before);
  });

  it("finds no plaintext after the next page start when a file stayed open", async () => {
    const { files } = installPrivateFiles();
    const { createPageSweeps, marks } = createOrigin();
    files.set("stuck", "open");
    createPageSweeps().prepare("lock", null); // the page was closed while it waited
    files.set("stuck", "closed");
    await createPageSweeps().finishMarked();
    expect(files.size).toBe(0);
    expect(marks.size).toBe(0);
  });
});

describe("a service that names another account id", () => {
  it("is refused: the account id of a vendor, issuer and subject is pinned", async () => {
    await pin(ana);
    await pin(ana);
    const before = await readAllAsJson();
    await expect(pin(ana, "01890a5d-ac96-7000-8000-000000000002")).rejects.toMatchObject({ code: "account_changed" });
    expect(await readAllAsJson()).toBe(before);
    await pin({ ...ana, vendorId: "acme" }, "01890a5d-ac96-7000-8000-000000000002"); // another vendor's account
    await pin(ben, "01890a5d-ac96-7000-8000-000000000003");
  });
});
