import "fake-indexeddb/auto";

import type { DeviceAccount } from "@relicario/shared/contract";
import { IDBFactory } from "fake-indexeddb";

import { forgetSketches, keepPending, keepSketch, keptSketches, pendingAccount } from "../steps/pending.ts";
import { AccountKey, deriveTitlesKeys, keptTitlesKeys, titlesKeysFrom } from "../seal/account-key.ts";
import { makeKeyStatement } from "../seal/account-signatures.ts";
import { emptyBook, emptyBookInner, sealBookInner, sketchB64u } from "../seal/book.ts";
import { utf8 } from "../seal/bytes.ts";
import { firstShares } from "../seal/shares.ts";
import { sketchFor } from "../testing/fake-engine.ts";
import { userId } from "../testing/world.ts";
import type { FirstAccount } from "../vault-context.ts";
import { lockedSince, markLocked, markUnlocked, openDevice, readDevice, type DeviceRecord } from "./device.ts";

const account: DeviceAccount = { vendorId: "relicario", issuer: "https://id.example", subject: "ana" };
const other: DeviceAccount = { ...account, subject: "ben" };
const empty = {
  v: 1,
  kind: null,
  titlesKeys: null,
  locked: false,
  lockedAt: null,
  lockedSignIn: null,
  passkeyOpener: null,
  lastActivity: null,
  autoLockMinutes: 15,
  remembered: null,
  consent: null,
  checkedOpeners: null,
  pending: null,
  sketches: null,
  newShares: null,
  openedShares: {},
};
const remembered = {
  stateRev: 3,
  stateSha256: someDigest("3"),
  keyEpoch: 1,
  root: someDigest("r"),
  count: 2,
  recipient: "age1pq1…",
  signingKey: someDigest("k"),
};

/** Some digest. */
function someDigest(letter: string): string {
  return letter.repeat(42) + "A";
}

async function newAccount(): Promise<FirstAccount> {
  const accountKey = AccountKey.make(1);
  const keys = await deriveTitlesKeys(accountKey);
  const id = "019a9e2c-7c1e-7abc-8def-0000000000aa";
  return {
    keys,
    book: { ...emptyBook(), inner: await sealBookInner(accountKey, userId, emptyBookInner()) },
    shares: await firstShares(accountKey, userId),
    statement: await makeKeyStatement(keys, userId),
    record: { id, helper: Buffer.alloc(454, 1).toString("base64url"), created_at: "2026-11-21T10:00:00.000Z" },
    slot: { opener_id: id, kind: "image", slot: Buffer.alloc(1_600, 2).toString("base64url") },
    sketch: sketchB64u(sketchFor("market")),
  };
}

