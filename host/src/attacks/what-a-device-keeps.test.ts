/** @jest-environment node */
import "fake-indexeddb/auto";

import { accountName, type DeviceAccount } from "@relicario/shared/contract";
import { IDBFactory } from "fake-indexeddb";
import { openDB } from "idb";

import { keptAccounts } from "../device/accounts.ts";
import { requirePinnedUserId } from "../device/pinned-user-id.ts";
import { createSweeps, type SweepKind } from "../device/sweeps.ts";
import { everythingKept, installPrivateFiles, keepOnDevice, originStorage } from "../testing/device.ts";

const ana: DeviceAccount = { vendorId: "relicario", issuer: "https://id.example", subject: "ana" };
const ben: DeviceAccount = { ...ana, subject: "ben" };
const userId = "01890a5d-ac96-7000-8000-000000000001";
const nobodysDevice = { kind: null, remembered: { root: "of ana" }, pending: "of ana", locked: false };

/** Local storage of the origin, and sweeps of one page after another. */
function origin() {
  const { items: marks, storage } = originStorage();
  const dropLinkSecret = jest.fn(() => Promise.resolve());
  const log = jest.fn();
  const page = () => createSweeps({ storage, now: () => 5_000, dropLinkSecret, log });
  return {
    marks,
    dropLinkSecret,
    log,
    page,
    sweep: (kind: SweepKind, person: DeviceAccount | null = ana) => page().begin(kind, person)(),
  };
}

const pin = (account: DeviceAccount, id = userId) => requirePinnedUserId(account, id, () => true);
const kept = async () => JSON.stringify(await everythingKept());

/** As the vault does with a record that it cannot read. */
async function setAside(account: DeviceAccount, record: unknown): Promise<void> {
  const database = await openDB("relicario-vault");
  await database.put("accounts", record, `${accountName(account)} set aside 2026-11-22T10:00:00.000Z`);
  database.close();
}

beforeEach(() => {
  globalThis.indexedDB = new IDBFactory();
});

describe("somebody who sits down at a shared computer after another person", () => {
  it.each([
    ["shared", { ...nobodysDevice, kind: "shared" }],
    ["not answered", nobodysDevice],
    ["of a version that nobody knows", { v: 99, what: "of ana" }],
    ["damaged", "of ana"],
  ])("finds nothing of that person, though no screen had asked for the vault (device: %s)", async (_kind, record) => {
    const { files } = installPrivateFiles();
    files.set("plaintext", "closed");
    await keepOnDevice(ana, record as Record<string, unknown>, ["u1", "u2"]);
    await pin(ana);
    const { sweep, marks, dropLinkSecret } = origin();
    await sweep("sign_out");
    expect(await kept()).not.toContain("ana");
    expect(Object.values(await everythingKept()).flat()).toEqual([]); // the device key went with the last account
    expect(files.size).toBe(0);
    expect(marks.size).toBe(0);
    expect(dropLinkSecret).toHaveBeenCalledTimes(1);
  });

  it("finds no trace that a vault was looked for, where there never was one", async () => {
    installPrivateFiles();
    await origin().sweep("sign_out");
    expect((await indexedDB.databases()).map(({ name }) => name)).toEqual(["relicario-host"]);
  });

  it("finds nothing of uploads that have no record beside them", async () => {
    installPrivateFiles();
    await keepOnDevice(ana, null, ["u1"]);
    await origin().sweep("sign_out");
    expect(Object.values(await everythingKept()).flat()).toEqual([]);
  });

  it("keeps what is their own", async () => {
    installPrivateFiles();
    await keepOnDevice(ana, nobodysDevice, ["u1"]);
    await keepOnDevice(ben, { ...nobodysDevice, kind: "shared" }, ["u2"]);
    await pin(ben);
    await origin().sweep("sign_out");
    expect(await keptAccounts(ana)).toEqual([]);
    expect(await keptAccounts(ben)).toEqual([{ name: accountName(ben), kind: "shared", uploads: 1 }]);
    expect(Object.values(await everythingKept()).flat()).toHaveLength(4); // record, upload, account id, device key
  });

  it("gains nothing by ending the page in the middle: the next one finishes, before anybody is signed in", async () => {
    installPrivateFiles();
    await keepOnDevice(ana, nobodysDevice, ["u1"]);
    const { page, marks, dropLinkSecret } = origin();
    page().begin("sign_out", ana); // and the page is gone
    expect([...marks.keys()].sort()).toEqual([
      expect.stringMatching(/^sweep\.files\.[0-9a-f-]{36}$/),
      expect.stringMatching(/^sweep\.sign_out\.[0-9a-f-]{36}$/),
    ]);
    await page().finishMarked();
    expect(Object.values(await everythingKept()).flat()).toEqual([]);
    expect(marks.size).toBe(0);
    expect(dropLinkSecret).not.toHaveBeenCalled(); // what this tab carries is no part of it
  });

  it("gains nothing by a full disk, where the mark cannot be written", async () => {
    installPrivateFiles();
    await keepOnDevice(ana, nobodysDevice, ["u1"]);
    const storage = {
      ...originStorage().storage,
      setItem: () => {
        throw new DOMException("full", "QuotaExceededError");
      },
    };
    const log = jest.fn();
    await createSweeps({ storage, now: () => 5_000, dropLinkSecret: () => Promise.resolve(), log }).begin(
      "sign_out",
      ana,
    )();
    expect(Object.values(await everythingKept()).flat()).toEqual([]);
    expect(log).toHaveBeenCalledTimes(2); // neither part could be marked
  });

  it("gains nothing by a tab in which nobody is signed in, and which sweeps beside and ends first", async () => {
    installPrivateFiles();
    await keepOnDevice(ana, nobodysDevice, ["u1"]);
    const { page, marks } = origin();
    page().begin("sign_out", ana); // and the page is gone
    await page().begin("sign_out", null)();
    await page().finishMarked();
    expect(Object.values(await everythingKept()).flat()).toEqual([]);
    expect(marks.size).toBe(0);
  });

  it("finds no account id that was still asked for as the person signed out", async () => {
    installPrivateFiles();
    let staying = true;
    const pinned = requirePinnedUserId(ana, userId, () => staying); // its database is being opened
    staying = false;
    await expect(pinned).rejects.toMatchObject({ code: "cancelled" });
    await origin().sweep("sign_out");
    expect(Object.values(await everythingKept()).flat()).toEqual([]);
  });

  it("cannot make a starting page wipe anything that was not marked", async () => {
    const { files } = installPrivateFiles();
    files.set("of a page that lives", "closed");
    await keepOnDevice(ana, nobodysDevice, ["u1"]);
    const before = await kept();
    await origin().page().finishMarked();
    expect(await kept()).toBe(before);
    expect(files.size).toBe(1);
  });
});

