import "fake-indexeddb/auto";

import { createWorld, makePicture, textSecret, type World } from "../testing/world.ts";
import { examine, listImages } from "./examine.ts";
import { list } from "./list.ts";
import { protect } from "./protect.ts";
import { refreshKeyring } from "../keyring/refresh-keyring.ts";
import { openSmallSecret } from "./open-secret.ts";
import { restore, setFavorite, trash } from "./favorite-and-trash.ts";
import { setDeviceKind } from "./set-device-kind.ts";
import { unlock } from "../openers/unlock.ts";

const errorWithCode = (expected: string): unknown => expect.objectContaining({ code: expected });

async function createWorldWithSecret(passphrase: string | null): Promise<{ world: World; secretId: string }> {
  const world = createWorld();
  const { secretId } = await protect(await world.open(), textSecret("First", makePicture("market", passphrase)), {});
  return { world, secretId };
}

describe("unlock", () => {
  it("says kindly that it is not this picture, and lets the next one try", async () => {
    const { world } = await createWorldWithSecret(null);
    const phone = await world.open("phone");
    await expect(unlock(phone, makePicture("forest"), {})).rejects.toEqual(errorWithCode("not_this_picture"));
    await expect(unlock(phone, makePicture("market/cropped"), {})).rejects.toEqual(errorWithCode("not_this_picture"));
    (await unlock(phone, makePicture("market"), {})).opener.wipe();
    expect(phone.state).toEqual({ status: "unlocked", device: null });
  });

  it.each([
    ["another picture", "forest", "right"],
    ["another passphrase", "market", "wrong"],
    ["a passphrase in other case", "market", "Right"],
    ["a passphrase with a space behind", "market", "right "],
    ["no passphrase", "market", null],
    ["an empty passphrase", "market", ""],
  ])("does not say which of the two it was: %s", async (_case, picture, passphrase) => {
    const { world } = await createWorldWithSecret("right");
    await expect(unlock(await world.open("phone"), makePicture(picture, passphrase), {})).rejects.toEqual(
      errorWithCode("not_this_picture_or_passphrase"),
    );
  });

  it("searches all plain helpers at once, and all encrypted ones once a passphrase is typed", async () => {
    const { world } = await createWorldWithSecret(null);
    const laptop = await world.open();
    (await unlock(laptop, makePicture("market"), {})).opener.wipe();
    await protect(laptop, textSecret("Second", makePicture("forest")), {});
    await protect(laptop, textSecret("Third", makePicture("harbour", "phrase")), {});
    const phone = await world.open("phone");
    world.engine.calls.length = 0;
    (await unlock(phone, makePicture("forest"), {})).opener.wipe();
    expect(world.engine.calls).toEqual(["recover among 2"]);
    world.engine.calls.length = 0;
    (await unlock(await world.open("tablet"), makePicture("harbour", "phrase"), {})).opener.wipe();
    expect(world.engine.calls).toEqual(["recover among 1"]);
  });

  it("refuses a plain helper that fits when a passphrase was typed", async () => {
    const { world } = await createWorldWithSecret(null);
    await expect(unlock(await world.open("phone"), makePicture("market", "typed"), {})).rejects.toEqual(
      errorWithCode("plain_helper_refused"),
    );
  });

  it("has nothing to open before the first secret", async () => {
    const vault = await createWorld().open();
    await expect(unlock(vault, makePicture("market"), {})).rejects.toEqual(errorWithCode("no_keyring"));
    expect(vault.state).toEqual({ status: "empty" });
  });

  it("is cancelled between Argon2id and Argon2id, and stays locked", async () => {
    const { world } = await createWorldWithSecret("right");
    const phone = await world.open("phone");
    const controller = new AbortController();
    const options = {
      signal: controller.signal,
      onProgress: ({ phase }: { phase: string }) => {
        if (phase === "passphrase") controller.abort();
      },
    };
    await expect(unlock(phone, makePicture("market", "right"), options)).rejects.toEqual(errorWithCode("cancelled"));
    expect(phone.keys).toBeNull();
  });
});

