import "fake-indexeddb/auto";

import { createWorld, makePicture, textSecret, type World } from "../testing/world.ts";
import { examinePicture, listImages } from "./examine.ts";
import { list } from "./list.ts";
import { protect } from "./protect.ts";
import { refreshKeyring } from "../keyring/refresh-keyring.ts";
import { openSmallSecret } from "./open-secret.ts";
import { restoreFromTrash, setFavorite, moveToTrash } from "./favorite-and-trash.ts";
import { setDeviceKind } from "./set-device-kind.ts";
import { unlock } from "../openers/unlock.ts";

const errorWithCode = (expected: string): unknown => expect.objectContaining({ code: expected });

async function createWorldWithSecret(passphrase: string | null): Promise<{ world: World; secretId: string }> {
  const world = createWorld();
  const { secretId } = await protect(await world.open(), textSecret("First", makePicture("market", passphrase)), {});
  return { world, secretId };
}

describe("unlock", () => {
  it("reports not_this_picture for another or a cropped picture, and unlocks with the right one", async () => {
    const { world } = await createWorldWithSecret(null);
    const phone = await world.open("phone");
    await expect(unlock(phone, makePicture("forest"), {})).rejects.toEqual(errorWithCode("not_this_picture"));
    await expect(unlock(phone, makePicture("market/cropped"), {})).rejects.toEqual(errorWithCode("not_this_picture"));
    (await unlock(phone, makePicture("market"), {})).opener.wipe();
    expect(phone.state).toEqual({ status: "unlocked", device: null });
  });

  it.each([
    ["another picture", "forest", "correct horse"],
    ["another passphrase", "market", "wrong"],
    ["a passphrase in other case", "market", "Right"],
    ["a passphrase with a trailing space", "market", "right "],
    ["no passphrase", "market", null],
    ["an empty passphrase", "market", ""],
  ])("does not reveal whether picture or passphrase was wrong: %s", async (_case, picture, passphrase) => {
    const { world } = await createWorldWithSecret("correct horse");
    await expect(unlock(await world.open("phone"), makePicture(picture, passphrase), {})).rejects.toEqual(
      errorWithCode("not_this_picture_or_passphrase"),
    );
  });

  it("searches all plain helpers at once, or all encrypted ones when a passphrase is entered", async () => {
    const { world } = await createWorldWithSecret(null);
    const laptop = await world.open();
    (await unlock(laptop, makePicture("market"), {})).opener.wipe();
    await protect(laptop, textSecret("Second", makePicture("forest")), {});
    await protect(laptop, textSecret("Third", makePicture("harbour", "a passphrase")), {});
    const phone = await world.open("phone");
    world.engine.calls.length = 0;
    (await unlock(phone, makePicture("forest"), {})).opener.wipe();
    expect(world.engine.calls).toEqual(["recover among 2"]);
    world.engine.calls.length = 0;
    (await unlock(await world.open("tablet"), makePicture("harbour", "a passphrase"), {})).opener.wipe();
    expect(world.engine.calls).toEqual(["recover among 1"]);
  });

  it("refuses a matching plain helper when a passphrase is entered", async () => {
    const { world } = await createWorldWithSecret(null);
    await expect(unlock(await world.open("phone"), makePicture("market", "typed"), {})).rejects.toEqual(
      errorWithCode("plain_helper_refused"),
    );
  });

  it("reports no_keyring before the first secret", async () => {
    const vault = await createWorld().open();
    await expect(unlock(vault, makePicture("market"), {})).rejects.toEqual(errorWithCode("no_keyring"));
    expect(vault.state).toEqual({ status: "empty" });
  });

  it("can be cancelled between two runs of Argon2id, and stays locked", async () => {
    const { world } = await createWorldWithSecret("correct horse");
    const phone = await world.open("phone");
    const controller = new AbortController();
    const options = {
      signal: controller.signal,
      onProgress: ({ phase }: { phase: string }) => {
        if (phase === "passphrase") controller.abort();
      },
    };
    await expect(unlock(phone, makePicture("market", "correct horse"), options)).rejects.toEqual(
      errorWithCode("cancelled"),
    );
    expect(phone.keys).toBeNull();
  });
});

