import "fake-indexeddb/auto";

import type { DeviceAccount } from "@relicario/shared/contract";
import { IDBFactory } from "fake-indexeddb";

import {
  removePublishedSketches,
  savePendingAccount,
  savePendingSketch,
  loadPendingSketches,
  loadPendingAccount,
  type NewAccountDocuments,
} from "./pending-account.ts";
import { AccountKey, deriveMetadataKeys, toStoredMetadataKeys, fromStoredMetadataKeys } from "../seal/account-key.ts";
import { createKeyStatement } from "../seal/account-signatures.ts";
import { createEmptyBook, createEmptyBookInner, sealBookInner, sketchToB64u } from "../seal/book.ts";
import { utf8 } from "../seal/bytes.ts";
import { createEmptyShares } from "../seal/shares.ts";
import { createFakeSketch } from "../testing/fake-engine.ts";
import { userId } from "../testing/world.ts";
import { getLockedSince, markLocked, markUnlocked, openDevice, readDeviceRecord, type DeviceRecord } from "./device.ts";

const account: DeviceAccount = { vendorId: "relicario", issuer: "https://id.example", subject: "ana" };
const otherAccount: DeviceAccount = { ...account, subject: "ben" };
const emptyRecord = {
  v: 1,
  kind: null,
  metadataKeys: null,
  mark: null,
  locked: false,
  lockedAt: null,
  lockedSignIn: null,
  passkeyOpener: null,
  lastActivity: null,
  autoLockMinutes: 15,
  keepOpen: "five_minutes",
  remembered: null,
  consent: null,
  bookInner: null,
  versions: {},
  pending: null,
  sketches: null,
  newShares: null,
  openedShares: {},
};
const checkpoint = {
  stateRev: 3,
  stateSha256: makeDigest("3"),
  keyEpoch: 1,
  root: makeDigest("r"),
  count: 2,
  recipient: "age1pq1…",
  signingKey: makeDigest("k"),
  authorKey: makeDigest("k"),
};

function makeDigest(letter: string): string {
  return letter.repeat(42) + "A";
}

async function createFirstAccount(): Promise<NewAccountDocuments> {
  const accountKey = AccountKey.generate(1);
  const keys = await deriveMetadataKeys(accountKey);
  const id = "019a9e2c-7c1e-7abc-8def-0000000000aa";
  return {
    keys,
    book: {
      ...createEmptyBook(),
      inner: await sealBookInner(accountKey, userId, { ...createEmptyBookInner(), inner_rev: 1 }),
    },
    shares: await createEmptyShares(accountKey, userId),
    statement: await createKeyStatement(accountKey, userId),
    record: { id, helper: Buffer.alloc(454, 1).toString("base64url"), created_at: "2026-11-21T10:00:00.000Z" },
    slot: { opener_id: id, kind: "image", slot: Buffer.alloc(1_600, 2).toString("base64url") },
    sketch: sketchToB64u(createFakeSketch("market")),
  };
}

async function storeKeys(owner: DeviceAccount, kind: "own" | "shared" | null): Promise<string> {
  const device = await openDevice(owner);
  const keys = await deriveMetadataKeys(AccountKey.generate(1));
  await device.write({ kind, metadataKeys: toStoredMetadataKeys(keys) });
  device.close();
  return keys.recipient;
}

