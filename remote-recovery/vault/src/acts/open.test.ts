import "fake-indexeddb/auto";

import { createWorld, shown, textSecret, type World } from "../testing/world.ts";
import { examine, images } from "./examine.ts";
import { list } from "./list.ts";
import { protect } from "./protect.ts";
import { readKeyring } from "../steps/read-keyring.ts";
import { recover } from "./recover.ts";
import { restore, setFavorite, trash } from "./favorite-and-trash.ts";
import { answerDevice, unlock } from "./unlock.ts";

const code = (expected: string): unknown => expect.objectContaining({ code: expected });

async function worldWith(passphrase: string | null): Promise<{ world: World; secretId: string }> {
  const world = createWorld();
  const { secretId } = await protect(await world.open(), textSecret("First", shown("market", passphrase)), {});
  return { world, secretId };
}

describe("unlock", () => {
  it("says kindly that it is not this picture, and lets the next one try", async () => {
    const { world } = await worldWith(null);
    const phone = await world.open("phone");
    await expect(unlock(phone, shown("forest"), {})).rejects.toEqual(code("not_this_picture"));
    await expect(unlock(phone, shown("market/cropped"), {})).rejects.toEqual(code("not_this_picture"));
    (await unlock(phone, shown("market"), {})).opener.forget();
    expect(phone.getState()).toEqual({ status: "unlocked", device: null });
  });

  it.each([
    ["another picture", "forest", "right"],
    ["another passphrase", "market", "wrong"],
    ["a passphrase in other case", "market", "Right"],
    ["a passphrase with a space behind", "market", "right "],
    ["no passphrase", "market", null],
    ["an empty passphrase", "market", ""],
  ])("does not say which of the two it was: %s", async (_what, picture, passphrase) => {
    const { world } = await worldWith("right");
    await expect(unlock(await world.open("phone"), shown(picture, passphrase), {})).rejects.toEqual(
      code("not_this_picture_or_passphrase"),
    );
  });

  it("searches all plain helpers at once, and all encrypted ones once a passphrase is typed", async () => {
    const { world } = await worldWith(null);
    const laptop = await world.open();
    (await unlock(laptop, shown("market"), {})).opener.forget();
    await protect(laptop, textSecret("Second", shown("forest")), {});
    await protect(laptop, textSecret("Third", shown("harbour", "phrase")), {});
    const phone = await world.open("phone");
    world.engine.calls.length = 0;
    (await unlock(phone, shown("forest"), {})).opener.forget();
    expect(world.engine.calls).toEqual(["recover among 2"]);
    world.engine.calls.length = 0;
    (await unlock(await world.open("tablet"), shown("harbour", "phrase"), {})).opener.forget();
    expect(world.engine.calls).toEqual(["recover among 1"]);
  });

  it("refuses a plain helper that fits when a passphrase was typed", async () => {
    const { world } = await worldWith(null);
    await expect(unlock(await world.open("phone"), shown("market", "typed"), {})).rejects.toEqual(
      code("plain_helper_refused"),
    );
  });

  it("has nothing to open before the first secret", async () => {
    const vault = await createWorld().open();
    await expect(unlock(vault, shown("market"), {})).rejects.toEqual(code("no_keyring"));
    expect(vault.getState()).toEqual({ status: "empty" });
  });

  it("is cancelled between Argon2id and Argon2id, and stays locked", async () => {
    const { world } = await worldWith("right");
    const phone = await world.open("phone");
    const controller = new AbortController();
    const options = {
      signal: controller.signal,
      onProgress: ({ phase }: { phase: string }) => {
        if (phase === "passphrase") controller.abort();
      },
    };
    await expect(unlock(phone, shown("market", "right"), options)).rejects.toEqual(code("cancelled"));
    expect(phone.keys).toBeNull();
  });
});

describe("recover", () => {
  it("reads the keyring once, locked or not, and once more when somebody wrote in between", async () => {
    const { world, secretId } = await worldWith(null);
    const phone = await world.open("phone");
    const readings = async (): Promise<number> => {
      const before = world.service.calls.length;
      await recover(phone, secretId, shown("market"), {});
      return world.service.calls.slice(before).filter((call) => call === "GET /user/keyring").length;
    };
    expect(phone.keys).toBeNull();
    expect(await readings()).toBe(1);
    expect(phone.keys).not.toBeNull();
    expect(await readings()).toBe(1);

    const tablet = await world.open("tablet");
    let written = false;
    world.service.before = async (call) => {
      if (call !== "GET /secrets/store" || written) return;
      written = true;
      await protect(phone, textSecret("Meanwhile"), {});
    };
    expect((await recover(tablet, secretId, shown("market"), {})).title).toBe("First");
    expect(written).toBe(true);
  });

  it("takes an opener every time, also on an unlocked device", async () => {
    const { world, secretId } = await worldWith(null);
    const laptop = await world.open();
    (await unlock(laptop, shown("market"), {})).opener.forget();
    await expect(recover(laptop, secretId, shown("forest"), {})).rejects.toEqual(code("not_this_picture"));
    expect((await recover(laptop, secretId, shown("market"), {})).title).toBe("First");
  });

  it("knows no secret that is not in the list", async () => {
    const { world } = await worldWith(null);
    for (const id of ["019a9e2c-7c1e-7abc-8def-0123456789ff", "../user/me", ""]) {
      await expect(recover(await world.open("phone"), id, shown("market"), {})).rejects.toEqual(code("not_found"));
    }
  });

  it("gives back a file of any bytes, its name and type, and what the age tool needs", async () => {
    const { world } = await worldWith(null);
    const laptop = await world.open();
    (await unlock(laptop, shown("market"), {})).opener.forget();
    const content = Uint8Array.from({ length: 1000 }, (_, index) => index % 256);
    const request = {
      ...textSecret("File"),
      contentKind: "file" as const,
      name: "../evil\u202e.png",
      mime: "image/png",
      content: new Blob([content]),
    };
    const { secretId } = await protect(laptop, request, {});
    const secret = await recover(laptop, secretId, shown("market"), {});
    expect(secret).toMatchObject({
      name: "../evil\u202e.png",
      mime: "image/png",
      contentKind: "file",
      author: "verified",
      version: 1,
    });
    expect(secret.content).toEqual(content);
    expect(secret.ageFile.identity).toMatch(/^AGE-SECRET-KEY-PQ-1/);
    expect(secret.ageFile.size).toBe(1000);
  });

  it("says so when the content is too large for one answer", async () => {
    const { world, secretId } = await worldWith(null);
    world.service.answer = (call, answer) =>
      call === "POST /secrets/store/get-secret" ? { ...(answer as object), content: null } : answer;
    await expect(recover(await world.open("phone"), secretId, shown("market"), {})).rejects.toEqual(
      code("payload_too_large"),
    );
  });
});

