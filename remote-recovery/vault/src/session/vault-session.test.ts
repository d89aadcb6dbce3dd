import "fake-indexeddb/auto";

import { fetchVerifiedKeyring } from "../keyring/fetch-keyring.ts";
import { refreshKeyring } from "../keyring/refresh-keyring.ts";
import { unlock } from "../openers/unlock.ts";
import { protect } from "../operations/protect.ts";
import { setDeviceKind } from "../operations/set-device-kind.ts";
import { createWorld, makePicture, textSecret, type World } from "../testing/world.ts";
import type { VaultSession } from "./vault-session.ts";

let world: World;
let laptop: VaultSession;

beforeEach(async () => {
  world = createWorld();
  laptop = await world.open();
  await protect(laptop, textSecret("First", makePicture("market")), {});
});

const heldBy = ({ keys, accountKey, pending, rejectedState, state }: VaultSession): unknown[] => [
  keys,
  accountKey,
  pending,
  rejectedState,
  state,
];

/** Calls `read`, and expects that it leaves session and device as they are. */
async function expectUnchanged(vault: VaultSession, read: () => Promise<unknown>): Promise<void> {
  const before = { held: heldBy(vault), record: await vault.device.read() };
  await read();
  const after = heldBy(vault);
  for (const [index, value] of before.held.entries()) expect(after[index]).toBe(value);
  expect(await vault.device.read()).toEqual(before.record);
}

describe("fetchVerifiedKeyring", () => {
  it("changes nothing when there is a newer state", async () => {
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

  it("changes nothing when it refuses an older state", async () => {
    const earlier = world.service.snapshot();
    await protect(laptop, textSecret("Second"), {});
    world.service.account = earlier;
    await expectUnchanged(laptop, () =>
      expect(fetchVerifiedKeyring(laptop)).rejects.toMatchObject({ code: "older_state" }),
    );
    await expect(refreshKeyring(laptop)).rejects.toMatchObject({ code: "older_state" });
    expect(laptop.rejectedState).toMatchObject({ stateRev: 1 });
  });
});

describe("a session", () => {
  it("is locked without a key, and unlocked by an opener", async () => {
    laptop.lock();
    expect(heldBy(laptop)).toEqual([null, null, null, null, { status: "locked" }]);
    expect(() => laptop.requireKeys()).toThrow("vault_locked");
    (await unlock(laptop, makePicture("market"), {})).opener.wipe();
    expect([laptop.requireKeys().keyEpoch, laptop.requireAccountKey().keyEpoch]).toEqual([1, 1]);
  });

  it("has no account key on an own device before an opener is shown", async () => {
    await setDeviceKind(laptop, "own");
    const reloaded = await world.open();
    expect(reloaded.keys?.keyEpoch).toBe(1);
    expect(() => reloaded.requireAccountKey()).toThrow("show_opener_first");
  });

  it("holds again what it held when an adoption is undone", async () => {
    const stranger = await createWorld().open();
    const adopt = jest.spyOn(stranger, "adopt");
    await protect(stranger, textSecret("Other", makePicture("forest")), {});
    const [account] = adopt.mock.calls[0] ?? [];
    if (account === undefined) throw new TypeError("an account");
    const before = heldBy(laptop);
    const undo = laptop.adopt(account, stranger.requireAccountKey());
    expect([laptop.pending, laptop.accountKey]).toEqual([account, stranger.accountKey]);
    expect(laptop.keys).toBe(before[0]);
    undo();
    expect(heldBy(laptop)).toEqual(before);
  });
});