describe("openDevice", () => {
  beforeEach(() => {
    globalThis.indexedDB = new IDBFactory();
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it("keeps a separate record for each account", async () => {
    const device = await openDevice(account);
    expect(await device.read()).toEqual(emptyRecord);
    await device.write({ kind: "own" });
    expect(await device.read()).toEqual({ ...emptyRecord, kind: "own" });
    expect(await (await openDevice(otherAccount)).read()).toEqual(emptyRecord);
    expect(await (await openDevice({ ...account, vendorId: "second" })).read()).toEqual(emptyRecord);
    expect(await (await openDevice({ ...account, issuer: "https://else.example" })).read()).toEqual(emptyRecord);
  });

  it("stores non-extractable metadata keys, and restores the same keys", async () => {
    const recipient = await storeKeys(account, "own");
    const { metadataKeys } = await (await openDevice(account)).read();
    if (metadataKeys === null) throw new TypeError("expected stored metadata keys");
    for (const key of [
      metadataKeys.label,
      metadataKeys.book,
      metadataKeys.state,
      metadataKeys.shares,
      metadataKeys.requests,
      metadataKeys.sign,
    ]) {
      expect(key.extractable).toBe(false);
      for (const format of ["raw", "jwk", "pkcs8"] as const)
        await expect(crypto.subtle.exportKey(format, key)).rejects.toThrow();
    }
    expect(fromStoredMetadataKeys(metadataKeys)).toMatchObject({ recipient, keyEpoch: 1 });
  });

  it("unwraps only for the same purpose and account", async () => {
    const [mine, theirs] = [await openDevice(account), await openDevice(otherAccount)];
    const wrapped = await mine.wrap("pending", utf8("secret"));
    expect(await mine.unwrap("pending", wrapped)).toEqual(utf8("secret"));
    expect(await mine.unwrap("sketches", wrapped)).toBeNull();
    expect(await theirs.unwrap("pending", wrapped)).toBeNull();
    expect(new TextDecoder("latin1").decode(wrapped.data)).not.toContain("secret");
  });

  it("keeps unknown members, which another release wrote", async () => {
    const device = await openDevice(account);
    await device.write({ ...{ passkeys: ["of a later release"] }, kind: "own" });
    await device.write({ remembered: checkpoint });
    await device.update(({ remembered: current }) => ({
      remembered: current === null ? null : { ...current, stateRev: 4 },
    }));
    expect(await device.read()).toEqual({
      ...emptyRecord,
      kind: "own",
      passkeys: ["of a later release"],
      remembered: { ...checkpoint, stateRev: 4 },
    });
  });

  it.each([
    ["a record of a later version", { v: 2 }],
    ["a damaged record", { locked: "yes" }],
  ])("refuses %s and does not overwrite the record until it is archived", async (_case, change) => {
    const device = await openDevice(account);
    await device.write({ remembered: checkpoint });
    const { openDB } = await import("idb");
    const database = await openDB("relicario-vault");
    const unreadableRecord: unknown = { ...((await database.get("accounts", device.storageKey)) as object), ...change };
    await database.put("accounts", unreadableRecord, device.storageKey);
    const unreadableError = { code: "device_record_unreadable" };
    await expect(device.read()).rejects.toMatchObject(unreadableError);
    await expect(device.write({ kind: "own" })).rejects.toMatchObject(unreadableError);
    await expect(markLocked(account, 1, null)).rejects.toMatchObject(unreadableError);
    expect(await database.get("accounts", device.storageKey)).toEqual(unreadableRecord);
    await device.archive();
    expect(await device.read()).toEqual(emptyRecord);
    expect((await database.getAllKeys("accounts")).map(String)).toEqual([expect.stringMatching(/ set aside 20\d\d-/)]);
    database.close();
  });

  it("refuses a database of a later release instead of starting as a new device", async () => {
    (await openDevice(account)).close();
    const { openDB } = await import("idb");
    (await openDB("relicario-vault", 2)).close();
    await expect(openDevice(account)).rejects.toMatchObject({ code: "device_record_unreadable" });
  });

  it("keeps the concurrent writes of two tabs", async () => {
    const [firstTab, secondTab] = [await openDevice(account), await openDevice(account)];
    const raiseStateRev = (stateRev: number) => (current: DeviceRecord) => ({
      remembered:
        current.remembered === null || current.remembered.stateRev < stateRev
          ? { ...checkpoint, stateRev }
          : current.remembered,
    });
    await Promise.all([
      firstTab.update(raiseStateRev(9)),
      secondTab.update(raiseStateRev(7)),
      secondTab.write({ kind: "own" }),
      firstTab.write({ locked: true }),
    ]);
    expect(await firstTab.read()).toMatchObject({ kind: "own", locked: true, remembered: { stateRev: 9 } });
  });

  it("throws storage_full when the disk is full and keeps the previous record", async () => {
    const device = await openDevice(account);
    await device.write({ kind: "own" });
    jest.spyOn(IDBObjectStore.prototype, "put").mockImplementation(() => {
      throw new DOMException("full", "QuotaExceededError");
    });
    await expect(device.write({ kind: "shared" })).rejects.toMatchObject({ code: "storage_full" });
    await expect((await openDevice(otherAccount)).wrap("pending", utf8("x"))).rejects.toMatchObject({
      code: "storage_full",
    });
    jest.restoreAllMocks();
    expect((await device.read()).kind).toBe("own");
  });

  it("keeps the record in memory where IndexedDB is unavailable", async () => {
    const blockedFactory = {
      open: () => {
        throw new DOMException("no", "SecurityError");
      },
    };
    const deniedFactory = {
      open: () => {
        throw new DOMException("The user denied permission to access the database.", "UnknownError"); // Chromium's
      },
    };
    for (const factory of [undefined, blockedFactory, deniedFactory]) {
      Object.defineProperty(globalThis, "indexedDB", { value: factory, configurable: true, writable: true });
      const device = await openDevice(account);
      await device.write({ kind: "shared" });
      await savePendingAccount(device, await createFirstAccount());
      expect((await device.read()).kind).toBe("shared");
      expect(await loadPendingAccount(device)).not.toBeNull();
      expect(await (await openDevice(account)).read()).toEqual(emptyRecord);
    }
  });
});

describe("a pending account and pending sketches", () => {
  beforeEach(() => {
    globalThis.indexedDB = new IDBFactory();
  });

  it("survive a reload; each sketch is stored once, until published", async () => {
    const firstAccount = await createFirstAccount();
    const deviceBeforeReload = await openDevice(account);
    await savePendingAccount(deviceBeforeReload, firstAccount);
    for (const subject of ["market", "forest", "market"])
      await savePendingSketch(deviceBeforeReload, createFakeSketch(subject));
    deviceBeforeReload.close();
    const deviceAfterReload = await openDevice(account);
    const { keys, ...documents } = firstAccount;
    expect(await loadPendingAccount(deviceAfterReload)).toMatchObject({
      ...documents,
      keys: { recipient: keys.recipient },
    });
    expect(await loadPendingSketches(deviceAfterReload)).toEqual([
      createFakeSketch("market"),
      createFakeSketch("forest"),
    ]);
    const published = (subject: string) => new Set([sketchToB64u(createFakeSketch(subject))]);
    await removePublishedSketches(deviceAfterReload, published("market"));
    expect(await loadPendingSketches(deviceAfterReload)).toEqual([createFakeSketch("forest")]);
    await removePublishedSketches(deviceAfterReload, published("forest"));
    expect((await deviceAfterReload.read()).sketches).toBeNull();
  });
});

describe("two tabs that change sketches", () => {
  it("keep a sketch that one tab adds while the other removes a published sketch", async () => {
    globalThis.indexedDB = new IDBFactory();
    const [firstTab, secondTab] = [await openDevice(account), await openDevice(account)];
    await savePendingSketch(firstTab, createFakeSketch("market"));
    let interrupted = false;
    const interruptedDevice = {
      ...secondTab,
      unwrap: async (...parameters: Parameters<typeof secondTab.unwrap>) => {
        const bytes = await secondTab.unwrap(...parameters);
        if (!interrupted) await savePendingSketch(firstTab, createFakeSketch("forest"));
        interrupted = true;
        return bytes;
      },
    };
    await removePublishedSketches(interruptedDevice, new Set([sketchToB64u(createFakeSketch("market"))]));
    expect(await loadPendingSketches(firstTab)).toEqual([createFakeSketch("forest")]);
  });
});

describe("locking a device", () => {
  beforeEach(() => {
    globalThis.indexedDB = new IDBFactory();
  });
  const readAllKeys = async (): Promise<string> => {
    const { openDB } = await import("idb");
    const database = await openDB("relicario-vault");
    const keys = [...(await database.getAllKeys("accounts")), ...(await database.getAllKeys("keys"))];
    database.close();
    return JSON.stringify(keys);
  };

  it("marks an own device as locked, and creates no record on a device without keys", async () => {
    await storeKeys(account, "own");
    await markLocked(account, 1_000, 1);
    await markLocked(account, 2_000, 2);
    expect(await readDeviceRecord(account)).toMatchObject({ locked: true, lockedAt: 1_000, lockedSignIn: 1 });
    await markUnlocked(account, 3_000);
    expect(await readDeviceRecord(account)).toMatchObject({ locked: false, lockedAt: null, lastActivity: 3_000 });
    await markLocked(otherAccount, 1_000, null);
    expect(await readAllKeys()).not.toContain("ben");
  });
});

describe("getLockedSince", () => {
  const minuteMilliseconds = 60_000;
  const unlockedRecord = { locked: false, lockedAt: null, lastActivity: 10 * minuteMilliseconds, autoLockMinutes: 15 };

  it.each([
    ["is null before the minutes have passed", unlockedRecord, 25 * minuteMilliseconds - 1, null],
    ["is the end of the minutes at any later time", unlockedRecord, 90 * minuteMilliseconds, 25 * minuteMilliseconds],
    [
      "is the time of the lock",
      { ...unlockedRecord, locked: true, lockedAt: 12 * minuteMilliseconds },
      90 * minuteMilliseconds,
      12 * minuteMilliseconds,
    ],
    [
      "is now when no time of the lock was stored",
      { ...unlockedRecord, locked: true },
      11 * minuteMilliseconds,
      11 * minuteMilliseconds,
    ],
    [
      "counts from 1970 when no activity was stored",
      { ...unlockedRecord, lastActivity: null },
      90 * minuteMilliseconds,
      15 * minuteMilliseconds,
    ],
  ])("%s", (_case, record, now, since) => {
    expect(getLockedSince(record, now)).toBe(since);
  });
});
