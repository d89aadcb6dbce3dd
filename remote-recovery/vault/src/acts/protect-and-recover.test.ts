import "fake-indexeddb/auto";

import { createWorld, shown, textSecret } from "../testing/world.ts";
import { list } from "./list.ts";
import { protect } from "./protect.ts";
import { recover } from "./recover.ts";
import { answerDevice, unlock } from "./unlock.ts";

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

describe("the main job", () => {
  it.each([null, "correct horse"])(
    "protects, unlocks on another device and recovers (passphrase %j)",
    async (passphrase) => {
      const world = createWorld();
      const laptop = await world.open();
      const { secretId, version } = await protect(
        laptop,
        textSecret("Seed", shown("market", passphrase), "twelve words"),
        {},
      );
      expect(version).toBe(1);
      expect(laptop.getState()).toEqual({ status: "unlocked", device: null });

      const phone = await world.open("phone");
      expect((await list(phone)).map((row) => row.label)).toEqual([null]);
      expect(phone.getState()).toEqual({ status: "locked" });
      (await unlock(phone, shown("market/small", passphrase), {})).opener.forget();
      expect((await list(phone)).map((row) => row.label?.title)).toEqual(["Seed"]);
      const secret = await recover(phone, secretId, shown("market/messenger", passphrase), {});
      expect(text(secret.content)).toBe("twelve words");
      expect(secret.author).toBe("verified");
    },
  );

  it("unlocks and opens with one picture on a locked device", async () => {
    const world = createWorld();
    const { secretId } = await protect(await world.open(), textSecret("Seed", shown("market")), {});
    const phone = await world.open("phone");
    const secret = await recover(phone, secretId, shown("market"), {});
    expect(text(secret.content)).toBe("content of Seed");
    expect(phone.getState().status).toBe("unlocked");
  });

  it("starts unlocked on an own device", async () => {
    const world = createWorld();
    const first = await world.open();
    await protect(first, textSecret("Seed", shown("market")), {});
    await answerDevice(first, "own");
    const again = await world.open();
    expect((await list(again)).map((row) => row.label?.title)).toEqual(["Seed"]);
  });
});
