import "fake-indexeddb/auto";

import type { DeviceAccount } from "@relicario/shared/contract";
import { IDBFactory } from "fake-indexeddb";

import { keepPending, keepSketch, keptSketches, forgetSketch, pendingAccountKey } from "../steps/pending.ts";
import { deriveAccountKeys, importAccountKey, unwrapAccountKey } from "../seal/account-key.ts";
import { copyOf, randomBytes, utf8 } from "../seal/bytes.ts";
import { sketchFor } from "../testing/fake-engine.ts";
import { lockedSince, markLocked, markUnlocked, openDevice, readDevice } from "./device.ts";

const account: DeviceAccount = { vendorId: "relicario", issuer: "https://id.example", subject: "ana" };
const other: DeviceAccount = { ...account, subject: "ben" };
const empty = { kind: null, accountKey: null, locked: false, lockedAt: null, lastActivity: null, autoLockMinutes: 15, remembered: null, pending: null, sketches: null };

async function keepKey(of: DeviceAccount, kind: "own" | "shared" | null): Promise<string> {
  const device = await openDevice(of);
  const { wrapping, iv, sealed, keyEpoch, ...rest } = await importAccountKey(randomBytes(32), 1);
  await device.write({ kind, accountKey: { wrapping, iv, sealed, keyEpoch } });
  device.close();
  return (await deriveAccountKeys({ wrapping, iv, sealed, keyEpoch, ...rest })).recipient;
}

describe("openDevice", () => {
  beforeEach(() => {
    globalThis.indexedDB = new IDBFactory();
  });
  afterEach(() => {
    jest.restoreAllMocks();
  });

  it("keeps a record for each account, apart", async () => {
    const device = await openDevice(account);
    expect(await device.read()).toEqual(empty);
    await device.write({ kind: "own" });
    expect(await device.read()).toEqual({ ...empty, kind: "own" });
    expect(await (await openDevice(other)).read()).toEqual(empty);
    expect(await (await openDevice({ ...account, vendorId: "second" })).read()).toEqual(empty);
    expect(await (await openDevice({ ...account, issuer: "https://else.example" })).read()).toEqual(empty);
  });

  it("keeps the account key unreadable, and gives the same one back", async () => {
    const recipient = await keepKey(account, "own");
    const { accountKey } = await (await openDevice(account)).read();
    if (accountKey === null) throw new TypeError("kept");
    expect(accountKey.wrapping.extractable).toBe(false);
    await expect(crypto.subtle.exportKey("raw", accountKey.wrapping)).rejects.toThrow();
    const again = await unwrapAccountKey(accountKey);
    await expect(crypto.subtle.exportKey("raw", again.hkdf)).rejects.toThrow();
    expect((await deriveAccountKeys(again)).recipient).toBe(recipient);
    await expect(unwrapAccountKey({ ...accountKey, iv: randomBytes(12) })).rejects.toMatchObject({ code: "decryption_failed" });
  });

  it("wraps what waits for one purpose and one account", async () => {
    const [mine, theirs] = [await openDevice(account), await openDevice(other)];
    const wrapped = await mine.wrap("pending", utf8("secret"));
    expect(await mine.unwrap("pending", wrapped)).toEqual(utf8("secret"));
    expect(await mine.unwrap("sketches", wrapped)).toBeNull();
    expect(await theirs.unwrap("pending", wrapped)).toBeNull();
    expect(new TextDecoder("latin1").decode(wrapped.data)).not.toContain("secret");
  });

  it("starts as if new when what it kept does not parse", async () => {
    const device = await openDevice(account);
    await device.write({ locked: "yes" as unknown as boolean });
    expect(await device.read()).toEqual(empty);
  });

  it("says storage_full when the disk is full, and keeps what it had", async () => {
    const device = await openDevice(account);
    await device.write({ kind: "own" });
    jest.spyOn(IDBObjectStore.prototype, "put").mockImplementation(() => {
      throw new DOMException("full", "QuotaExceededError");
    });
    await expect(device.write({ kind: "shared" })).rejects.toMatchObject({ code: "storage_full" });
    await expect((await openDevice(other)).wrap("pending", utf8("x"))).rejects.toMatchObject({ code: "storage_full" });
    jest.restoreAllMocks();
    expect((await device.read()).kind).toBe("own");
  });

  it("keeps in memory where IndexedDB is refused", async () => {
    const refused = { open: () => { throw new DOMException("no", "SecurityError"); } };
    for (const factory of [undefined, refused]) {
      Object.defineProperty(globalThis, "indexedDB", { value: factory, configurable: true, writable: true });
      const device = await openDevice(account);
      await device.write({ kind: "shared" });
      await keepPending(device, randomBytes(32));
      expect((await device.read()).kind).toBe("shared");
      expect(await pendingAccountKey(device)).not.toBeNull();
      expect(await (await openDevice(account)).read()).toEqual(empty);
    }
  });
});

describe("what waits on a device", () => {
  beforeEach(() => {
    globalThis.indexedDB = new IDBFactory();
  });

  it("is there after a reload: the pending key, and each sketch once, until it is published", async () => {
    const key = randomBytes(32);
    const before = await openDevice(account);
    await keepPending(before, copyOf(key));
    for (const subject of ["market", "forest", "market"]) await keepSketch(before, sketchFor(subject));
    before.close();
    const after = await openDevice(account);
    const pending = await pendingAccountKey(after);
    if (pending === null) throw new TypeError("pending");
    const expected = await deriveAccountKeys(await importAccountKey(key, 1));
    expect((await deriveAccountKeys(pending)).recipient).toBe(expected.recipient);
    expect(await keptSketches(after)).toEqual([sketchFor("market"), sketchFor("forest")]);
    await forgetSketch(after, sketchFor("market"));
    expect(await keptSketches(after)).toEqual([sketchFor("forest")]);
    await forgetSketch(after, sketchFor("forest"));
    expect((await after.read()).sketches).toBeNull();
  });
});

describe("locking a device", () => {
  beforeEach(() => {
    globalThis.indexedDB = new IDBFactory();
  });
  const everything = async (): Promise<string> => {
    const { openDB } = await import("idb");
    const database = await openDB("relicario-vault");
    const found = [...(await database.getAllKeys("accounts")), ...(await database.getAllKeys("keys"))];
    database.close();
    return JSON.stringify(found);
  };

  it("at a lock marks an own device, and makes no record of one that keeps no key", async () => {
    await keepKey(account, "own");
    await markLocked(account, 1_000);
    await markLocked(account, 2_000);
    expect(await readDevice(account)).toMatchObject({ locked: true, lockedAt: 1_000 });
    await markUnlocked(account, 3_000);
    expect(await readDevice(account)).toMatchObject({ locked: false, lockedAt: null, lastActivity: 3_000 });
    await markLocked(other, 1_000);
    expect(await everything()).not.toContain("ben");
  });
});

describe("lockedSince", () => {
  const minute = 60_000;
  const open = { locked: false, lockedAt: null, lastActivity: 10 * minute, autoLockMinutes: 15 };

  it.each([
    ["not before the minutes have passed", open, 25 * minute - 1, null],
    ["from the end of the minutes on, whenever it is looked at", open, 90 * minute, 25 * minute],
    ["from the lock on", { ...open, locked: true, lockedAt: 12 * minute }, 90 * minute, 12 * minute],
    ["from now on when no time was kept", { ...open, locked: true }, 11 * minute, 11 * minute],
    ["where no activity was ever kept", { ...open, lastActivity: null }, 90 * minute, 15 * minute],
  ])("%s", (_what, record, now, since) => {
    expect(lockedSince(record, now)).toBe(since);
  });
});
