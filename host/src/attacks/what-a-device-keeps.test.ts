/** @jest-environment node */
import "fake-indexeddb/auto";

import { buildAccountStorageKey, type DeviceAccount } from "@relicario/shared/contract";
import { IDBFactory } from "fake-indexeddb";
import { openDB } from "idb";

import { listStoredAccounts } from "../device/accounts.ts";
import { requirePinnedUserId } from "../device/pinned-user-id.ts";
import { createSweeps, type SweepKind } from "../device/sweeps.ts";
import { readAllDatabases, installPrivateFiles, fillDevice, createOriginStorage } from "../testing/device.ts";

const ana: DeviceAccount = { vendorId: "relicario", issuer: "https://id.example", subject: "ana" };
const ben: DeviceAccount = { ...ana, subject: "ben" };
const userId = "01890a5d-ac96-7000-8000-000000000001";
const unclaimedDevice = { kind: null, remembered: { root: "of ana" }, pending: "of ana", locked: false };

/** Local storage of the origin, and sweeps of one page after another. */
function createOrigin() {
  const { items: marks, storage } = createOriginStorage();
  const dropLinkSecret = jest.fn(() => Promise.resolve());
  const log = jest.fn();
  const createPageSweeps = () => createSweeps({ storage, now: () => 5_000, dropLinkSecret, log });
  return {
    marks,
    dropLinkSecret,
    log,
    page: createPageSweeps,
    sweep: (kind: SweepKind, person: DeviceAccount | null = ana) => createPageSweeps().begin(kind, person)(),
  };
}

const pin = (account: DeviceAccount, id = userId) => requirePinnedUserId(account, id, () => true);
const readAll = async () => JSON.stringify(await readAllDatabases());

/** As the vault does with a record that it cannot read. */
async function archiveRecord(account: DeviceAccount, record: unknown): Promise<void> {
  const database = await openDB("relicario-vault");
  await database.put("accounts", record, `${buildAccountStorageKey(account)} set aside 2026-11-22T10:00:00.000Z`);
  database.close();
}

beforeEach(() => {
  globalThis.indexedDB = new IDBFactory();
});

