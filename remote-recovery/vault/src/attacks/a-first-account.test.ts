import "fake-indexeddb/auto";

import { PortalError } from "@relicario/shared/errors";

import { beginUpload, finishUpload } from "../acts/resumable-uploads.ts";
import { protect } from "../acts/protect.ts";
import { unlock } from "../acts/unlock.ts";
import { list } from "../acts/list.ts";
import { pendingAccount } from "../steps/pending.ts";
import { readKeyring } from "../steps/read-keyring.ts";
import { fakePartBytes } from "../testing/fake-uploads.ts";
import { fileSecret, protectOrder, randomFile, uploadingTab } from "../testing/uploading.ts";
import { createWorld, shown, textSecret, type World } from "../testing/world.ts";
import type { VaultContext } from "../vault-context.ts";

const titles = async (vault: VaultContext): Promise<(string | undefined)[]> =>
  (await list(vault)).map((row) => row.label?.title).sort();
const waits = async (vault: VaultContext): Promise<boolean> => (await pendingAccount(vault.device)) !== null;

describe("a service that wants the only slot of a new account to go", () => {
  it("says that the first secret is kept, and keeps nothing: nobody is told so, and it is protected once more", async () => {
    const world = createWorld();
    const laptop = await world.open();
    const before = world.service.snapshot();
    world.service.answer = (call, answer) => {
      if (call === "POST /secrets/store") world.service.account = structuredClone(before);
      return answer;
    };
    await expect(protect(laptop, textSecret("First", shown("market")), {})).rejects.toMatchObject({
      code: "publication_not_seen",
    });
    expect(await waits(laptop)).toBe(true);
    world.service.answer = (_call, answer) => answer;
    const again = await world.open();
    await protect(again, textSecret("First", shown("market")), {});
    expect([await titles(again), await waits(again)]).toEqual([["First"], false]);
  });

  it("gives our own key statement with a book that does not open", async () => {
    const world = createWorld();
    world.service.answer = (call, answer) => {
      if (call === "POST /secrets/store") throw new PortalError("internal_error");
      return answer;
    };
    world.service.before = (call) => {
      if (call === "GET /user/keyring" && world.service.account.keyring !== null)
        throw new PortalError("service_unavailable");
    };
    await expect(protect(await world.open(), textSecret("First", shown("market")), {})).rejects.toThrow();
    world.service.before = () => undefined;
    const { keyring } = world.service.account;
    if (keyring === null) throw new TypeError("it was published");
    const { book } = keyring;
    keyring.book = keyring.shares;
    const after = await world.open();
    await expect(readKeyring(after)).rejects.toMatchObject({ code: "older_state" });
    expect(await waits(after)).toBe(true);
    keyring.book = book;
    await readKeyring(after);
    expect(await waits(after)).toBe(false);
  });

  it.each(["slots", "image records"])("withholds the %s that belong to it", async (what) => {
    const world = createWorld();
    world.service.answer = (call, answer) => {
      if (what === "slots" && call === "GET /user/keyring" && answer !== null)
        return Object.assign({}, answer, { slots: [] });
      return what !== "slots" && call === "GET /user/image-records" ? { image_records: [] } : answer;
    };
    const laptop = await world.open();
    await protect(laptop, textSecret("First", shown("market")), {});
    expect(await waits(laptop)).toBe(true);
    world.service.answer = (_call, answer) => answer;
    await list(laptop);
    expect(await waits(laptop)).toBe(false);
  });
});

describe("a first upload whose account is not there yet", () => {
  const { file } = randomFile(2 * fakePartBytes + 7);
  const film = (passphrase: string | null = null) => fileSecret("Film", file, shown("market", passphrase));

  async function sealed(
    world: World,
    passphrase: string | null = null,
  ): Promise<{ laptop: VaultContext; finish: (picture?: boolean) => Promise<unknown> }> {
    const laptop = await world.open();
    const tab = await uploadingTab(world, laptop);
    const uploadId = await beginUpload(laptop, tab, protectOrder(film(passphrase)), {});
    await tab.send(uploadId, file);
    return {
      laptop,
      finish: (picture = true) => finishUpload(laptop, tab, uploadId, picture ? film(passphrase).protection : null, {}),
    };
  }

  it("asks for its picture anew when another device was first, and is published with it", async () => {
    const world = createWorld();
    const { laptop, finish } = await sealed(world);
    await protect(await world.open("phone"), textSecret("Of the phone", shown("forest")), {});
    await expect(finish()).rejects.toMatchObject({ code: "pending_dropped" });
    (await unlock(laptop, shown("forest"))).opener.forget();
    await expect(finish(false)).rejects.toMatchObject({ code: "opener_needed" });
    await finish();
    expect(await titles(laptop)).toEqual(["Film", "Of the phone"]);
  });

  it("is published with its picture though another one began the account in this tab", async () => {
    const world = createWorld();
    const { laptop, finish } = await sealed(world);
    await protect(laptop, textSecret("Small", shown("forest")), {});
    await expect(finish(false)).rejects.toMatchObject({ code: "opener_needed" });
    await finish();
    expect(await titles(laptop)).toEqual(["Film", "Small"]);
  });

  it.each([
    ["right", "rihgt", "not_this_picture_or_passphrase"],
    ["right", null, "not_this_picture_or_passphrase"],
    [null, "typed in vain", "picture_has_no_passphrase"],
  ])(
    "is not left behind by another account with its picture and another passphrase (%j, then %j)",
    async (first, then, code) => {
      const world = createWorld();
      const { laptop, finish } = await sealed(world, first);
      for (const vault of [laptop, await world.open()])
        await expect(protect(vault, textSecret("Small", shown("market", then)), {})).rejects.toMatchObject({ code });
      await finish();
      expect(await titles(laptop)).toEqual(["Film"]);
    },
  );
});
