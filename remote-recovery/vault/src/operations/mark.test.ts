import "fake-indexeddb/auto";

import { unlock } from "../openers/unlock.ts";
import { createWorld, makePicture, textSecret, type World } from "../testing/world.ts";
import { acknowledgeMark, readMark } from "./mark.ts";
import { protect } from "./protect.ts";
import { rotateAccountKey } from "./rotate.ts";
import { setDeviceKind } from "./set-device-kind.ts";

async function createWorldWithSecret(passphrase: string | null = "correct horse"): Promise<World> {
  const world = createWorld();
  await protect(await world.open(), textSecret("First", makePicture("market", passphrase)), {});
  return world;
}

async function unlockOn(world: World, device: string, passphrase: string | null = "correct horse") {
  const vault = await world.open(device);
  (await unlock(vault, makePicture("market", passphrase), {})).opener.wipe();
  return vault;
}

describe("the mark", () => {
  it("is explained where the account was created, and kept through a lock of an own device", async () => {
    const world = createWorld();
    const laptop = await world.open();
    expect(await readMark(laptop)).toBeNull();
    await protect(laptop, textSecret("First", makePicture("market")), {});
    const mark = await readMark(laptop);
    expect(mark).toMatchObject({ note: "first" });
    expect(mark?.words).toHaveLength(3);
    await setDeviceKind(laptop, "own");
    laptop.lock();
    expect(await readMark(laptop)).toEqual(mark);
    await acknowledgeMark(laptop);
    expect(await readMark(await world.open())).toEqual({ ...mark, note: null });
  });

  it("is asked for where nothing was remembered of the account, and not again", async () => {
    const world = await createWorldWithSecret();
    const phone = await unlockOn(world, "phone");
    const mark = await readMark(phone);
    expect(mark).toMatchObject({ note: null });
    expect(world.markQuestions).toEqual([{ mark: { words: mark?.words, colour: mark?.colour }, isPlain: false }]);
    await setDeviceKind(phone, "own");
    await unlockOn(world, "phone");
    await unlockOn(world, "laptop"); // made the account
    expect(world.markQuestions).toHaveLength(1);
  });

  it("says that the account has no passphrase when it was opened without one", async () => {
    const world = await createWorldWithSecret(null);
    await unlockOn(world, "phone", null);
    expect(world.markQuestions).toMatchObject([{ isPlain: true }]);
  });

  it("that is not the person's opens nothing, and leaves nothing on the device", async () => {
    const world = await createWorldWithSecret(null);
    world.knowsMark = false;
    const phone = await world.open("phone");
    const before = await phone.device.read();
    await expect(unlock(phone, makePicture("market"), {})).rejects.toMatchObject({ code: "mark_refused" });
    expect([phone.keys, phone.accountKey, phone.state]).toEqual([null, null, { status: "locked" }]);
    expect(await phone.device.read()).toEqual(before);
    expect(await readMark(phone)).toBeNull();
  });

  it("is not kept on a shared computer, or once a device is declared one", async () => {
    const world = await createWorldWithSecret();
    const phone = await unlockOn(world, "phone");
    await setDeviceKind(phone, "own");
    await setDeviceKind(phone, "shared");
    expect(await readMark(phone)).not.toBeNull();
    phone.lock();
    expect(await readMark(phone)).toBeNull();
  });

  it("changes with the keys, and says so", async () => {
    const world = await createWorldWithSecret();
    const phone = await unlockOn(world, "phone");
    await setDeviceKind(phone, "own");
    const mark = await readMark(phone);
    await rotateAccountKey(phone, [makePicture("market", "correct horse")], {});
    const newMark = await readMark(phone);
    expect(newMark).toMatchObject({ note: "replaced" });
    expect(newMark?.words).not.toEqual(mark?.words);
  });
});
