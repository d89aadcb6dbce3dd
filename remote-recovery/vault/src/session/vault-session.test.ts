import "fake-indexeddb/auto";

import { PortalError } from "@relicario/shared/errors";

import { fetchVerifiedKeyring } from "../keyring/fetch-keyring.ts";
import { refreshKeyring } from "../keyring/refresh-keyring.ts";
import { unlock } from "../openers/unlock.ts";
import { list } from "../operations/list.ts";
import { protect } from "../operations/protect.ts";
import { resetAccount } from "../operations/reset-account.ts";
import { rotateAccountKey } from "../operations/rotate.ts";
import { setDeviceKind } from "../operations/set-device-kind.ts";
import { deriveMetadataKeys, hasSameAccountKey } from "../seal/account-key.ts";
import { createWorld, makePicture, textSecret, type World } from "../testing/world.ts";
import type { VaultSession } from "./vault-session.ts";

let world: World;
let laptop: VaultSession;

beforeEach(async () => {
  world = createWorld();
  laptop = await world.open();
  await protect(laptop, textSecret("First", makePicture("market")), {});
});

const getSessionState = ({ keys, accountKey, adoptedAccount, rejectedState, state }: VaultSession): unknown[] => [
  keys,
  accountKey,
  adoptedAccount,
  rejectedState,
  state,
];

/** Expects that `read` changes neither the session nor the device. */
async function expectUnchanged(vault: VaultSession, read: () => Promise<unknown>): Promise<void> {
  const [stateBefore, recordBefore] = [getSessionState(vault), await vault.device.read()];
  await read();
  const stateAfter = getSessionState(vault);
  for (const [index, value] of stateBefore.entries()) expect(stateAfter[index]).toBe(value);
  expect(await vault.device.read()).toEqual(recordBefore);
}

describe("fetchVerifiedKeyring", () => {
  it("changes nothing if there is a newer state", async () => {
    const phone = await world.open("phone");
    (await unlock(phone, makePicture("market"), {})).opener.wipe();
    await protect(phone, textSecret("Second"), {});
    await expectUnchanged(laptop, async () => {
      expect(await fetchVerifiedKeyring(laptop)).toMatchObject({ keyring: { state_rev: 2 } });
    });
    await refreshKeyring(laptop);
    expect(await laptop.loadCheckpoint()).toMatchObject({ stateRev: 2 });
  });

  it("changes nothing while locked", async () => {
    const phone = await world.open("phone");
    await expectUnchanged(phone, () => fetchVerifiedKeyring(phone));
  });

  it("changes nothing if it refuses an older state", async () => {
    const earlierSnapshot = world.service.snapshot();
    await protect(laptop, textSecret("Second"), {});
    world.service.account = earlierSnapshot;
    await expectUnchanged(laptop, () =>
      expect(fetchVerifiedKeyring(laptop)).rejects.toMatchObject({ code: "older_state" }),
    );
    await expect(refreshKeyring(laptop)).rejects.toMatchObject({ code: "older_state" });
    expect(laptop.rejectedState).toMatchObject({ stateRev: 1 });
  });
});

describe("VaultSession", () => {
  it("is locked without keys and unlocked by an opener", async () => {
    laptop.lock();
    expect(getSessionState(laptop)).toEqual([null, null, null, null, { status: "locked" }]);
    expect(() => laptop.requireKeys()).toThrow("vault_locked");
    (await unlock(laptop, makePicture("market"), {})).opener.wipe();
    expect([laptop.requireKeys().keyEpoch, laptop.requireAccountKey().keyEpoch]).toEqual([1, 1]);
  });

  it("has no account key on an own device until an opener is presented", async () => {
    await setDeviceKind(laptop, "own");
    const reloaded = await world.open();
    expect(reloaded.keys?.keyEpoch).toBe(1);
    expect(() => reloaded.requireAccountKey()).toThrow("show_opener_first");
  });

  it("keeps its keys when an account is adopted and the adoption is undone", async () => {
    const otherAccountVault = await createWorld().open();
    const adopt = jest.spyOn(otherAccountVault, "adopt");
    await protect(otherAccountVault, textSecret("Other", makePicture("forest")), {});
    const [account] = adopt.mock.calls[0] ?? [];
    if (account === undefined) throw new TypeError("expected an adopted account");
    const stateBefore = getSessionState(laptop);
    const undo = laptop.adopt(account);
    expect(laptop.adoptedAccount).toBe(account);
    expect([laptop.keys, laptop.accountKey]).toEqual([stateBefore[0], stateBefore[1]]);
    undo();
    expect(getSessionState(laptop)).toEqual(stateBefore);
  });

  it("keeps the keys of a published reset if the device then fails", async () => {
    world.service.account.accountReset = "ready";
    const { update } = laptop.device;
    const updateSpy = jest
      .spyOn(laptop.device, "update")
      .mockImplementation((change) =>
        laptop.keys?.keyEpoch === 2 ? Promise.reject(new PortalError("storage_full")) : update(change),
      );
    await expect(
      resetAccount(laptop, { presentedPicture: makePicture("forest"), name: "Forest" }),
    ).rejects.toMatchObject({ code: "storage_full" });
    updateSpy.mockRestore();
    expect([laptop.requireKeys().keyEpoch, laptop.requireAccountKey().keyEpoch]).toEqual([2, 2]);
    await protect(laptop, textSecret("After", makePicture("forest")), {});
  });

  it("stays locked if the device cannot be written", async () => {
    const phone = await world.open("phone");
    jest.spyOn(phone.device, "update").mockRejectedValue(new PortalError("device_record_unreadable"));
    await expect(unlock(phone, makePicture("market"), {})).rejects.toMatchObject({ code: "device_record_unreadable" });
    expect([phone.keys, phone.accountKey]).toEqual([null, null]);
  });

  it("stays locked if the disk of an own device is full", async () => {
    await setDeviceKind(laptop, "own");
    await laptop.device.write({ locked: true, lockedAt: 1 });
    const reloaded = await world.open();
    jest.spyOn(reloaded.device, "update").mockRejectedValue(new PortalError("storage_full"));
    await expect(unlock(reloaded, makePicture("market"), {})).rejects.toMatchObject({ code: "storage_full" });
    expect([reloaded.keys, reloaded.accountKey, reloaded.state]).toEqual([null, null, { status: "locked" }]);
  });

  it("discards keys and opened rows when locked", async () => {
    await list(laptop);
    const key = laptop.requireAccountKey();
    laptop.lock();
    expect(key.withBytes((bytes) => bytes.every((byte) => byte === 0))).toBe(true);
    expect(laptop.listCache.get()).toBeNull();
  });
});