async function keepKeys(of: DeviceAccount, kind: "own" | "shared" | null): Promise<string> {
  const device = await openDevice(of);
  const keys = await deriveTitlesKeys(AccountKey.make(1));
  await device.write({ kind, titlesKeys: keptTitlesKeys(keys) });
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

  it("keeps a record for each account, apart", async () => {
    const device = await openDevice(account);
    expect(await device.read()).toEqual(empty);
    await device.write({ kind: "own" });
    expect(await device.read()).toEqual({ ...empty, kind: "own" });
    expect(await (await openDevice(other)).read()).toEqual(empty);
    expect(await (await openDevice({ ...account, vendorId: "second" })).read()).toEqual(empty);
    expect(await (await openDevice({ ...account, issuer: "https://else.example" })).read()).toEqual(empty);
  });

  it("keeps the titles keys unreadable, and gives the same ones back", async () => {
    const recipient = await keepKeys(account, "own");
    const { titlesKeys } = await (await openDevice(account)).read();
    if (titlesKeys === null) throw new TypeError("kept");
    for (const key of [
      titlesKeys.label,
      titlesKeys.book,
      titlesKeys.state,
      titlesKeys.shares,
      titlesKeys.requests,
      titlesKeys.sign,
    ]) {
      expect(key.extractable).toBe(false);
      for (const format of ["raw", "jwk", "pkcs8"] as const)
        await expect(crypto.subtle.exportKey(format, key)).rejects.toThrow();
    }
    expect(titlesKeysFrom(titlesKeys)).toMatchObject({ recipient, keyEpoch: 1 });
  });

  it("wraps what waits for one purpose and one account", async () => {
    const [mine, theirs] = [await openDevice(account), await openDevice(other)];
    const wrapped = await mine.wrap("pending", utf8("secret"));
    expect(await mine.unwrap("pending", wrapped)).toEqual(utf8("secret"));
    expect(await mine.unwrap("sketches", wrapped)).toBeNull();
    expect(await theirs.unwrap("pending", wrapped)).toBeNull();
    expect(new TextDecoder("latin1").decode(wrapped.data)).not.toContain("secret");
  });

  it("keeps members that it does not know: another release wrote them", async () => {
    const device = await openDevice(account);
    await device.write({ ...{ passkeys: ["of a later release"] }, kind: "own" });
    await device.write({ remembered });
    await device.update(({ remembered: before }) => ({
      remembered: before === null ? null : { ...before, stateRev: 4 },
    }));
    expect(await device.read()).toEqual({
      ...empty,
      kind: "own",
      passkeys: ["of a later release"],
      remembered: { ...remembered, stateRev: 4 },
    });
  });

  it.each([
    ["a later version", { v: 2 }],
    ["a damage", { locked: "yes" }],
  ])("stops aloud at %s, and writes nothing over it until the person sets it aside", async (_what, change) => {
    const device = await openDevice(account);
    await device.write({ remembered });
    const { openDB } = await import("idb");
    const database = await openDB("relicario-vault");
    const left: unknown = { ...((await database.get("accounts", device.name)) as object), ...change };
    await database.put("accounts", left, device.name);
    const unreadable = { code: "device_record_unreadable" };
    await expect(device.read()).rejects.toMatchObject(unreadable);
    await expect(device.write({ kind: "own" })).rejects.toMatchObject(unreadable);
    await expect(markLocked(account, 1, null)).rejects.toMatchObject(unreadable);
    expect(await database.get("accounts", device.name)).toEqual(left);
    await device.setAside();
    expect(await device.read()).toEqual(empty);
    expect((await database.getAllKeys("accounts")).map(String)).toEqual([expect.stringMatching(/ set aside 20\d\d-/)]);
    database.close();
  });

  it("stops aloud at a database of a later release: it is no fresh device", async () => {
    (await openDevice(account)).close();
    const { openDB } = await import("idb");
    (await openDB("relicario-vault", 2)).close();
    await expect(openDevice(account)).rejects.toMatchObject({ code: "device_record_unreadable" });
  });

  it("loses nothing that two tabs write at once", async () => {
    const [one, two] = [await openDevice(account), await openDevice(account)];
    const higher = (to: number) => (before: DeviceRecord) => ({
      remembered:
        before.remembered === null || before.remembered.stateRev < to
          ? { ...remembered, stateRev: to }
          : before.remembered,
    });
    await Promise.all([
      one.update(higher(9)),
      two.update(higher(7)),
      two.write({ kind: "own" }),
      one.write({ locked: true }),
    ]);
    expect(await one.read()).toMatchObject({ kind: "own", locked: true, remembered: { stateRev: 9 } });
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
    const refused = {
      open: () => {
        throw new DOMException("no", "SecurityError");
      },
    };
    for (const factory of [undefined, refused]) {
      Object.defineProperty(globalThis, "indexedDB", { value: factory, configurable: true, writable: true });
      const device = await openDevice(account);
      await device.write({ kind: "shared" });
      await keepPending(device, await newAccount());
      expect((await device.read()).kind).toBe("shared");
      expect(await pendingAccount(device)).not.toBeNull();
      expect(await (await openDevice(account)).read()).toEqual(empty);
    }
  });
});

describe("what waits on a device", () => {
  beforeEach(() => {
    globalThis.indexedDB = new IDBFactory();
  });

  it("is there after a reload: the account that was made, and each sketch once, until it is published", async () => {
    const account_ = await newAccount();
    const before = await openDevice(account);
    await keepPending(before, account_);
    for (const subject of ["market", "forest", "market"]) await keepSketch(before, sketchFor(subject));
    before.close();
    const after = await openDevice(account);
    const { keys, ...rest } = account_;
    expect(await pendingAccount(after)).toMatchObject({ ...rest, keys: { recipient: keys.recipient } });
    expect(await keptSketches(after)).toEqual([sketchFor("market"), sketchFor("forest")]);
    const published = (subject: string) => ({
      sketches: [{ image_id: userId, sketch: sketchB64u(sketchFor(subject)) }],
    });
    await forgetSketches(after, published("market"));
    expect(await keptSketches(after)).toEqual([sketchFor("forest")]);
    await forgetSketches(after, published("forest"));
    expect((await after.read()).sketches).toBeNull();
  });
});

describe("two tabs that keep sketches", () => {
  it("lose none by a reading that forgets another", async () => {
    globalThis.indexedDB = new IDBFactory();
    const [one, two] = [await openDevice(account), await openDevice(account)];
    await keepSketch(one, sketchFor("market"));
    let met = false;
    const reading = {
      ...two,
      unwrap: async (...given: Parameters<typeof two.unwrap>) => {
        const bytes = await two.unwrap(...given);
        if (!met) await keepSketch(one, sketchFor("forest"));
        met = true;
        return bytes;
      },
    };
    await forgetSketches(reading, { sketches: [{ image_id: userId, sketch: sketchB64u(sketchFor("market")) }] });
    expect(await keptSketches(one)).toEqual([sketchFor("forest")]);
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
    await keepKeys(account, "own");
    await markLocked(account, 1_000, 1);
    await markLocked(account, 2_000, 2);
    expect(await readDevice(account)).toMatchObject({ locked: true, lockedAt: 1_000, lockedSignIn: 1 });
    await markUnlocked(account, 3_000);
    expect(await readDevice(account)).toMatchObject({ locked: false, lockedAt: null, lastActivity: 3_000 });
    await markLocked(other, 1_000, null);
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