describe("openSmallSecret", () => {
  it("reads the keyring once, and again when another device writes in between", async () => {
    const { world, secretId } = await createWorldWithSecret(null);
    const phone = await world.open("phone");
    const countReadings = async (): Promise<number> => {
      const callCountBefore = world.service.calls.length;
      await openSmallSecret(phone, secretId, makePicture("market"), {});
      return world.service.calls.slice(callCountBefore).filter((call) => call === "GET /user/keyring").length;
    };
    expect(phone.keys).toBeNull();
    expect(await countReadings()).toBe(1);
    expect(phone.keys).not.toBeNull();
    expect(await countReadings()).toBe(1);

    const tablet = await world.open("tablet");
    let hasWritten = false;
    world.service.beforeCall = async (call) => {
      if (call !== "GET /secrets/store" || hasWritten) return;
      hasWritten = true;
      await protect(phone, textSecret("Meanwhile"), {});
    };
    expect((await openSmallSecret(tablet, secretId, makePicture("market"), {})).title).toBe("First");
    expect(hasWritten).toBe(true);
  });

  it("needs an opener every time, even on an unlocked device", async () => {
    const { world, secretId } = await createWorldWithSecret(null);
    const laptop = await world.open();
    (await unlock(laptop, makePicture("market"), {})).opener.wipe();
    await expect(openSmallSecret(laptop, secretId, makePicture("forest"), {})).rejects.toEqual(
      errorWithCode("not_this_picture"),
    );
    expect((await openSmallSecret(laptop, secretId, makePicture("market"), {})).title).toBe("First");
  });

  it("finds no secret that is not in the list", async () => {
    const { world } = await createWorldWithSecret(null);
    for (const id of ["019a9e2c-7c1e-7abc-8def-0123456789ff", "../user/me", ""]) {
      await expect(openSmallSecret(await world.open("phone"), id, makePicture("market"), {})).rejects.toEqual(
        errorWithCode("not_found"),
      );
    }
  });

  it("returns a file of any bytes, its name and type, and the parts of an age file", async () => {
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
      signatureStatus: "verified",
      version: 1,
    });
    expect(secret.content).toEqual(content);
    expect(secret.ageFile.identity).toMatch(/^AGE-SECRET-KEY-PQ-1/);
    expect(secret.ageFile.size).toBe(1000);
  });

  it("reports payload_too_large when the response has no content", async () => {
    const { world, secretId } = await createWorldWithSecret(null);
    world.service.transformResponse = (call, response) =>
      call === "POST /secrets/store/get-secret" ? { ...(response as object), content: null } : response;
    await expect(openSmallSecret(await world.open("phone"), secretId, makePicture("market"), {})).rejects.toEqual(
      errorWithCode("payload_too_large"),
    );
  });
});

describe("examine", () => {
  it("judges a picture, and matches it with the book only when unlocked", async () => {
    const { world } = await createWorldWithSecret(null);
    const phone = await world.open("phone");
    expect(await examinePicture(phone, makePicture("market").picture, {})).toMatchObject({
      level: "green",
      reasons: [],
      width: 3000,
      known: null,
    });
    (await unlock(phone, makePicture("market"), {})).opener.wipe();
    expect((await examinePicture(phone, makePicture("market/small").picture, {})).known).toMatchObject({
      kind: "same",
      image: { name: "The market" },
    });
    expect((await examinePicture(phone, makePicture("market/cropped").picture, {})).known).toMatchObject({
      kind: "resembles",
      image: { name: "The market" },
    });
    expect(await examinePicture(phone, makePicture("marginal-sky").picture, {})).toMatchObject({
      level: "amber",
      reasons: ["estimate"],
      known: null,
    });
    expect((await examinePicture(phone, makePicture("plain-wall").picture, {})).level).toBe("red");
    expect(await examinePicture(phone, makePicture("pale-sand").picture, {})).toMatchObject({
      level: "amber",
      reasons: ["copy_bright"],
      known: null,
    });
    await expect(examinePicture(phone, new Blob(["%PDF"]), {})).rejects.toEqual(errorWithCode("picture_unreadable"));
  });

  it("lists images by name; none while locked", async () => {
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
    await moveToTrash(phone, secretId);
    expect(await list(phone)).toMatchObject([{ favorite: true, deletedAt: expect.any(String) as string }]);
    await restoreFromTrash(phone, secretId);
    await setFavorite(phone, secretId, false);
    expect(await list(phone)).toMatchObject([{ favorite: false, deletedAt: null }]);
    await protect(phone, textSecret("Second"), {});
    expect(await list(phone)).toHaveLength(2);
  });

  it("send no malformed id", async () => {
    const { world } = await createWorldWithSecret(null);
    const phone = await world.open("phone");
    world.service.calls.length = 0;
    for (const operation of [
      () => moveToTrash(phone, "../me"),
      () => restoreFromTrash(phone, "x"),
      () => setFavorite(phone, "", true),
    ])
      await expect(operation()).rejects.toEqual(errorWithCode("not_found"));
    expect(world.service.calls).toEqual([]);
  });
});

describe("a device", () => {
  it("saves the metadata keys as the person's own device, and removes the keys as a shared device", async () => {
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

  it("locks when another device has replaced the account key", async () => {
    const { world } = await createWorldWithSecret(null);
    const laptop = await world.open();
    (await unlock(laptop, makePicture("market"), {})).opener.wipe();
    world.service.transformResponse = (call, response) =>
      call === "GET /user/keyring" ? { ...(response as object), key_epoch: 2 } : response;
    expect((await refreshKeyring(laptop))?.openedKeyring).toBeNull();
    expect(laptop.state).toEqual({ status: "locked" });
  });
});