describe("examine", () => {
  it("judges, and tells of the book only when unlocked", async () => {
    const { world } = await worldWith(null);
    const phone = await world.open("phone");
    expect(await examine(phone, shown("market").picture, {})).toMatchObject({
      level: "green",
      reasons: [],
      width: 3000,
      known: null,
    });
    (await unlock(phone, shown("market"), {})).opener.forget();
    expect((await examine(phone, shown("market/small").picture, {})).known).toMatchObject({
      kind: "same",
      image: { name: "The market" },
    });
    expect((await examine(phone, shown("market/cropped").picture, {})).known).toMatchObject({
      kind: "resembles",
      image: { name: "The market" },
    });
    expect(await examine(phone, shown("amber-sky").picture, {})).toMatchObject({
      level: "amber",
      reasons: ["estimate"],
      known: null,
    });
    expect((await examine(phone, shown("plain-wall").picture, {})).level).toBe("red");
    expect(await examine(phone, shown("pale-sand").picture, {})).toMatchObject({
      level: "amber",
      reasons: ["copy_bright"],
      known: null,
    });
    await expect(examine(phone, new Blob(["%PDF"]), {})).rejects.toEqual(code("picture_unreadable"));
  });

  it("lists images by name, none while locked", async () => {
    const { world } = await worldWith(null);
    const phone = await world.open("phone");
    expect(await images(phone)).toEqual([]);
    (await unlock(phone, shown("market"), {})).opener.forget();
    expect((await images(phone)).map(({ name }) => name)).toEqual(["The market"]);
  });
});

describe("rows", () => {
  it("are starred, trashed and taken out again without an opener, and still fit the state", async () => {
    const { world, secretId } = await worldWith(null);
    const phone = await world.open("phone");
    (await unlock(phone, shown("market"), {})).opener.forget();
    await setFavorite(phone, secretId, true);
    await trash(phone, secretId);
    expect(await list(phone)).toMatchObject([{ favorite: true, deletedAt: expect.any(String) as string }]);
    await restore(phone, secretId);
    await setFavorite(phone, secretId, false);
    expect(await list(phone)).toMatchObject([{ favorite: false, deletedAt: null }]);
    await protect(phone, textSecret("Second"), {});
    expect(await list(phone)).toHaveLength(2);
  });

  it("send no id that is none", async () => {
    const { world } = await worldWith(null);
    const phone = await world.open("phone");
    world.service.calls.length = 0;
    for (const act of [() => trash(phone, "../me"), () => restore(phone, "x"), () => setFavorite(phone, "", true)])
      await expect(act()).rejects.toEqual(code("not_found"));
    expect(world.service.calls).toEqual([]);
  });
});

describe("a device", () => {
  it("asks once, and changes its mind when told", async () => {
    const { world } = await worldWith(null);
    const phone = await world.open("phone");
    await expect(answerDevice(phone, "own")).rejects.toEqual(code("vault_locked"));
    (await unlock(phone, shown("market"), {})).opener.forget();
    await answerDevice(phone, "own");
    expect((await world.open("phone")).keys).not.toBeNull();
    await answerDevice(phone, "shared");
    expect(phone.getState()).toEqual({ status: "unlocked", device: "shared" });
    expect((await world.open("phone")).keys).toBeNull();
    expect((await phone.device.read()).titlesKeys).toBeNull();
  });

  it("locks itself when the account key was changed elsewhere", async () => {
    const { world } = await worldWith(null);
    const laptop = await world.open();
    (await unlock(laptop, shown("market"), {})).opener.forget();
    world.service.answer = (call, answer) =>
      call === "GET /user/keyring" ? { ...(answer as object), key_epoch: 2 } : answer;
    expect((await readKeyring(laptop))?.opened).toBeNull();
    expect(laptop.getState()).toEqual({ status: "locked" });
  });
});
