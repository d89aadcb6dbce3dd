import { PortalError } from "@relicario/shared/errors";

import {
  errorWithCode,
  requireFirst,
  idsOf,
  largeText,
  unknownSecretId,
  textContent,
  textOf,
  textSecret,
  type CreateHarness,
} from "./describe-vault.harness.ts";

const lake = {
  images: [{ name: "Lake", picture: "lake", passphrase: "pass" }],
  secrets: [{ title: "t", content: "c" }],
};
const deed = { secrets: [{ title: "Deed", content: "house" }] };

export function describeDevice(make: CreateHarness): void {
  describe("an account with nothing in it", () => {
    it("is empty, and gives nothing", async () => {
      const { vault, makeHandle } = await make({});
      await expect(vault.refresh()).resolves.toEqual({ status: "empty" });
      expect(vault.getState()).toEqual({ status: "empty" });
      for (const list of [
        vault.list,
        vault.listImages,
        vault.listUploads,
        vault.shares.list,
        vault.people.list,
        vault.requests.list,
        vault.received.list,
      ])
        await expect(list()).resolves.toEqual([]);
      await expect(vault.openers.list()).resolves.toEqual({ openers: [], secrets: [] });
      await expect(vault.unlock(makeHandle("garden"))).rejects.toEqual(errorWithCode("no_keyring"));
      await expect(vault.unlockBySignIn()).rejects.toEqual(errorWithCode("no_keyring"));
      await expect(vault.openers.recognise(makeHandle("garden"))).rejects.toEqual(errorWithCode("no_keyring"));
      await expect(vault.protect(textSecret("Seed", "words"))).rejects.toEqual(errorWithCode("opener_needed"));
      await expect(vault.accountReset.status()).resolves.toEqual({
        state: "none",
        requestedAt: null,
        readyAt: null,
        endedAt: null,
        retainedUntil: null,
      });
      await expect(vault.accountReset.request()).rejects.toEqual(errorWithCode("no_keyring"));
    });

    it("is unlocked by its first secret, and asks whose device it is", async () => {
      const { vault, makeHandle } = await make({});
      await vault.refresh();
      const states: string[] = [];
      const unsubscribe = vault.subscribe(() => {
        states.push(JSON.stringify(vault.getState()));
      });
      const { secretId, version } = await vault.protect({
        ...textSecret("Seed", "words", makeHandle("lake", "pass")),
        contentKind: "seed",
      });
      expect(version).toBe(1);
      expect(vault.getState()).toEqual({ status: "unlocked", device: null });
      expect(states).toEqual([JSON.stringify({ status: "unlocked", device: null })]);
      await expect(vault.list()).resolves.toMatchObject([{ secretId, label: { title: "Seed", tags: ["paper"] } }]);
      await expect(vault.listImages()).resolves.toEqual([
        { id: expect.any(String) as string, name: "Lake", createdAt: expect.any(String) as string },
      ]);
      expect(textOf(await vault.openSecret(secretId, makeHandle("lake", "pass")))).toBe("words");
      await expect(vault.setDeviceKind("shared")).resolves.toEqual({ keysSaved: false });
      await expect(vault.setDeviceKind("own")).resolves.toEqual({ keysSaved: true });
      expect(states.slice(1)).toEqual(
        ["shared", "own"].map((device) => JSON.stringify({ status: "unlocked", device })),
      );
      unsubscribe();
      await vault.lock();
      expect(states).toHaveLength(3);
    });
  });

  describe("a locked device", () => {
    it("hides labels and images, and unlocks with the right picture and passphrase alone", async () => {
      const { vault, makeHandle } = await make({ ...lake, unlocked: false });
      await expect(vault.list()).resolves.toMatchObject([{ version: 1, label: null }]);
      expect(vault.getState()).toEqual({ status: "locked" });
      await expect(vault.listImages()).resolves.toEqual([]);
      await expect(vault.unlock(makeHandle("lake"))).rejects.toEqual(errorWithCode("not_this_picture_or_passphrase"));
      await expect(vault.unlock(makeHandle("lake", "other"))).rejects.toEqual(
        errorWithCode("not_this_picture_or_passphrase"),
      );
      // one of the account has a passphrase
      await expect(vault.unlock(makeHandle("sea"))).rejects.toEqual(errorWithCode("not_this_picture_or_passphrase"));
      await vault.unlock(makeHandle("lake", "pass"));
      expect(vault.getState()).toEqual({ status: "unlocked", device: null });
      await expect(vault.list()).resolves.toMatchObject([{ label: { title: "t" } }]);
      await expect(vault.listImages()).resolves.toMatchObject([{ name: "Lake" }]);
    });

    it("tells another picture from a passphrase that the picture does not have", async () => {
      const { vault, makeHandle } = await make({ ...deed, unlocked: false });
      await expect(vault.unlock(makeHandle("sea"))).rejects.toEqual(errorWithCode("not_this_picture"));
      await expect(vault.unlock(makeHandle("garden", "pass"))).rejects.toEqual(errorWithCode("plain_helper_refused"));
      await expect(vault.unlock(makeHandle("sea", "pass"))).rejects.toEqual(
        errorWithCode("not_this_picture_or_passphrase"),
      );
    });

    it("refuses what takes labels, and knows neither shares nor people", async () => {
      const { vault } = await make({ ...deed, people: [{ userName: "bruno" }], unlocked: false });
      const [id] = await idsOf(vault);
      for (const list of [vault.listImages, vault.shares.list, vault.people.list])
        await expect(list()).resolves.toEqual([]);
      const refusedCalls: (() => Promise<unknown>)[] = [
        () => vault.protect(textSecret("Key", "x")),
        () => vault.update(id, { baseVersion: 1, title: "x" }),
        () => vault.removeVersions(id, [1]),
        () => vault.purge([id]),
        () => vault.setDeviceKind("own"),
        () => vault.openers.list(),
        () => vault.shares.listForSecret(id),
        () => vault.shares.getLink("AAAAAAAAAAAAAAAAAAAAAA", null),
        () => vault.people.find("bruno"),
        () => vault.people.getOwnSafetyWords(),
        () => vault.people.setCompared(unknownSecretId, true),
        () => vault.requests.list(),
        () => vault.requests.open("AAAAAAAAAAAAAAAAAAAAAA", null),
        () => vault.received.open("AAAAAAAAAAAAAAAAAAAAAA", null),
        () => vault.imports.compare([]),
      ];
      for (const call of refusedCalls) await expect(call()).rejects.toEqual(errorWithCode("vault_locked"));
    });

    it("stars, trashes and takes out of the trash, and says which versions there are", async () => {
      const { vault } = await make({
        secrets: [{ title: "Deed", content: "house", formerContents: ["hut"] }],
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
      await expect(vault.listVersions(id)).resolves.toMatchObject([
        { version: 2, current: true },
        { version: 1, current: false },
      ]);
      expect(vault.getState()).toEqual({ status: "locked" });
    });

    it.each(["openSecret", "checkCopy", "restoreVersion", "exportSecrets", "createKit", "resealForAllOpeners"])(
      "is unlocked by the opener of an act: %s",
      async (operation) => {
        const { vault, makeHandle } = await make({ ...deed, unlocked: false });
        const [id] = await idsOf(vault);
        const opener = makeHandle("garden");
        const operations: Readonly<Record<string, () => Promise<unknown>>> = {
          openSecret: () => vault.openSecret(id, opener),
          checkCopy: () => vault.checkCopy(id, opener),
          restoreVersion: () => vault.restoreVersion(id, 1, opener),
          exportSecrets: () => vault.exportSecrets([id], opener),
          createKit: () => vault.createKit([id], opener),
          resealForAllOpeners: () => vault.openers.resealForAllOpeners(opener),
        };
        await operations[operation]?.();
        expect(vault.getState()).toEqual({ status: "unlocked", device: null });
      },
    );
  });

  describe("a lock", () => {
    it("puts away what was opened, and every handle", async () => {
      const { vault, makeHandle } = await make({
        secrets: [
          { title: "Deed", content: "house" },
          { title: "Film", content: largeText, large: true },
        ],
      });
      const [id, film] = await idsOf(vault);
      const [opened, large] = [
        await vault.openSecret(id, makeHandle("garden")),
        await vault.openSecret(film ?? "", makeHandle("garden")),
      ];
      const oldHandle = makeHandle("garden");
      const statuses: string[] = [];
      vault.subscribe(() => statuses.push(vault.getState().status));
      await vault.lock();
      expect(statuses).toEqual(["locked"]);
      await expect(vault.list()).resolves.toMatchObject([{ label: null }, { label: null }]);
      await expect(opened.exportAgeFile()).rejects.toEqual(errorWithCode("vault_locked"));
      await expect(large.save(null)).rejects.toEqual(errorWithCode("vault_locked"));
      await expect(vault.unlock(oldHandle)).rejects.toEqual(errorWithCode("picture_needed"));
      await vault.unlock(makeHandle("garden"));
      expect(vault.getState()).toEqual({ status: "unlocked", device: "own" });
    });

    it("is nothing to an account without a key", async () => {
      const { vault } = await make({});
      await vault.refresh();
      await vault.lock();
      expect(vault.getState()).toEqual({ status: "empty" });
    });

    it("is undone by presence on a device of one's own alone", async () => {
      const { vault, makeHandle } = await make({ ...deed, device: "own" });
      await vault.refresh();
      await vault.unlockBySignIn(); // it is unlocked
      await vault.lock();
      await vault.unlockBySignIn();
      expect(vault.getState()).toEqual({ status: "unlocked", device: "own" });
      await vault.setDeviceKind("shared");
      await vault.lock();
      await expect(vault.unlockBySignIn()).rejects.toEqual(errorWithCode("opener_needed"));
      await vault.unlock(makeHandle("garden"));
      expect(vault.getState()).toEqual({ status: "unlocked", device: "shared" });
      await vault.setDeviceKind("own");
      await vault.lock();
      await vault.unlockBySignIn();
      expect(vault.getState()).toEqual({ status: "unlocked", device: "own" });
    });

    it("is not undone by presence where nothing was ever kept on the device", async () => {
      const { vault } = await make({ ...deed, unlocked: false });
      await vault.refresh();
      await expect(vault.unlockBySignIn()).rejects.toEqual(errorWithCode("opener_needed"));
    });

    it("is undone by presence where a page finds its own device locked", async () => {
      const { vault } = await make({ ...deed, unlocked: false, device: "own" });
      await expect(vault.refresh()).resolves.toEqual({ status: "locked" });
      await vault.unlockBySignIn();
      expect(vault.getState()).toEqual({ status: "unlocked", device: "own" });
    });

    it("ends what an opener was shown for", async () => {
      const { vault, makeHandle } = await make(deed);
      await vault.refresh();
      const request = {
        title: "The deed",
        note: "",
        requesterName: "Alba",
        expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
        maxSize: 1000,
        notify: false,
      };
      await expect(vault.requests.create(request, null)).rejects.toEqual(errorWithCode("show_opener_first"));
      await vault.openers.recognise(makeHandle("garden"));
      await vault.requests.create(request, null);
      await vault.lock();
      await expect(vault.requests.create(request, null)).rejects.toEqual(errorWithCode("vault_locked"));
      await vault.unlockBySignIn();
      await expect(vault.requests.create(request, null)).rejects.toEqual(errorWithCode("show_opener_first"));
    });
  });

  describe("a handle", () => {
    it("stands for nothing once it is forgotten", async () => {
      const { vault, makeHandle } = await make(deed);
      const [id] = await idsOf(vault);
      const releasedHandle = makeHandle("garden");
      vault.releaseOpener(releasedHandle);
      vault.releaseOpener(releasedHandle);
      const operations: (() => Promise<unknown>)[] = [
        () => vault.unlock(releasedHandle),
        () => vault.openSecret(id, releasedHandle),
        () => vault.checkCopy(id, releasedHandle),
        () => vault.restoreVersion(id, 1, releasedHandle),
        () => vault.exportSecrets([id], releasedHandle),
        () => vault.createKit([id], releasedHandle),
        () => vault.protect(textSecret("Key", "x", releasedHandle)),
        () =>
          vault.update(id, {
            baseVersion: 1,
            content: textContent("x"),
            protection: { kind: "picture", picture: releasedHandle, name: "x" },
          }),
        () => vault.openers.resealForAllOpeners(releasedHandle),
        () => vault.openers.rotate([releasedHandle]),
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
            releasedHandle,
          ),
      ];
      for (const operation of operations) await expect(operation()).rejects.toEqual(errorWithCode("picture_needed"));
    });

    it("of a code is no picture", async () => {
      const { vault, makeHandle, makeKeyHandle } = await make(deed);
      const [id] = await idsOf(vault);
      const key = makeKeyHandle("passkey", "7");
      await expect(vault.protect(textSecret("Key", "x", key))).rejects.toEqual(errorWithCode("picture_needed"));
      await expect(vault.createKit([id], key)).rejects.toEqual(errorWithCode("picture_needed"));
      await expect(vault.openers.replaceImage(key, { handle: makeHandle("lake"), name: "Lake" })).rejects.toEqual(
        errorWithCode("picture_needed"),
      );
      await expect(
        vault.openers.add({ handle: makeHandle("lake"), name: "Lake" }, makeHandle("garden")),
      ).rejects.toEqual(errorWithCode("opener_needed"));
    });
  });

  it("keeps minutes within their limits", async () => {
    const { vault } = await make({});
    expect(vault.autoLock.get()).toBe(15);
    for (const minutes of [1, 240]) {
      vault.autoLock.set(minutes);
      expect(vault.autoLock.get()).toBe(minutes);
    }
    for (const invalidMinutes of [0, 241, 1.5]) {
      expect(() => {
        vault.autoLock.set(invalidMinutes);
      }).toThrow(expect.objectContaining({ code: "validation_error" }) as Error);
    }
    expect(vault.autoLock.get()).toBe(240);
  });

  it("set aside is a fresh device", async () => {
    const { vault, makeHandle } = await make(deed);
    await vault.archiveDeviceRecord();
    expect(vault.getState()).toEqual({ status: "locked" });
    await expect(vault.unlockBySignIn()).rejects.toEqual(errorWithCode("opener_needed"));
    await vault.unlock(makeHandle("garden"));
    expect(vault.getState()).toEqual({ status: "unlocked", device: null });
  });

  it("believes no state that no alarm was about", async () => {
    const { vault } = await make(deed);
    await vault.acceptOlderState(new PortalError("older_state"));
    expect(requireFirst(await vault.list()).label?.title).toBe("Deed");
  });

  it("is of no use after signing out", async () => {
    const { vault } = await make(deed);
    await vault.refresh();
    const statuses: string[] = [];
    vault.subscribe(() => statuses.push(vault.getState().status));
    await vault.signOut();
    expect(vault.getState()).toEqual({ status: "unknown" });
    expect(statuses).toEqual(["unknown"]);
    for (const operation of [
      vault.refresh,
      vault.list,
      vault.listImages,
      vault.listUploads,
      vault.unlockBySignIn,
      vault.shares.list,
      vault.people.list,
      vault.openers.list,
    ])
      await expect(operation()).rejects.toEqual(errorWithCode("vault_unavailable"));
  });
}