describe("somebody who takes the person's own device, signed out", () => {
  it("finds it locked; uploads wait, and what it remembers stays", async () => {
    installPrivateFiles();
    const record = { ...nobodysDevice, kind: "own", member_of_a_later_version: 1 };
    await keepOnDevice(ana, record, ["u1"]);
    await pin(ana);
    const { sweep } = origin();
    await sweep("sign_out");
    const found = await everythingKept();
    expect(found["relicario-vault/accounts"]).toEqual([
      [accountName(ana), { ...record, locked: true, lockedAt: 5_000 }],
    ]);
    expect(found["relicario-uploads/uploads"]).toHaveLength(1);
    expect(found["relicario-vault/keys"]).toHaveLength(1);
    await expect(pin(ana, "01890a5d-ac96-7000-8000-000000000002")).rejects.toMatchObject({ code: "account_changed" });
  });

  it("finds it locked, not emptied, though its record was set aside and nobody was asked anew", async () => {
    installPrivateFiles();
    await keepOnDevice(ana, nobodysDevice, ["u1"]);
    await setAside(ana, { kind: "own", remembered: "the only memory" });
    await origin().sweep("sign_out");
    const found = await everythingKept();
    expect(found["relicario-vault/accounts"]).toHaveLength(2);
    expect(found["relicario-uploads/uploads"]).toHaveLength(1);
    expect(found["relicario-vault/keys"]).toHaveLength(1);
  });

  it.each([
    ["answered anew that it is not theirs", "sign_out", { ...nobodysDevice, kind: "shared" }],
    ["had it forgotten, with nothing else left", "forget", null],
  ] as const)("finds nothing of what was set aside once the person %s", async (_when, kind, record) => {
    installPrivateFiles();
    await keepOnDevice(ana, record);
    await setAside(ana, { kind: "own", remembered: "the only memory" });
    await origin().sweep(kind);
    expect(Object.values(await everythingKept()).flat()).toEqual([]);
  });

  it("finds nothing once the person had it forgotten", async () => {
    installPrivateFiles();
    await keepOnDevice(ana, { ...nobodysDevice, kind: "own" }, ["u1"]);
    await pin(ana);
    await origin().sweep("forget");
    expect(Object.values(await everythingKept()).flat()).toEqual([]);
  });
});

