import "fake-indexeddb/auto";

import { unlock } from "../openers/unlock.ts";
import { openSharedContentKey } from "../shares/shared-content-key.ts";
import { createWorld, makePicture, textSecret } from "../testing/world.ts";
import { addOpener } from "./openers.ts";
import { openSmallSecret, openSecret } from "./open-secret.ts";
import { protect } from "./protect.ts";
import { removeOpener } from "./reseal-for-all-openers.ts";
import { setDeviceKind } from "./set-device-kind.ts";

const market = makePicture("market");

async function createUnlockedVault(keepOpenerUntil: number | null) {
  const world = createWorld();
  const { secretId } = await protect(await world.open(), textSecret("First", market), {});
  const clock = { now: Date.now() };
  Object.assign(world, { keepOpenerUntil, now: () => clock.now });
  const vault = await world.open("phone");
  (await unlock(vault, market)).opener.wipe();
  const open = (): Promise<unknown> => openSecret(vault, secretId, null).then(({ title }) => title);
  return { world, vault, secretId, clock, open };
}

const asks = { code: "show_opener_first" };

describe("an opener that is kept open", () => {
  it("opens and shares further secrets until its time is over", async () => {
    const { vault, secretId, clock, open } = await createUnlockedVault(Date.now() + 300_000);
    expect(await open()).toBe("First");
    expect(await openSharedContentKey(vault, secretId, null, {})).toMatchObject({ signatureStatus: "verified" });
    clock.now += 299_000;
    expect(await open()).toBe("First");
    clock.now += 1_000 + 300_000;
    await expect(open()).rejects.toMatchObject(asks);
  });

  it("is not kept where the person wants to be asked every time", async () => {
    const { open } = await createUnlockedVault(null);
    await expect(open()).rejects.toMatchObject(asks);
  });

  it("ends with a release and with the lock", async () => {
    const { vault, open } = await createUnlockedVault(Infinity);
    vault.releaseKeptOpener();
    await expect(open()).rejects.toMatchObject(asks);
    (await unlock(vault, market)).opener.wipe();
    expect(await open()).toBe("First");
    vault.lock();
    await expect(open()).rejects.toMatchObject(asks);
  });

  it("opens nothing on an own device that only has the metadata keys", async () => {
    const { world, vault, secretId } = await createUnlockedVault(Infinity);
    await setDeviceKind(vault, "own");
    await expect(openSecret(await world.open("phone"), secretId, null)).rejects.toMatchObject(asks);
  });

  it("opens nothing once it was removed", async () => {
    const { vault } = await createUnlockedVault(Infinity);
    const makeKey = () => ({ kind: "passkey", prf: new Uint8Array(32).fill(7) }) as const;
    const { openerId } = await addOpener(vault, { key: makeKey(), name: "Key" }, null);
    const { secretId } = await protect(vault, textSecret("Second"), {});
    await openSmallSecret(vault, secretId, makeKey());
    const open = () => openSecret(vault, secretId, null);
    expect((await open()).title).toBe("Second");
    jest.spyOn(vault, "keepOpener").mockResolvedValue(); // the picture does not take the place of the passkey
    await removeOpener(vault, openerId, market);
    await expect(open()).rejects.toMatchObject(asks);
  });
});