describe("somebody who sits down at a shared computer after another person", () => {
  it.each([
    ["shared", { ...unclaimedDevice, kind: "shared" }],
    ["not answered", unclaimedDevice],
    ["of a version that nobody knows", { v: 99, what: "of ana" }],
    ["damaged", "of ana"],
  ])("finds nothing of that person, though no screen had asked for the vault (device: %s)", async (_kind, record) => {
    const { files } = installPrivateFiles();
    files.set("plaintext", "closed");
    await fillDevice(ana, record as Record<string, unknown>, ["u1", "u2"]);
    await pin(ana);
    const { sweep, marks, dropLinkSecret } = createOrigin();
    await sweep("sign_out");
    expect(await readAll()).not.toContain("ana");
    expect(Object.values(await readAllDatabases()).flat()).toEqual([]); // the device key went with the last account
    expect(files.size).toBe(0);
    expect(marks.size).toBe(0);
    expect(dropLinkSecret).toHaveBeenCalledTimes(1);
  });

  it("finds no trace that a vault was looked for, where there never was one", async () => {
    installPrivateFiles();
    await createOrigin().sweep("sign_out");
    expect((await indexedDB.databases()).map(({ name }) => name)).toEqual(["relicario-host"]);
  });

  it("finds nothing of uploads that have no record beside them", async () => {
    installPrivateFiles();
    await fillDevice(ana, null, ["u1"]);
    await createOrigin().sweep("sign_out");
    expect(Object.values(await readAllDatabases()).flat()).toEqual([]);
  });

  it("keeps what is their own", async () => {
    installPrivateFiles();
    await fillDevice(ana, unclaimedDevice, ["u1"]);
    await fillDevice(ben, { ...unclaimedDevice, kind: "shared" }, ["u2"]);
    await pin(ben);
    await createOrigin().sweep("sign_out");
    expect(await listStoredAccounts(ana)).toEqual([]);
    expect(await listStoredAccounts(ben)).toEqual([{ name: buildAccountStorageKey(ben), kind: "shared", uploads: 1 }]);
    expect(Object.values(await readAllDatabases()).flat()).toHaveLength(4); // record, upload, account id, device key
  });

  it("gains nothing by ending the page in the middle: the next one finishes, before anybody is signed in", async () => {
    installPrivateFiles();
    await fillDevice(ana, unclaimedDevice, ["u1"]);
    const { page, marks, dropLinkSecret } = createOrigin();
    page().begin("sign_out", ana); // and the page is gone
    expect([...marks.keys()].sort()).toEqual([
      expect.stringMatching(/^sweep\.files\.[0-9a-f-]{36}$/),
      expect.stringMatching(/^sweep\.sign_out\.[0-9a-f-]{36}$/),
    ]);
    await page().finishMarked();
    expect(Object.values(await readAllDatabases()).flat()).toEqual([]);
    expect(marks.size).toBe(0);
    expect(dropLinkSecret).not.toHaveBeenCalled(); // what this tab carries is no part of it
  });

  it("gains nothing by a full disk, where the mark cannot be written", async () => {
    installPrivateFiles();
    await fillDevice(ana, unclaimedDevice, ["u1"]);
    const storage = {
      ...createOriginStorage().storage,
      setItem: () => {
        throw new DOMException("full", "QuotaExceededError");
      },
    };
    const log = jest.fn();
    await createSweeps({ storage, now: () => 5_000, dropLinkSecret: () => Promise.resolve(), log }).begin(
      "sign_out",
      ana,
    )();
    expect(Object.values(await readAllDatabases()).flat()).toEqual([]);
    expect(log).toHaveBeenCalledTimes(2); // neither part could be marked
  });

  it("gains nothing by a tab in which nobody is signed in, and which sweeps beside and ends first", async () => {
    installPrivateFiles();
    await fillDevice(ana, unclaimedDevice, ["u1"]);
    const { page, marks } = createOrigin();
    page().begin("sign_out", ana); // and the page is gone
    await page().begin("sign_out", null)();
    await page().finishMarked();
    expect(Object.values(await readAllDatabases()).flat()).toEqual([]);
    expect(marks.size).toBe(0);
  });

  it("finds no account id that was still asked for as the person signed out", async () => {
    installPrivateFiles();
    let isSessionActive = true;
    const pinned = requirePinnedUserId(ana, userId, () => isSessionActive); // its database is being opened
    isSessionActive = false;
    await expect(pinned).rejects.toMatchObject({ code: "cancelled" });
    await createOrigin().sweep("sign_out");
    expect(Object.values(await readAllDatabases()).flat()).toEqual([]);
  });

  it("cannot make a starting page wipe anything that was not marked", async () => {
    const { files } = installPrivateFiles();
    files.set("of a page that lives", "closed");
    await fillDevice(ana, unclaimedDevice, ["u1"]);
    const before = await readAll();
    await createOrigin().page().finishMarked();
    expect(await readAll()).toBe(before);
    expect(files.size).toBe(1);
  });
});

