import "fake-indexeddb/auto";

import { PortalError } from "@relicario/shared/errors";

import { beginUpload, finishUpload } from "../operations/resumable-uploads.ts";
import { protect } from "../operations/protect.ts";
import { unlock } from "../openers/unlock.ts";
import { list } from "../operations/list.ts";
import { loadPendingAccount } from "../device/pending-account.ts";
import { refreshKeyring } from "../keyring/refresh-keyring.ts";
import { fakePartBytes } from "../testing/fake-uploads.ts";
import { fileSecret, makeProtectOrder, randomFile, openUploadingTab } from "../testing/uploading-tab.ts";
import { createWorld, makePicture, textSecret, type World } from "../testing/world.ts";
import type { VaultSession } from "../session/vault-session.ts";

const listTitles = async (vault: VaultSession): Promise<(string | undefined)[]> =>
  (await list(vault)).map((row) => row.label?.title).sort();
const hasPendingAccount = async (vault: VaultSession): Promise<boolean> =>
  (await loadPendingAccount(vault.device)) !== null;

describe("a service that wants the only slot of a new account to go", () => {
  it("says that the first secret is kept, and keeps nothing: nobody is told so, and it is protected once more", async () => {
    const world = createWorld();
    const laptop = await world.open();
    const before = world.service.snapshot();
    world.service.transformAnswer = (call, answer) => {
      if (call === "POST /secrets/store") world.service.account = structuredClone(before);
      return answer;
    };
    await expect(protect(laptop, textSecret("First", makePicture("market")), {})).rejects.toMatchObject({
      code: "publication_not_seen",
    });
    expect(await hasPendingAccount(laptop)).toBe(true);
    world.service.transformAnswer = (_call, answer) => answer;
    const reloaded = await world.open();
    await protect(reloaded, textSecret("First", makePicture("market")), {});
    expect([await listTitles(reloaded), await hasPendingAccount(reloaded)]).toEqual([["First"], false]);
  });

  it("gives our own key statement with a book that does not open", async () => {
    const world = createWorld();
    world.service.transformAnswer = (call, answer) => {
      if (call === "POST /secrets/store") throw new PortalError("internal_error");
      return answer;
    };
    world.service.beforeCall = (call) => {
      if (call === "GET /user/keyring" && world.service.account.keyring !== null)
        throw new PortalError("service_unavailable");
    };
    await expect(protect(await world.open(), textSecret("First", makePicture("market")), {})).rejects.toThrow();
    world.service.beforeCall = () => undefined;
    const { keyring } = world.service.account;
    if (keyring === null) throw new TypeError("it was published");
    const { book } = keyring;
    keyring.book = keyring.shares;
    const reloaded = await world.open();
    await expect(refreshKeyring(reloaded)).rejects.toMatchObject({ code: "older_state" });
    expect(await hasPendingAccount(reloaded)).toBe(true);
    keyring.book = book;
    await refreshKeyring(reloaded);
    expect(await hasPendingAccount(reloaded)).toBe(false);
  });

  it.each(["slots", "image records"])("withholds the %s that belong to it", async (withheld) => {
    const world = createWorld();
    world.service.transformAnswer = (call, answer) => {
      if (withheld === "slots" && call === "GET /user/keyring" && answer !== null)
        return Object.assign({}, answer, { slots: [] });
      return withheld !== "slots" && call === "GET /user/image-records" ? { image_records: [] } : answer;
    };
    const laptop = await world.open();
    await protect(laptop, textSecret("First", makePicture("market")), {});
    expect(await hasPendingAccount(laptop)).toBe(true);
    world.service.transformAnswer = (_call, answer) => answer;
    await list(laptop);
    expect(await hasPendingAccount(laptop)).toBe(false);
  });
});

describe("a first upload whose account is not there yet", () => {
  const { file } = randomFile(2 * fakePartBytes + 7);
  const makeFilm = (passphrase: string | null = null) => fileSecret("Film", file, makePicture("market", passphrase));

  async function sealFirstUpload(
    world: World,
    passphrase: string | null = null,
  ): Promise<{ laptop: VaultSession; finish: (picture?: boolean) => Promise<unknown> }> {
    const laptop = await world.open();
    const tab = await openUploadingTab(world, laptop);
    const uploadId = await beginUpload(laptop, tab, makeProtectOrder(makeFilm(passphrase)), {});
    await tab.send(uploadId, file);
    return {
      laptop,
      finish: (picture = true) =>
        finishUpload(laptop, tab, uploadId, picture ? makeFilm(passphrase).protection : null, {}),
    };
  }

  it("asks for its picture anew when another device was first, and is published with it", async () => {
    const world = createWorld();
    const { laptop, finish } = await sealFirstUpload(world);
    await protect(await world.open("phone"), textSecret("Of the phone", makePicture("forest")), {});
    await expect(finish()).rejects.toMatchObject({ code: "pending_dropped" });
    (await unlock(laptop, makePicture("forest"))).opener.wipe();
    await expect(finish(false)).rejects.toMatchObject({ code: "opener_needed" });
    await finish();
    expect(await listTitles(laptop)).toEqual(["Film", "Of the phone"]);
  });

  it("is published with its picture though another one began the account in this tab", async () => {
    const world = createWorld();
    const { laptop, finish } = await sealFirstUpload(world);
    await protect(laptop, textSecret("Small", makePicture("forest")), {});
    await expect(finish(false)).rejects.toMatchObject({ code: "opener_needed" });
    await finish();
    expect(await listTitles(laptop)).toEqual(["Film", "Small"]);
  });

  it.each([
    ["right", "rihgt", "not_this_picture_or_passphrase"],
    ["right", null, "not_this_picture_or_passphrase"],
    [null, "typed in vain", "picture_has_no_passphrase"],
  ])(
    "is not left behind by another account with its picture and another passphrase (%j, then %j)",
    async (passphrase, otherPassphrase, code) => {
      const world = createWorld();
      const { laptop, finish } = await sealFirstUpload(world, passphrase);
      for (const vault of [laptop, await world.open()])
        await expect(
          protect(vault, textSecret("Small", makePicture("market", otherPassphrase)), {}),
        ).rejects.toMatchObject({ code });
      await finish();
      expect(await listTitles(laptop)).toEqual(["Film"]);
    },
  );
});
