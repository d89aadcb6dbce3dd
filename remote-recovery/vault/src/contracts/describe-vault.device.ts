import { PortalError } from "@relicario/shared/errors";

import {
  errorWithCode,
  requireFirst,
  listSecretIds,
  largeText,
  unknownSecretId,
  textContent,
  decodeContent,
  textSecret,
  type CreateHarness,
} from "./describe-vault.harness.ts";

const imageWithPassphrase = {
  images: [{ name: "Lake", picture: "lake", passphrase: "nine stones" }],
  secrets: [{ title: "t", content: "c" }],
};
const oneSecret = { secrets: [{ title: "Deed", content: "house" }] };

export function describeDevice(make: CreateHarness): void {
  describe("an empty account", () => {
    it("refuses operations that need a keyring", async () => {
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

    it("is unlocked by its first secret, with the device kind still unset", async () => {
      const { vault, makeHandle } = await make({});
      await vault.refresh();
      const states: string[] = [];
      const unsubscribe = vault.subscribe(() => {
        states.push(JSON.stringify(vault.getState()));
      });
      const { secretId, version } = await vault.protect({
        ...textSecret("Seed", "words", makeHandle("lake", "nine stones")),
        contentKind: "seed",
      });
      expect(version).toBe(1);
      expect(vault.getState()).toEqual({ status: "unlocked", device: null });
      expect(states).toEqual([JSON.stringify({ status: "unlocked", device: null })]);
      await expect(vault.list()).resolves.toMatchObject([{ secretId, label: { title: "Seed", tags: ["paper"] } }]);
      await expect(vault.listImages()).resolves.toEqual([
        { id: expect.any(String) as string, name: "Lake", createdAt: expect.any(String) as string },
      ]);
      expect(await decodeContent(await vault.openSecret(secretId, makeHandle("lake", "nine stones")))).toBe("words");
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
    it("hides labels and images, and unlocks only with the right picture and passphrase", async () => {
      const { vault, makeHandle } = await make({ ...imageWithPassphrase, unlocked: false });
      await expect(vault.list()).resolves.toMatchObject([{ version: 1, label: null }]);
      expect(vault.getState()).toEqual({ status: "locked" });
      await expect(vault.listImages()).resolves.toEqual([]);
      await expect(vault.unlock(makeHandle("lake"))).rejects.toEqual(errorWithCode("not_this_picture_or_passphrase"));
      await expect(vault.unlock(makeHandle("lake", "other"))).rejects.toEqual(
        errorWithCode("not_this_picture_or_passphrase"),
      );
      // does not reveal which is wrong, because an image of the account has a passphrase
      await expect(vault.unlock(makeHandle("sea"))).rejects.toEqual(errorWithCode("not_this_picture_or_passphrase"));
      await vault.unlock(makeHandle("lake", "nine stones"));
      expect(vault.getState()).toEqual({ status: "unlocked", device: null });
      await expect(vault.list()).resolves.toMatchObject([{ label: { title: "t" } }]);
      await expect(vault.listImages()).resolves.toMatchObject([{ name: "Lake" }]);
    });

    it("distinguishes another picture from a passphrase for a picture without one", async () => {
      const { vault, makeHandle } = await make({ ...oneSecret, unlocked: false });
      await expect(vault.unlock(makeHandle("sea"))).rejects.toEqual(errorWithCode("not_this_picture"));
      await expect(vault.unlock(makeHandle("garden", "nine stones"))).rejects.toEqual(
        errorWithCode("plain_helper_refused"),
      );
      await expect(vault.unlock(makeHandle("sea", "nine stones"))).rejects.toEqual(
        errorWithCode("not_this_picture_or_passphrase"),
      );
    });

    it("refuses operations that need labels, and lists neither shares nor people", async () => {
      const { vault } = await make({ ...oneSecret, people: [{ userName: "bruno" }], unlocked: false });
      const [id] = await listSecretIds(vault);
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

    it("stars, trashes, restores and lists versions", async () => {
      const { vault } = await make({
        secrets: [{ title: "Deed", content: "house", formerContents: ["hut"] }],
        unlocked: false,
      });
      const [id] = await listSecretIds(vault);
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
      "is unlocked by the opener of an operation: %s",
      async (operation) => {
        const { vault, makeHandle } = await make({ ...oneSecret, unlocked: false });
        const [id] = await listSecretIds(vault);
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

  describe("locking", () => {
    it("disposes opened contents and every handle", async () => {
      const { vault, makeHandle } = await make({
        secrets: [
          { title: "Deed", content: "house" },
          { title: "Film", content: largeText, large: true },
        ],
      });
      const [, filmId] = await listSecretIds(vault);
      const openedFilm = await vault.openSecret(filmId ?? "", makeHandle("garden"));
      const oldHandle = makeHandle("garden");
      const statuses: string[] = [];
      vault.subscribe(() => statuses.push(vault.getState().status));
      await vault.lock();
      expect(statuses).toEqual(["locked"]);
      await expect(vault.list()).resolves.toMatchObject([{ label: null }, { label: null }]);
      await expect(decodeContent(openedFilm)).rejects.toEqual(errorWithCode("vault_locked"));
      await expect(vault.unlock(oldHandle)).rejects.toEqual(errorWithCode("picture_needed"));
      await vault.unlock(makeHandle("garden"));
      expect(vault.getState()).toEqual({ status: "unlocked", device: "own" });
    });

    it("keeps an empty account empty", async () => {
      const { vault } = await make({});
      await vault.refresh();
      await vault.lock();
      expect(vault.getState()).toEqual({ status: "empty" });
    });

    it("is undone by signing in, only on the user's own device", async () => {
      const { vault, makeHandle } = await make({ ...oneSecret, device: "own" });
      await vault.refresh();
      await vault.unlockBySignIn(); // already unlocked
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

    it("is not undone by signing in if the device never saved keys", async () => {
      const { vault } = await make({ ...oneSecret, unlocked: false });
      await vault.refresh();
      await expect(vault.unlockBySignIn()).rejects.toEqual(errorWithCode("opener_needed"));
    });

    it("is undone by signing in if a page finds its own device locked", async () => {
      const { vault } = await make({ ...oneSecret, unlocked: false, device: "own" });
      await expect(vault.refresh()).resolves.toEqual({ status: "locked" });
      await vault.unlockBySignIn();
      expect(vault.getState()).toEqual({ status: "unlocked", device: "own" });
    });

    it("leaves after a sign-in only what needs no opener", async () => {
      const { vault, makeHandle } = await make({
        secrets: [
          { title: "Deed", content: "two", formerContents: ["one"] },
          { title: "Key", content: "door", deleted: true },
        ],
        people: [{ userName: "bruno" }],
        ownRequests: [{ title: "The permit", answer: { content: "number 7", note: "" } }],
        device: "own",
      });
      const [deedId, keyId = ""] = await listSecretIds(vault);
      const { requestId } = requireFirst(await vault.requests.list());
      await vault.lock();
      await vault.unlockBySignIn();
      const bruno = await vault.people.find("bruno");
      const refused: readonly (() => Promise<unknown>)[] = [
        () => vault.protect(textSecret("New", "x")),
        () => vault.update(deedId, { baseVersion: 2, content: textContent("three") }),
        () => vault.removeVersions(deedId, [1]),
        () => vault.purge([keyId]),
        () => vault.confirmTrash([deedId]),
        () => vault.people.pin(bruno),
        () => vault.people.setBlocked(bruno, true),
        () => vault.requests.collect(requestId),
        () => vault.requests.drop(requestId),
      ];
      await vault.update(deedId, { baseVersion: 2, title: "Renamed" });
      await vault.trash(deedId);
      await expect(vault.list()).resolves.toMatchObject([
        { label: { title: "Renamed" }, deletedAt: expect.any(String) as string, trashConfirmedAt: null },
        { secretId: keyId },
      ]);
      for (const operation of refused) await expect(operation()).rejects.toEqual(errorWithCode("show_opener_first"));
      await vault.unlock(makeHandle("garden"));
      await vault.confirmTrash([deedId]);
      await vault.confirmTrash([deedId]);
      await expect(vault.list()).resolves.toMatchObject([
        { trashConfirmedAt: expect.any(String) as string },
        { trashConfirmedAt: expect.any(String) as string },
      ]);
      await vault.restore(deedId);
      await expect(vault.list()).resolves.toMatchObject([{ deletedAt: null, trashConfirmedAt: null }, {}]);
    });

    it("requires an opener to be presented again", async () => {
      const { vault, makeHandle } = await make(oneSecret);
      await vault.refresh();
      const request = {
        title: "The oneSecret",
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

  describe("an opener handle", () => {
    it("is refused after its release", async () => {
      const { vault, makeHandle } = await make(oneSecret);
      const [id] = await listSecretIds(vault);
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

    it("of a passkey is refused where a picture is needed", async () => {
      const { vault, makeHandle, makeKeyHandle } = await make(oneSecret);
      const [id] = await listSecretIds(vault);
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

  it("keeps the minutes of auto-lock within their limits", async () => {
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

  it("opens without an opener while one is kept open, for as long as the person chose", async () => {
    const { vault, makeHandle } = await make({ ...oneSecret, unlocked: false });
    await vault.unlock(makeHandle("garden"));
    const [row] = await vault.list();
    const open = async () => (await vault.openSecret(row?.secretId ?? "", null)).title;
    expect([vault.keepOpen.get(), vault.keepOpen.getStatus()]).toEqual(["five_minutes", "open"]);
    expect(await open()).toBe("Deed");
    expect(await vault.restoreVersion(row?.secretId ?? "", 1, null)).toEqual({ version: 1 });
    vault.keepOpen.set("every_time");
    expect([vault.keepOpen.get(), vault.keepOpen.getStatus()]).toEqual(["every_time", "setting_changed"]);
    await expect(open()).rejects.toEqual(errorWithCode("show_opener_first"));
    await vault.unlock(makeHandle("garden"));
    expect(vault.keepOpen.getStatus()).toBe("none");
    await expect(open()).rejects.toEqual(errorWithCode("show_opener_first"));
    await expect(vault.restoreVersion(row?.secretId ?? "", 1, null)).rejects.toEqual(
      errorWithCode("show_opener_first"),
    );
    vault.keepOpen.set("until_lock");
    await vault.unlock(makeHandle("garden"));
    expect(await open()).toBe("Deed");
    await vault.lock();
    expect(vault.keepOpen.getStatus()).toBe("locked");
    await expect(open()).rejects.toEqual(errorWithCode("show_opener_first"));
  });

  it("treats the device as new after the device's record is archived", async () => {
    const { vault, makeHandle } = await make(oneSecret);
    await vault.archiveDeviceRecord();
    expect(vault.getState()).toEqual({ status: "locked" });
    await expect(vault.unlockBySignIn()).rejects.toEqual(errorWithCode("opener_needed"));
    await vault.unlock(makeHandle("garden"));
    expect(vault.getState()).toEqual({ status: "unlocked", device: null });
  });

  it("ignores an accepted state that was never rejected", async () => {
    const { vault } = await make(oneSecret);
    await vault.acceptOlderState(new PortalError("older_state"));
    expect(requireFirst(await vault.list()).label?.title).toBe("Deed");
  });

  it("refuses every operation after signing out", async () => {
    const { vault } = await make(oneSecret);
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
