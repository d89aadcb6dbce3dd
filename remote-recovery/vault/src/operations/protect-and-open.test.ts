import "fake-indexeddb/auto";

import { createWorld, makePicture, textSecret } from "../testing/world.ts";
import { list } from "./list.ts";
import { protect } from "./protect.ts";
import { openSmallSecret } from "./open-secret.ts";
import { setDeviceKind } from "./set-device-kind.ts";
import { unlock } from "../openers/unlock.ts";

const decodeText = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

describe("protecting and opening", () => {
  it.each([null, "correct horse"])(
    "protects, unlocks on another device and recovers (passphrase %j)",
    async (passphrase) => {
      const world = createWorld();
      const laptop = await world.open();
      const { secretId, version } = await protect(
        laptop,
        textSecret("Seed", makePicture("market", passphrase), "twelve words"),
        {},
      );
      expect(version).toBe(1);
      expect(laptop.state).toEqual({ status: "unlocked", device: null });

      const phone = await world.open("phone");
      expect((await list(phone)).map((row) => row.label)).toEqual([null]);
      expect(phone.state).toEqual({ status: "locked" });
      (await unlock(phone, makePicture("market/small", passphrase), {})).opener.wipe();
      expect((await list(phone)).map((row) => row.label?.title)).toEqual(["Seed"]);
      const secret = await openSmallSecret(phone, secretId, makePicture("market/messenger", passphrase), {});
      expect(decodeText(secret.content)).toBe("twelve words");
      expect(secret.signatureStatus).toBe("verified");
      expect(secret.signedTitle).toBeNull();
    },
  );

  it("unlocks and opens with one picture on a locked device", async () => {
    const world = createWorld();
    const { secretId } = await protect(await world.open(), textSecret("Seed", makePicture("market")), {});
    const phone = await world.open("phone");
    const secret = await openSmallSecret(phone, secretId, makePicture("market"), {});
    expect(decodeText(secret.content)).toBe("content of Seed");
    expect(phone.state.status).toBe("unlocked");
  });

  it("starts unlocked on an own device", async () => {
    const world = createWorld();
    const ownDevice = await world.open();
    await protect(ownDevice, textSecret("Seed", makePicture("market")), {});
    await setDeviceKind(ownDevice, "own");
    const reopened = await world.open();
    expect((await list(reopened)).map((row) => row.label?.title)).toEqual(["Seed"]);
  });
});