describe("sealed rows of the list", () => {
  it.each([
    ["sign_out", { ...nobodysDevice, kind: "own" }],
    ["sign_out", { ...nobodysDevice, kind: "shared" }],
    ["sign_out", null],
    ["forget", { ...nobodysDevice, kind: "own" }],
  ] as const)("go with what ends the session (%s, %j), those of others stay", async (kind, record) => {
    installPrivateFiles();
    await keepOnDevice(ana, record, [], true);
    await keepOnDevice(ben, { ...nobodysDevice, kind: "own" }, [], true);
    await origin().sweep(kind);
    const found = await everythingKept();
    expect(found["relicario-rows/heads"]).toEqual([[accountName(ben), { of: accountName(ben) }]]);
    expect(found["relicario-rows/blocks"]).toHaveLength(2);
    expect(JSON.stringify([found["relicario-rows/heads"], found["relicario-rows/blocks"]])).not.toContain("ana");
  });

  it("stay while the vault is locked", async () => {
    installPrivateFiles();
    await keepOnDevice(ana, { ...nobodysDevice, kind: "own" }, [], true);
    await origin().sweep("lock");
    expect((await everythingKept())["relicario-rows/blocks"]).toHaveLength(2);
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
    ["forget", { ...nobodysDevice, kind: "own" }],
    ["sign_out", { ...nobodysDevice, kind: "shared" }],
  ] as const)(
    "takes none of what they made since, however often a page starts while a file stays open (%s)",
    async (kind, record) => {
      const files = withStuckFile();
      await keepOnDevice(ana, record, ["old"]);
      const { sweep, page, marks } = origin();
      await expect(sweep(kind)).rejects.toThrow();
      expect((await everythingKept())["relicario-uploads/uploads"]).toEqual([]);
      await keepOnDevice(ana, record, ["the only key of a new content"]);
      await pin(ana);
      const before = await kept();
      await page().finishMarked();
      await page().finishMarked();
      expect(await kept()).toBe(before);
      expect([...marks.keys()]).toEqual([expect.stringMatching(/^sweep\.files\./)]);

      files.set("of a frozen tab", "closed");
      await page().finishMarked();
      expect(files.size).toBe(0);
      expect(marks.size).toBe(0);
    },
  );

  it("does not lock their own device", async () => {
    withStuckFile();
    const record = { ...nobodysDevice, kind: "own" };
    await keepOnDevice(ana, record);
    const { sweep, page } = origin();
    await expect(sweep("sign_out")).rejects.toThrow();
    await keepOnDevice(ana, record); // the vault undid the lock
    await page().finishMarked();
    expect((await everythingKept())["relicario-vault/accounts"]).toEqual([[accountName(ana), record]]);
  });

  it("is over for them, and goes on for others, where the databases did not answer as the page started", async () => {
    installPrivateFiles();
    await keepOnDevice(ana, nobodysDevice, ["u1"]);
    await keepOnDevice(ben, nobodysDevice, ["u2"]);
    const { page, marks, log } = origin();
    page().begin("sign_out", ana);
    page().begin("sign_out", ben);
    const started = page();
    const finished = started.finishMarked(); // the page does not wait for it
    started.admitted(ana);
    await finished;
    expect(await keptAccounts(ana)).toHaveLength(1);
    expect(await keptAccounts(ben)).toEqual([]);
    expect(marks.size).toBe(0);
    expect(log).not.toHaveBeenCalled();
  });

  it("is not over when they sign out anew", async () => {
    installPrivateFiles();
    await keepOnDevice(ana, nobodysDevice, ["u1"]);
    const { page, marks } = origin();
    const left = page();
    await left.finishMarked();
    left.begin("sign_out", ana);
    left.admitted(ana); // an exchange that was under way
    expect(marks.size).toBe(2);
  });

  it("cannot be made to stumble by a mark that was planted", async () => {
    installPrivateFiles();
    const { page, marks, log } = origin();
    marks.set(`sweep.forget.${crypto.randomUUID()}`, "not JSON");
    await page().finishMarked();
    expect(marks.size).toBe(0);
    expect(log).not.toHaveBeenCalled();
  });
});

describe("somebody who comes to a locked page", () => {
  it("finds no plaintext in private files, of this page or another, and what waits is still sealed and sent", async () => {
    const { files, end } = installPrivateFiles();
    files.set("committed", "closed");
    files.set("still written", "open");
    await keepOnDevice(ana, { ...nobodysDevice, kind: "own" }, ["u1"]);
    const before = await kept();
    const { sweep, marks } = origin();
    const swept = sweep("lock", null);
    await new Promise((resolve) => setImmediate(resolve));
    end("still written"); // its worker was ended
    await swept;
    expect(files.size).toBe(0);
    expect(marks.size).toBe(0);
    expect(await kept()).toBe(before);
  });

  it("finds none after the next start either, where a file stayed open", async () => {
    const { files } = installPrivateFiles();
    const { page, marks } = origin();
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
    const before = await kept();
    await expect(pin(ana, "01890a5d-ac96-7000-8000-000000000002")).rejects.toMatchObject({ code: "account_changed" });
    expect(await kept()).toBe(before);
    await pin({ ...ana, vendorId: "acme" }, "01890a5d-ac96-7000-8000-000000000002"); // another vendor's account
    await pin(ben, "01890a5d-ac96-7000-8000-000000000003");
  });
});