/** Returns the epoch of the session's keys, and whether the account key belongs to them. */
async function readKeyPair({ keys, accountKey }: VaultSession): Promise<readonly [number | undefined, boolean]> {
  const isPair = keys !== null && accountKey !== null && hasSameAccountKey(keys, await deriveMetadataKeys(accountKey));
  return [keys?.keyEpoch, isPair];
}

describe("account key and metadata keys always belong to one account", () => {
  it("when the response to a published change arrives after a rotation elsewhere", async () => {
    const phone = await world.open("phone");
    (await unlock(phone, makePicture("market"), {})).opener.wipe();
    const { store } = laptop.service;
    Object.assign(laptop.service, {
      store: async (...args: Parameters<typeof store>) => {
        const response = await store(...args);
        await rotateAccountKey(phone, [makePicture("market")], {});
        (await unlock(laptop, makePicture("market"), {})).opener.wipe();
        return response;
      },
    });
    await protect(laptop, textSecret("Second"), {});
    expect(await readKeyPair(laptop)).toEqual([2, true]);
  });

  it("when an old opener unlocks during a reset", async () => {
    const tab = await world.open("tab");
    let releaseUnlock: () => void = () => undefined;
    const unlockReleased = new Promise<void>((resolve) => (releaseUnlock = resolve));
    let announceUnlock: () => void = () => undefined;
    const unlockReached = new Promise<void>((resolve) => (announceUnlock = resolve));
    const unlockSession = tab.unlock.bind(tab);
    jest.spyOn(tab, "unlock").mockImplementation(async (...args) => {
      announceUnlock();
      await unlockReleased;
      await unlockSession(...args);
    });
    const unlocking = unlock(tab, makePicture("market"), {});
    await unlockReached;
    world.service.account.accountReset = "ready";
    const { getImageRecords } = tab.service;
    Object.assign(tab.service, {
      getImageRecords: async (...args: Parameters<typeof getImageRecords>) => {
        const records = await getImageRecords(...args);
        if (tab.adoptedAccount !== null) {
          releaseUnlock();
          await unlocking.catch(() => undefined);
        }
        return records;
      },
    });
    await resetAccount(tab, { presentedPicture: makePicture("forest"), name: "Forest" });
    expect(await readKeyPair(tab)).toEqual([2, true]);
    await refreshKeyring(tab);
    (await unlock(tab, makePicture("forest"), {})).opener.wipe();
  });

  it("while a reset has not been read back", async () => {
    world.service.account.accountReset = "ready";
    const pairs: Promise<readonly [number | undefined, boolean]>[] = [];
    const adopt = laptop.adopt.bind(laptop);
    jest.spyOn(laptop, "adopt").mockImplementation((account) => {
      const undo = adopt(account);
      pairs.push(readKeyPair(laptop));
      return undo;
    });
    await resetAccount(laptop, { presentedPicture: makePicture("forest"), name: "Forest" });
    expect(await Promise.all(pairs)).toEqual([[1, true]]);
    expect(await readKeyPair(laptop)).toEqual([2, true]);
  });

  it("when a reading of one new account ends after another account was adopted", async () => {
    const stranger = await createWorld().open();
    const adopt = jest.spyOn(stranger, "adopt");
    await protect(stranger, textSecret("Other", makePicture("forest")), {});
    const [other] = adopt.mock.calls[0] ?? [];
    if (other === undefined) throw new TypeError("expected an account");
    const verified = await fetchVerifiedKeyring(laptop);
    if (verified?.contents == null) throw new TypeError("expected an opened keyring");
    laptop.adopt(other);
    const { contents } = verified;
    const statementSig = verified.keyring.key_statement.sig;
    await laptop.apply({
      ...verified,
      pendingAccount: { kind: "published", statementSig, contents, hasSlotAndRecord: true },
    });
    expect(laptop.adoptedAccount).toBe(other);
    expect(await readKeyPair(laptop)).toEqual([1, true]);
    await laptop.apply({ ...verified, pendingAccount: { kind: "superseded", statementSig } });
    expect(laptop.adoptedAccount).toBe(other);
  });
});
