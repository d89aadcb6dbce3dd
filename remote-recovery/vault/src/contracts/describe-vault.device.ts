import { PortalError } from "@relicario/shared/errors";

import {
  code,
  first,
  idsOf,
  largeText,
  nowhere,
  textContent,
  textOf,
  textSecret,
  type MakeStage,
} from "./describe-vault.stage.ts";

const lake = {
  images: [{ name: "Lake", picture: "lake", passphrase: "pass" }],
  secrets: [{ title: "t", content: "c" }],
};
const deed = { secrets: [{ title: "Deed", content: "house" }] };

export function describeDevice(make: MakeStage): void {
  describe("an account with nothing in it", () => {
    it("is empty, and gives nothing", async () => {
      const { vault, shown } = await make({});
      await expect(vault.refresh()).resolves.toEqual({ status: "empty" });
      expect(vault.getState()).toEqual({ status: "empty" });
      for (const list of [
        vault.list,
        vault.images,
        vault.uploads,
        vault.shares.all,
        vault.people.list,
        vault.requests.list,
        vault.received.list,
      ])
        await expect(list()).resolves.toEqual([]);
      await expect(vault.openers.list()).resolves.toEqual({ openers: [], secrets: [] });
      await expect(vault.unlock(shown("garden"))).rejects.toEqual(code("no_keyring"));
      await expect(vault.unlockByPresence()).rejects.toEqual(code("no_keyring"));
      await expect(vault.openers.recognise(shown("garden"))).rejects.toEqual(code("no_keyring"));
      await expect(vault.protect(textSecret("Seed", "words"))).rejects.toEqual(code("opener_needed"));
      await expect(vault.startAnew.status()).resolves.toEqual({
        state: "none",
        askedAt: null,
        readyAt: null,
        endedAt: null,
        keptUntil: null,
      });
      await expect(vault.startAnew.ask()).rejects.toEqual(code("no_keyring"));
    });

    it("is unlocked by its first secret, and asks whose device it is", async () => {
      const { vault, shown } = await make({});
      await vault.refresh();
      const told: string[] = [];
      const undo = vault.subscribe(() => {
        told.push(JSON.stringify(vault.getState()));
      });
      const { secretId, version } = await vault.protect({
        ...textSecret("Seed", "words", shown("lake", "pass")),
        contentKind: "seed",
      });
      expect(version).toBe(1);
      expect(vault.getState()).toEqual({ status: "unlocked", device: null });
      expect(told).toEqual([JSON.stringify({ status: "unlocked", device: null })]);
      await expect(vault.list()).resolves.toMatchObject([{ secretId, label: { title: "Seed", tags: ["paper"] } }]);
      await expect(vault.images()).resolves.toEqual([
        { id: expect.any(String) as string, name: "Lake", createdAt: expect.any(String) as string },
      ]);
      expect(textOf(await vault.recover(secretId, shown("lake", "pass")))).toBe("words");
      await expect(vault.answerDevice("shared")).resolves.toEqual({ remembers: false });
      await expect(vault.answerDevice("own")).resolves.toEqual({ remembers: true });
      expect(told.slice(1)).toEqual(["shared", "own"].map((device) => JSON.stringify({ status: "unlocked", device })));
      undo();
      await vault.lock();
      expect(told).toHaveLength(3);
    });
  });

  describe("a locked device", () => {
    it("hides labels and images, and unlocks with the right picture and passphrase alone", async () => {
      const { vault, shown } = await make({ ...lake, unlocked: false });
      await expect(vault.list()).resolves.toMatchObject([{ version: 1, label: null }]);
      expect(vault.getState()).toEqual({ status: "locked" });
      await expect(vault.images()).resolves.toEqual([]);
      await expect(vault.unlock(shown("lake"))).rejects.toEqual(code("not_this_picture_or_passphrase"));
      await expect(vault.unlock(shown("lake", "other"))).rejects.toEqual(code("not_this_picture_or_passphrase"));
      // one of the account has a passphrase
      await expect(vault.unlock(shown("sea"))).rejects.toEqual(code("not_this_picture_or_passphrase"));
      await vault.unlock(shown("lake", "pass"));
      expect(vault.getState()).toEqual({ status: "unlocked", device: null });
      await expect(vault.list()).resolves.toMatchObject([{ label: { title: "t" } }]);
      await expect(vault.images()).resolves.toMatchObject([{ name: "Lake" }]);
    });

    it("tells another picture from a passphrase that the picture does not have", async () => {
      const { vault, shown } = await make({ ...deed, unlocked: false });
      await expect(vault.unlock(shown("sea"))).rejects.toEqual(code("not_this_picture"));
      await expect(vault.unlock(shown("garden", "pass"))).rejects.toEqual(code("plain_helper_refused"));
      await expect(vault.unlock(shown("sea", "pass"))).rejects.toEqual(code("not_this_picture_or_passphrase"));
    });

    it("refuses what takes labels, and knows neither shares nor people", async () => {
      const { vault } = await make({ ...deed, people: [{ userName: "bruno" }], unlocked: false });
      const [id] = await idsOf(vault);
      for (const list of [vault.images, vault.shares.all, vault.people.list]) await expect(list()).resolves.toEqual([]);
      const refused: (() => Promise<unknown>)[] = [
        () => vault.protect(textSecret("Key", "x")),
        () => vault.update(id, { baseVersion: 1, title: "x" }),
        () => vault.removeVersions(id, [1]),
        () => vault.purge([id]),
        () => vault.answerDevice("own"),
        () => vault.openers.list(),
        () => vault.shares.ofSecret(id),
        () => vault.shares.showLink("AAAAAAAAAAAAAAAAAAAAAA", null),
        () => vault.people.find("bruno"),
        () => vault.people.mine(),
        () => vault.people.setCompared(nowhere, true),
        () => vault.requests.list(),
        () => vault.requests.open("AAAAAAAAAAAAAAAAAAAAAA", null),
        () => vault.received.open("AAAAAAAAAAAAAAAAAAAAAA", null),
        () => vault.imports.compare([]),
      ];
      for (const act of refused) await expect(act()).rejects.toEqual(code("vault_locked"));
    });

    it("stars, trashes and takes out of the trash, and says which versions there are", async () => {
      const { vault } = await make({
        secrets: [{ title: "Deed", content: "house", former: ["hut"] }],
        unlocked: false,
      });
      const [id] = await idsOf(vault);
      await vault.setFavorite(id, true);
      await vault.trash(id);
      await expect(vault.list()).resolves.toMatchObject([
        { favorite: true, deletedAt: expect.any(String) as string, label: null },
      ]);
      await vault.restore(id);
      await vault.setFavorite(id, false);
      await expect(vault.list()).resolves.toMatchObject([{ favorite: false, deletedAt: null }]);
      await expect(vault.history(id)).resolves.toMatchObject([
        { version: 2, current: true },
        { version: 1, current: false },
      ]);
      expect(vault.getState()).toEqual({ status: "locked" });
    });

    it.each(["recover", "rehearse", "restoreVersion", "exportSecrets", "makeKit", "cover"])(
      "is unlocked by the opener of an act: %s",
      async (act) => {
        const { vault, shown } = await make({ ...deed, unlocked: false });
        const [id] = await idsOf(vault);
        const opener = shown("garden");
        const acts: Readonly<Record<string, () => Promise<unknown>>> = {
          recover: () => vault.recover(id, opener),
          rehearse: () => vault.rehearse(id, opener),
          restoreVersion: () => vault.restoreVersion(id, 1, opener),
          exportSecrets: () => vault.exportSecrets([id], opener),
          makeKit: () => vault.makeKit([id], opener),
          cover: () => vault.openers.cover(opener),
        };
        await acts[act]?.();
        expect(vault.getState()).toEqual({ status: "unlocked", device: null });
      },
    );
  });

  describe("a lock", () => {
    it("puts away what was opened, and every handle", async () => {
      const { vault, shown } = await make({
        secrets: [
          { title: "Deed", content: "house" },
          { title: "Film", content: largeText, large: true },
        ],
      });
      const [id, film] = await idsOf(vault);
      const [opened, large] = [
        await vault.recover(id, shown("garden")),
        await vault.recover(film ?? "", shown("garden")),
      ];
      const before = shown("garden");
      const told: string[] = [];
      vault.subscribe(() => told.push(vault.getState().status));
      await vault.lock();
      expect(told).toEqual(["locked"]);
      await expect(vault.list()).resolves.toMatchObject([{ label: null }, { label: null }]);
      await expect(opened.exportAge()).rejects.toEqual(code("vault_locked"));
      await expect(large.save(null)).rejects.toEqual(code("vault_locked"));
      await expect(vault.unlock(before)).rejects.toEqual(code("picture_needed"));
      await vault.unlock(shown("garden"));
      expect(vault.getState()).toEqual({ status: "unlocked", device: "own" });
    });

    it("is nothing to an account without a key", async () => {
      const { vault } = await make({});
      await vault.refresh();
      await vault.lock();
      expect(vault.getState()).toEqual({ status: "empty" });
    });

    it("is undone by presence on a device of one's own alone", async () => {
      const { vault, shown } = await make({ ...deed, device: "own" });
      await vault.refresh();
      await vault.unlockByPresence(); // it is unlocked
      await vault.lock();
      await vault.unlockByPresence();
      expect(vault.getState()).toEqual({ status: "unlocked", device: "own" });
      await vault.answerDevice("shared");
      await vault.lock();
      await expect(vault.unlockByPresence()).rejects.toEqual(code("opener_needed"));
      await vault.unlock(shown("garden"));
      expect(vault.getState()).toEqual({ status: "unlocked", device: "shared" });
      await vault.answerDevice("own");
      await vault.lock();
      await vault.unlockByPresence();
      expect(vault.getState()).toEqual({ status: "unlocked", device: "own" });
    });

    it("is not undone by presence where nothing was ever kept on the device", async () => {
      const { vault } = await make({ ...deed, unlocked: false });
      await vault.refresh();
      await expect(vault.unlockByPresence()).rejects.toEqual(code("opener_needed"));
    });

    it("is undone by presence where a page finds its own device locked", async () => {
      const { vault } = await make({ ...deed, unlocked: false, device: "own" });
      await expect(vault.refresh()).resolves.toEqual({ status: "locked" });
      await vault.unlockByPresence();
      expect(vault.getState()).toEqual({ status: "unlocked", device: "own" });
    });

    it("ends what an opener was shown for", async () => {
      const { vault, shown } = await make(deed);
      await vault.refresh();
      const request = {
        title: "The deed",
        note: "",
        askedBy: "Alba",
        expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
        maxSize: 1000,
        notify: false,
      };
      await expect(vault.requests.create(request, null)).rejects.toEqual(code("show_opener_first"));
      await vault.openers.recognise(shown("garden"));
      await vault.requests.create(request, null);
      await vault.lock();
      await expect(vault.requests.create(request, null)).rejects.toEqual(code("vault_locked"));
      await vault.unlockByPresence();
      await expect(vault.requests.create(request, null)).rejects.toEqual(code("show_opener_first"));
    });
  });

  describe("a handle", () => {
    it("stands for nothing once it is forgotten", async () => {
      const { vault, shown } = await make(deed);
      const [id] = await idsOf(vault);
      const gone = shown("garden");
      vault.forgetShown(gone);
      vault.forgetShown(gone);
      const acts: (() => Promise<unknown>)[] = [
        () => vault.unlock(gone),
        () => vault.recover(id, gone),
        () => vault.rehearse(id, gone),
        () => vault.restoreVersion(id, 1, gone),
        () => vault.exportSecrets([id], gone),
        () => vault.makeKit([id], gone),
        () => vault.protect(textSecret("Key", "x", gone)),
        () =>
          vault.update(id, {
            baseVersion: 1,
            content: textContent("x"),
            protection: { kind: "picture", shown: gone, name: "x" },
          }),
        () => vault.openers.cover(gone),
        () => vault.openers.rotate([gone]),
        () =>
          vault.shares.create(
            {
              secretId: id,
              to: { audience: "public" },
              expiresAt: "",
              maxViews: null,
              password: null,
              picture: null,
              notify: false,
            },
            gone,
          ),
      ];
      for (const act of acts) await expect(act()).rejects.toEqual(code("picture_needed"));
    });

    it("of a code is no picture", async () => {
      const { vault, shown, shownKey } = await make(deed);
      const [id] = await idsOf(vault);
      const key = shownKey("passkey", "7");
      await expect(vault.protect(textSecret("Key", "x", key))).rejects.toEqual(code("picture_needed"));
      await expect(vault.makeKit([id], key)).rejects.toEqual(code("picture_needed"));
      await expect(vault.openers.changeImage(key, { shown: shown("lake"), name: "Lake" })).rejects.toEqual(
        code("picture_needed"),
      );
      await expect(vault.openers.add({ shown: shown("lake"), name: "Lake" }, shown("garden"))).rejects.toEqual(
        code("opener_needed"),
      );
    });
  });

  it("keeps minutes within their limits", async () => {
    const { vault } = await make({});
    expect(vault.autoLock.get()).toBe(15);
    for (const minutes of [1, 240]) {
      vault.autoLock.set(minutes);
      expect(vault.autoLock.get()).toBe(minutes);
    }
    for (const wrong of [0, 241, 1.5]) {
      expect(() => {
        vault.autoLock.set(wrong);
      }).toThrow(expect.objectContaining({ code: "validation_error" }) as Error);
    }
    expect(vault.autoLock.get()).toBe(240);
  });

  it("set aside is a fresh device", async () => {
    const { vault, shown } = await make(deed);
    await vault.setDeviceAside();
    expect(vault.getState()).toEqual({ status: "locked" });
    await expect(vault.unlockByPresence()).rejects.toEqual(code("opener_needed"));
    await vault.unlock(shown("garden"));
    expect(vault.getState()).toEqual({ status: "unlocked", device: null });
  });

  it("believes no state that no alarm was about", async () => {
    const { vault } = await make(deed);
    await vault.acceptOlderState(new PortalError("older_state"));
    expect(first(await vault.list()).label?.title).toBe("Deed");
  });

  it("is of no use after signing out", async () => {
    const { vault } = await make(deed);
    await vault.refresh();
    const told: string[] = [];
    vault.subscribe(() => told.push(vault.getState().status));
    await vault.signOut();
    expect(vault.getState()).toEqual({ status: "unknown" });
    expect(told).toEqual(["unknown"]);
    for (const act of [
      vault.refresh,
      vault.list,
      vault.images,
      vault.uploads,
      vault.unlockByPresence,
      vault.shares.all,
      vault.people.list,
      vault.openers.list,
    ])
      await expect(act()).rejects.toEqual(code("vault_unavailable"));
  });
}
