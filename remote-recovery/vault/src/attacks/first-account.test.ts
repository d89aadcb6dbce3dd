import "fake-indexeddb/auto";

import { PortalError } from "@relicario/shared/errors";

import { beginUpload, finishUpload } from "../operations/resumable-uploads.ts";
import { protect } from "../operations/protect.ts";
import { unlock } from "../openers/unlock.ts";
import { list } from "../operations/list.ts";
import { loadPendingAccount } from "../device/pending-account.ts";
import { refreshKeyring } from "../keyring/refresh-keyring.ts";
import { fakePartBytes } from "../testing/fake-uploads.ts";
import { fileSecret, makeProtectPlan, randomFile, openUploadingTab } from "../testing/uploading-tab.ts";
import { createWorld, makePicture, textSecret, type World } from "../testing/world.ts";
import type { VaultSession } from "../session/vault-session.ts";

const listTitles = async (vault: VaultSession): Promise<(string | undefined)[]> =>
  (await list(vault)).map((row) => row.label?.title).sort();
const hasPendingAccount = async (vault: VaultSession): Promise<boolean> =>
  (await loadPendingAccount(vault.device)) !== null;

describe("a service that wants the only slot of a new account deleted", () => {
  it("confirms the first secret but stores nothing: the device reports an error, and can protect the secret again", async () => {
    const world = createWorld();
    const laptop = await world.open();
    const snapshot = world.service.snapshot();
    world.service.transformResponse = (call, response) => {
      if (call === "POST /secrets/store") world.service.account = structuredClone(snapshot);
      return response;
    };
    await expect(protect(laptop, textSecret("First", makePicture("market")), {})).rejects.toMatchObject({
      code: "publication_not_seen",
    });
    expect(await hasPendingAccount(laptop)).toBe(true);
    world.service.transformResponse = (_call, response) => response;
    const reloadedVault = await world.open();
    await protect(reloadedVault, textSecret("First", makePicture("market")), {});
    expect([await listTitles(reloadedVault), await hasPendingAccount(reloadedVault)]).toEqual([["First"], false]);
  });

  it("serves the account's own key statement with a book that does not open", async () => {
    const world = createWorld();
    world.service.transformResponse = (call, response) => {
      if (call === "POST /secrets/store") throw new PortalError("internal_error");
      return response;
    };
    world.service.beforeCall = (call) => {
      if (call === "GET /user/keyring" && world.service.account.keyring !== null)
        throw new PortalError("service_unavailable");
    };
    await expect(protect(await world.open(), textSecret("First", makePicture("market")), {})).rejects.toThrow();
    world.service.beforeCall = () => undefined;
    const { keyring } = world.service.account;
    if (keyring === null) throw new TypeError("expected the account to be published");
    const { book } = keyring;
    keyring.book = keyring.shares;
    const reloadedVault = await world.open();
    await expect(refreshKeyring(reloadedVault)).rejects.toMatchObject({ code: "older_state" });
    expect(await hasPendingAccount(reloadedVault)).toBe(true);
    keyring.book = book;
    await refreshKeyring(reloadedVault);
    expect(await hasPendingAccount(reloadedVault)).toBe(false);
  });

  it.each(["slots", "image records"])("withholds the %s of the new account", async (withheld) => {
    const world = createWorld();
    world.service.transformResponse = (call, response) => {
      if (withheld === "slots" && call === "GET /user/keyring" && response !== null)
        return Object.assign({}, response, { slots: [] });
      return withheld !== "slots" && call === "GET /user/image-records" ? { image_records: [] } : response;
    };
    const laptop = await world.open();
    await protect(laptop, textSecret("First", makePicture("market")), {});
    expect(await hasPendingAccount(laptop)).toBe(true);
    world.service.transformResponse = (_call, response) => response;
    await list(laptop);
    expect(await hasPendingAccount(laptop)).toBe(false);
  });
});

describe("a first upload whose account is not published yet", () => {
  const { file } = randomFile(2 * fakePartBytes + 7);
  const makeFilm = (passphrase: string | null = null) => fileSecret("Film", file, makePicture("market", passphrase));

  async function sealFirstUpload(
    world: World,
    passphrase: string | null = null,
  ): Promise<{ laptop: VaultSession; finish: (withPicture?: boolean) => Promise<unknown> }> {
    const laptop = await world.open();
    const tab = await openUploadingTab(world, laptop);
    const uploadId = await beginUpload(laptop, tab, makeProtectPlan(makeFilm(passphrase)), {});
    await tab.send(uploadId, file);
    return {
      laptop,
      finish: (withPicture = true) =>
        finishUpload(laptop, tab, uploadId, withPicture ? makeFilm(passphrase).protection : null, {}),
    };
  }

  it("needs its picture again after another device created the account, and is published with that picture", async () => {
    const world = createWorld();
    const { laptop, finish } = await sealFirstUpload(world);
    await protect(await world.open("phone"), textSecret("Of the phone", makePicture("forest")), {});
    await expect(finish()).rejects.toMatchObject({ code: "pending_dropped" });
    (await unlock(laptop, makePicture("forest"))).opener.wipe();
    await expect(finish(false)).rejects.toMatchObject({ code: "opener_needed" });
    await finish();
    expect(await listTitles(laptop)).toEqual(["Film", "Of the phone"]);
  });

  it("is published with its picture although another picture created the account in this tab", async () => {
    const world = createWorld();
    const { laptop, finish } = await sealFirstUpload(world);
    await protect(laptop, textSecret("Small", makePicture("forest")), {});
    await expect(finish(false)).rejects.toMatchObject({ code: "opener_needed" });
    await finish();
    expect(await listTitles(laptop)).toEqual(["Film", "Small"]);
  });

  it.each([
    ["correct horse", "correct hosre", "not_this_picture_or_passphrase"],
    ["correct horse", null, "not_this_picture_or_passphrase"],
    [null, "typed in vain", "picture_has_no_passphrase"],
  ])(
    "is not orphaned by an account with its picture and another passphrase (%j, then %j)",
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