describe("recover", () => {
  it("reads the keyring once, locked or not, and once more when somebody wrote in between", async () => {
    const { world, secretId } = await createWorldWithSecret(null);
    const phone = await world.open("phone");
    const countReadings = async (): Promise<number> => {
      const before = world.service.calls.length;
      await openSmallSecret(phone, secretId, makePicture("market"), {});
      return world.service.calls.slice(before).filter((call) => call === "GET /user/keyring").length;
    };
    expect(phone.keys).toBeNull();
    expect(await countReadings()).toBe(1);
    expect(phone.keys).not.toBeNull();
    expect(await countReadings()).toBe(1);

    const tablet = await world.open("tablet");
    let written = false;
    world.service.beforeCall = async (call) => {
      if (call !== "GET /secrets/store" || written) return;
      written = true;
      await protect(phone, textSecret("Meanwhile"), {});
    };
    expect((await openSmallSecret(tablet, secretId, makePicture("market"), {})).title).toBe("First");
    expect(written).toBe(true);
  });

  it("takes an opener every time, also on an unlocked device", async () => {
    const { world, secretId } = await createWorldWithSecret(null);
    const laptop = await world.open();
    (await unlock(laptop, makePicture("market"), {})).opener.wipe();
    await expect(openSmallSecret(laptop, secretId, makePicture("forest"), {})).rejects.toEqual(
      errorWithCode("not_this_picture"),
    );
    expect((await openSmallSecret(laptop, secretId, makePicture("market"), {})).title).toBe("First");
  });

  it("knows no secret that is not in the list", async () => {
    const { world } = await createWorldWithSecret(null);
    for (const id of ["019a9e2c-7c1e-7abc-8def-0123456789ff", "../user/me", ""]) {
      await expect(openSmallSecret(await world.open("phone"), id, makePicture("market"), {})).rejects.toEqual(
        errorWithCode("not_found"),
      );
    }
  });

  it("gives back a file of any bytes, its name and type, and what the age tool needs", async () => {
    const { world } = await createWorldWithSecret(null);
    const laptop = await world.open();
    (await unlock(laptop, makePicture("market"), {})).opener.wipe();
    const content = Uint8Array.from({ length: 1000 }, (_, index) => index % 256);
    const request = {
      ...textSecret("File"),
      contentKind: "file" as const,
      name: "../evil\u202e.png",
      mime: "image/png",
      content: new Blob([content]),
    };
    const { secretId } = await protect(laptop, request, {});
    const secret = await openSmallSecret(laptop, secretId, makePicture("market"), {});
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
    const { world, secretId } = await createWorldWithSecret(null);
    world.service.transformAnswer = (call, answer) =>
      call === "POST /secrets/store/get-secret" ? { ...(answer as object), content: null } : answer;
    await expect(openSmallSecret(await world.open("phone"), secretId, makePicture("market"), {})).rejects.toEqual(
      errorWithCode("payload_too_large"),
    );
  });
});

describe("examine", () => {
  it("judges, and tells of the book only when unlocked", async () => {
    const { world } = await createWorldWithSecret(null);
    const phone = await world.open("phone");
    expect(await examine(phone, makePicture("market").picture, {})).toMatchObject({
      level: "green",
      reasons: [],
      width: 3000,
      known: null,
    });
    (await unlock(phone, makePicture("market"), {})).opener.wipe();
    expect((await examine(phone, makePicture("market/small").picture, {})).known).toMatchObject({
      kind: "same",
      image: { name: "The market" },
    });
    expect((await examine(phone, makePicture("market/cropped").picture, {})).known).toMatchObject({
      kind: "resembles",
      image: { name: "The market" },
    });
    expect(await examine(phone, makePicture("marginal-sky").picture, {})).toMatchObject({
      level: "amber",
      reasons: ["estimate"],
      known: null,
    });
    expect((await examine(phone, makePicture("plain-wall").picture, {})).level).toBe("red");
    expect(await examine(phone, makePicture("pale-sand").picture, {})).toMatchObject({
      level: "amber",
      reasons: ["copy_bright"],
      known: null,
    });
    await expect(examine(phone, new Blob(["%PDF"]), {})).rejects.toEqual(errorWithCode("picture_unreadable"));
  });

  it("lists images by name, none while locked", async () => {
    const { world } = await createWorldWithSecret(null);
    const phone = await world.open("phone");
    expect(await listImages(phone)).toEqual([]);
    (await unlock(phone, makePicture("market"), {})).opener.wipe();
    expect((await listImages(phone)).map(({ name }) => name)).toEqual(["The market"]);
  });
});

describe("rows", () => {
  it("are starred, trashed and taken out again without an opener, and still fit the state", async () => {
    const { world, secretId } = await createWorldWithSecret(null);
    const phone = await world.open("phone");
    (await unlock(phone, makePicture("market"), {})).opener.wipe();
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
    const { world } = await createWorldWithSecret(null);
    const phone = await world.open("phone");
    world.service.calls.length = 0;
    for (const operation of [
      () => trash(phone, "../me"),
      () => restore(phone, "x"),
      () => setFavorite(phone, "", true),
    ])
      await expect(operation()).rejects.toEqual(errorWithCode("not_found"));
    expect(world.service.calls).toEqual([]);
  });
});

describe("a device", () => {
  it("asks once, and changes its mind when told", async () => {
    const { world } = await createWorldWithSecret(null);
    const phone = await world.open("phone");
    await expect(setDeviceKind(phone, "own")).rejects.toEqual(errorWithCode("vault_locked"));
    (await unlock(phone, makePicture("market"), {})).opener.wipe();
    await setDeviceKind(phone, "own");
    expect((await world.open("phone")).keys).not.toBeNull();
    await setDeviceKind(phone, "shared");
    expect(phone.state).toEqual({ status: "unlocked", device: "shared" });
    expect((await world.open("phone")).keys).toBeNull();
    expect((await phone.device.read()).metadataKeys).toBeNull();
  });

  it("locks itself when the account key was changed elsewhere", async () => {
    const { world } = await createWorldWithSecret(null);
    const laptop = await world.open();
    (await unlock(laptop, makePicture("market"), {})).opener.wipe();
    world.service.transformAnswer = (call, answer) =>
      call === "GET /user/keyring" ? { ...(answer as object), key_epoch: 2 } : answer;
    expect((await refreshKeyring(laptop))?.openedKeyring).toBeNull();
    expect(laptop.state).toEqual({ status: "locked" });
  });
});