describe("somebody who takes the person's own device, signed out", () => {
  it("finds it locked; uploads wait, and what it remembers stays", async () => {
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

  it("finds it locked, not emptied, though its record was set aside and nobody was asked anew", async () => {
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
    ["answered anew that it is not theirs", "sign_out", { ...unclaimedDevice, kind: "shared" }],
    ["had it forgotten, with nothing else left", "forget", null],
  ] as const)("finds nothing of what was set aside once the person %s", async (_when, kind, record) => {
    installPrivateFiles();
    await fillDevice(ana, record);
    await archiveRecord(ana, { kind: "own", remembered: "the only memory" });
    await createOrigin().sweep(kind);
    expect(Object.values(await readAllDatabases()).flat()).toEqual([]);
  });

  it("finds nothing once the person had it forgotten", async () => {
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
  ] as const)("go with what ends the session (%s, %j), those of others stay", async (kind, record) => {
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

  it("stay while the vault is locked", async () => {
    installPrivateFiles();
    await fillDevice(ana, { ...unclaimedDevice, kind: "own" }, [], true);
    await createOrigin().sweep("lock");
    expect((await readAllDatabases())["relicario-rows/blocks"]).toHaveLength(2);
  });
});

describe("a sweep that could not end, once the person has signed in again", () => {
  /** As after a frozen tab: its file stays open, longer than anybody waits. */
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
    "takes none of what they made since, however often a page starts while a file stays open (%s)",
    async (kind, record) => {
      const files = withStuckFile();
      await fillDevice(ana, record, ["old"]);
      const { sweep, page, marks } = createOrigin();
      await expect(sweep(kind)).rejects.toThrow();
      expect((await readAllDatabases())["relicario-uploads/uploads"]).toEqual([]);
      await fillDevice(ana, record, ["the only key of a new content"]);
      await pin(ana);
      const before = await readAll();
      await page().finishMarked();
      await page().finishMarked();
      expect(await readAll()).toBe(before);
      expect([...marks.keys()]).toEqual([expect.stringMatching(/^sweep\.files\./)]);

      files.set("of a frozen tab", "closed");
      await page().finishMarked();
      expect(files.size).toBe(0);
      expect(marks.size).toBe(0);
    },
  );

  it("does not lock their own device", async () => {
    withStuckFile();
    const record = { ...unclaimedDevice, kind: "own" };
    await fillDevice(ana, record);
    const { sweep, page } = createOrigin();
    await expect(sweep("sign_out")).rejects.toThrow();
    await fillDevice(ana, record); // the vault undid the lock
    await page().finishMarked();
    expect((await readAllDatabases())["relicario-vault/accounts"]).toEqual([[buildAccountStorageKey(ana), record]]);
  });

  it("is over for them, and goes on for others, where the databases did not answer as the page started", async () => {
    installPrivateFiles();
    await fillDevice(ana, unclaimedDevice, ["u1"]);
    await fillDevice(ben, unclaimedDevice, ["u2"]);
    const { page, marks, log } = createOrigin();
    page().begin("sign_out", ana);
    page().begin("sign_out", ben);
    const started = page();
    const finished = started.finishMarked(); // the page does not wait for it
    started.cancelMarked(ana);
    await finished;
    expect(await listStoredAccounts(ana)).toHaveLength(1);
    expect(await listStoredAccounts(ben)).toEqual([]);
    expect(marks.size).toBe(0);
    expect(log).not.toHaveBeenCalled();
  });

  it("is not over when they sign out anew", async () => {
    installPrivateFiles();
    await fillDevice(ana, unclaimedDevice, ["u1"]);
    const { page, marks } = createOrigin();
    const laterPage = page();
    await laterPage.finishMarked();
    laterPage.begin("sign_out", ana);
    laterPage.cancelMarked(ana); // an exchange that was under way
    expect(marks.size).toBe(2);
  });

  it("cannot be made to stumble by a mark that was planted", async () => {
    installPrivateFiles();
    const { page, marks, log } = createOrigin();
    marks.set(`sweep.forget.${crypto.randomUUID()}`, "not JSON");
    await page().finishMarked();
    expect(marks.size).toBe(0);
    expect(log).not.toHaveBeenCalled();
  });
});

describe("somebody who comes to a locked page", () => {
  it("finds no plaintext in private files, of this page or another, and what waits is still sealed and sent", async () => {
    const { files, closeFile } = installPrivateFiles();
    files.set("committed", "closed");
    files.set("still written", "open");
    await fillDevice(ana, { ...unclaimedDevice, kind: "own" }, ["u1"]);
    const before = await readAll();
    const { sweep, marks } = createOrigin();
    const sweeping = sweep("lock", null);
    await new Promise((resolve) => setImmediate(resolve));
    closeFile("still written"); // its worker was ended
    await sweeping;
    expect(files.size).toBe(0);
    expect(marks.size).toBe(0);
    expect(await readAll()).toBe(before);
  });

  it("finds none after the next start either, where a file stayed open", async () => {
    const { files } = installPrivateFiles();
    const { page, marks } = createOrigin();
    files.set("stuck", "open");
    page().begin("lock", null); // the page was closed while it waited
    files.set("stuck", "closed");
    await page().finishMarked();
    expect(files.size).toBe(0);
    expect(marks.size).toBe(0);
  });
});

describe("a service that says that the person is somebody else", () => {
  it("is not believed: the account id of a vendor, issuer and subject stays what it was", async () => {
    await pin(ana);
    await pin(ana);
    const before = await readAll();
    await expect(pin(ana, "01890a5d-ac96-7000-8000-000000000002")).rejects.toMatchObject({ code: "account_changed" });
    expect(await readAll()).toBe(before);
    await pin({ ...ana, vendorId: "acme" }, "01890a5d-ac96-7000-8000-000000000002"); // another vendor's account
    await pin(ben, "01890a5d-ac96-7000-8000-000000000003");
  });
});
