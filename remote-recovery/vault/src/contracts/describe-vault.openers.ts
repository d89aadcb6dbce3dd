import {
  errorWithCode,
  requireFirst,
  idsOf,
  unknownSecretId,
  textContent,
  textOf,
  textSecret,
  type CreateHarness,
} from "./describe-vault.harness.ts";

const deed = { secrets: [{ title: "Deed", content: "house" }] };
const garden = { name: "Garden", picture: "garden" };
const lake = { name: "Lake", picture: "lake" };

export function describeOpeners(make: CreateHarness): void {
  describe("openers", () => {
    it("are listed as they were added, with what each opens", async () => {
      const { vault, makeHandle } = await make({
        images: [garden, lake],
        secrets: [
          { title: "Deed", content: "house" },
          { title: "Key", content: "door" },
        ],
        keys: [{ kind: "passkey", name: "Phone", secret: "7", opensExisting: false }],
      });
      const [deedId, keyId = ""] = await idsOf(vault);
      const [gardenId = "", lakeId = ""] = (await vault.listImages()).map(({ id }) => id);
      await vault.openers.recognise(makeHandle("garden"));
      await vault.update(deedId, {
        baseVersion: 1,
        content: textContent("flat"),
        protection: { kind: "openers", openers: [lakeId] },
      });
      const { openers, secrets } = await vault.openers.list();
      expect(openers).toMatchObject([
        {
          id: gardenId,
          kind: "image",
          name: "Garden",
          secretCount: 1,
          soleOpenerOf: [],
          copyCheckedAt: null,
          hasSlot: true,
        },
        { id: lakeId, kind: "image", name: "Lake", secretCount: 2, soleOpenerOf: [deedId], hasSlot: true },
        { kind: "passkey", name: "Phone", secretCount: 0, soleOpenerOf: [], hasSlot: true },
      ]);
      const phone = openers[2]?.id ?? "";
      expect(secrets).toEqual([
        { secretId: keyId, title: "Key", openers: [gardenId, lakeId], missing: [phone], copyCheckedAt: null },
        { secretId: deedId, title: "Deed", openers: [lakeId], missing: [gardenId, phone], copyCheckedAt: null },
      ]);
    });

    it("by codes open what is protected from now on, and the rest once it is covered", async () => {
      const { vault, makeHandle, makeKeyHandle } = await make(deed);
      const [deedId] = await idsOf(vault);
      const { words, identity } = await vault.openers.generateRecoveryCode();
      expect(words).toHaveLength(24);
      expect(identity).toMatch(/^AGE-SECRET-KEY-PQ-1/);
      const paper = { handle: makeKeyHandle("recovery_code", words.join(" ")), name: "Paper" };
      await expect(vault.openers.add(paper, null)).rejects.toEqual(errorWithCode("show_opener_first"));
      await expect(vault.openers.add({ ...paper, name: "" }, makeHandle("garden"))).rejects.toEqual(
        errorWithCode("validation_error", { fields: ["name"] }),
      );
      await expect(vault.openers.add(paper, makeHandle("sea"))).rejects.toEqual(errorWithCode("not_this_picture"));
      const { openerId } = await vault.openers.add(paper, makeHandle("garden"));
      await expect(vault.openers.add(paper, null)).resolves.toEqual({ openerId });
      await expect(vault.openers.list()).resolves.toMatchObject({
        openers: [{ kind: "image" }, { id: openerId, kind: "recovery_code", name: "Paper", secretCount: 0 }],
      });
      const { secretId } = await vault.protect(textSecret("Key", "door"));
      expect(textOf(await vault.openSecret(secretId, paper.handle))).toBe("door");
      await expect(vault.openSecret(deedId, paper.handle)).rejects.toEqual(errorWithCode("opener_needed"));
      await expect(vault.openers.resealForAllOpeners(paper.handle)).resolves.toEqual({
        resealed: 0,
        skipped: [deedId],
      });
      const progress: string[] = [];
      await expect(
        vault.openers.resealForAllOpeners(makeHandle("garden"), {
          onProgress: ({ phase, done, total }) => progress.push(`${phase} ${String(done)}/${String(total)}`),
        }),
      ).resolves.toEqual({ resealed: 1, skipped: [] });
      expect(progress).toEqual(expect.arrayContaining(["sealing 0/1", "sealing 1/1"]));
      expect(textOf(await vault.openSecret(deedId, paper.handle))).toBe("house");
      await expect(vault.openers.resealForAllOpeners(makeHandle("garden"))).resolves.toEqual({
        resealed: 0,
        skipped: [],
      });
      await vault.lock();
      await vault.unlock(makeKeyHandle("recovery_code", ` ${words.join("  ").toUpperCase()} `));
      expect(vault.getState()).toMatchObject({ status: "unlocked" });
    });

    it("are told apart when they are not of the account", async () => {
      const { vault, makeKeyHandle } = await make({ ...deed, unlocked: false });
      const { words } = await vault.openers.generateRecoveryCode();
      const other = await vault.openers.generateRecoveryCode();
      expect(other.words).not.toEqual(words);
      await expect(vault.unlock(makeKeyHandle("recovery_code", words.join(" ")))).rejects.toEqual(
        errorWithCode("not_this_recovery_code"),
      );
      await expect(vault.unlock(makeKeyHandle("recovery_code", words.slice(1).join(" ")))).rejects.toEqual(
        errorWithCode("recovery_code_unreadable", { words: 23 }),
      );
      await expect(
        vault.unlock(makeKeyHandle("recovery_code", ["relicario", ...words.slice(1)].join(" "))),
      ).rejects.toEqual(errorWithCode("recovery_code_unreadable", { unknown: ["1"] }));
      await expect(vault.unlock(makeKeyHandle("passkey", "7"))).rejects.toEqual(errorWithCode("not_this_passkey"));
    });

    it("by passkeys unlock, and are recognised", async () => {
      const { vault, makeHandle, makeKeyHandle } = await make({
        ...deed,
        keys: [{ kind: "passkey", name: "Phone", secret: "7" }],
        unlocked: false,
      });
      const [id] = await idsOf(vault);
      expect(textOf(await vault.openSecret(id, makeKeyHandle("passkey", "7")))).toBe("house");
      const { openers } = await vault.openers.list();
      expect(openers).toMatchObject([
        { secretCount: 1, soleOpenerOf: [] },
        { kind: "passkey", name: "Phone", secretCount: 1 },
      ]);
      await expect(vault.openers.recognise(makeHandle("garden"))).resolves.toEqual({ openerId: openers[0]?.id });
      await expect(vault.openers.recognise(makeKeyHandle("passkey", "7"))).resolves.toEqual({
        openerId: openers[1]?.id,
      });
      await expect(vault.openers.recognise(makeKeyHandle("passkey", "8"))).rejects.toEqual(
        errorWithCode("not_this_passkey"),
      );
      await expect(vault.openers.recognise(makeHandle("sea"))).rejects.toEqual(errorWithCode("not_this_picture"));
    });

    it("take a device's keys with its lock, where its passkey opens it", async () => {
      const { vault, makeHandle, makeKeyHandle } = await make(deed);
      await vault.openers.add({ handle: makeKeyHandle("passkey", "7"), name: "This device" }, makeHandle("garden"));
      await vault.lock();
      await expect(vault.unlockBySignIn()).rejects.toEqual(errorWithCode("opener_needed"));
      await vault.unlock(makeKeyHandle("passkey", "7"));
      expect(vault.getState()).toEqual({ status: "unlocked", device: "own" });
    });

    it("are removed by another one", async () => {
      const { vault, makeHandle } = await make({ images: [garden, lake], ...deed });
      const [deedId] = await idsOf(vault);
      const [gardenId = "", lakeId = ""] = (await vault.listImages()).map(({ id }) => id);
      await expect(vault.openers.remove(lakeId, makeHandle("lake"))).rejects.toEqual(
        errorWithCode("validation_error", { fields: ["opener"] }),
      );
      await expect(vault.openers.remove(unknownSecretId, makeHandle("garden"))).rejects.toEqual(
        errorWithCode("not_found"),
      );
      await expect(vault.openers.remove(lakeId, makeHandle("sea"))).rejects.toEqual(errorWithCode("not_this_picture"));
      await vault.openers.remove(lakeId, makeHandle("garden"));
      await expect(vault.listImages()).resolves.toMatchObject([{ id: gardenId }]);
      await expect(vault.list()).resolves.toMatchObject([
        { secretId: deedId, version: 1, label: { openers: [gardenId] } },
      ]);
      await expect(vault.unlock(makeHandle("lake"))).rejects.toEqual(errorWithCode("not_this_picture"));
    });

    it("are not removed while something would be lost, unless it is named", async () => {
      const { vault, makeHandle, makeKeyHandle } = await make({
        images: [garden, lake],
        ...deed,
        keys: [{ kind: "passkey", name: "Phone", secret: "7" }],
      });
      const [deedId] = await idsOf(vault);
      const [gardenId = "", lakeId = ""] = (await vault.listImages()).map(({ id }) => id);
      await vault.openers.recognise(makeHandle("garden"));
      await vault.update(deedId, {
        baseVersion: 1,
        content: textContent("flat"),
        protection: { kind: "openers", openers: [lakeId] },
      });
      await expect(vault.openers.remove(lakeId, makeHandle("garden"))).rejects.toEqual(
        errorWithCode("last_opener", { secrets: 1 }),
      );
      await expect(
        vault.openers.remove(lakeId, makeHandle("garden"), { acceptedLosses: [unknownSecretId] }),
      ).rejects.toEqual(errorWithCode("last_opener", { secrets: 1 }));
      await vault.openers.remove(lakeId, makeHandle("garden"), { acceptedLosses: [deedId] });
      await expect(vault.openSecret(deedId, makeHandle("garden"))).rejects.toEqual(errorWithCode("opener_needed"));
      const [, phone] = (await vault.openers.list()).openers;
      const removing = vault.openers.remove(gardenId, makeKeyHandle("passkey", "7"));
      // the last picture
      await expect(removing).rejects.toEqual(expect.objectContaining({ code: "last_opener", details: {} }));
      await vault.openers.remove(phone?.id ?? "", makeHandle("garden"));
      await expect(vault.openers.list()).resolves.toMatchObject({ openers: [{ id: gardenId }] });
    });
  });

  describe("an image that is changed", () => {
    it("takes a passphrase, under which its secrets open, former versions too", async () => {
      const { vault, makeHandle } = await make({
        secrets: [{ title: "Deed", content: "house", formerContents: ["hut"] }],
      });
      const [id] = await idsOf(vault);
      const before = requireFirst(await vault.listImages());
      await expect(
        vault.openers.replaceImage(makeHandle("garden"), { handle: makeHandle("garden", "pass"), name: "" }),
      ).rejects.toEqual(errorWithCode("validation_error", { fields: ["name"] }));
      await expect(
        vault.openers.replaceImage(makeHandle("sea"), { handle: makeHandle("lake"), name: "Lake" }),
      ).rejects.toEqual(errorWithCode("not_this_picture"));
      const { shareId } = await vault.shares.create(
        {
          secretId: id,
          to: { audience: "public" },
          expiresAt: new Date(Date.now() + 86_400_000).toISOString(),
          maxViews: null,
          password: null,
          picture: null,
          notify: false,
        },
        makeHandle("garden"),
      );
      const progress: string[] = [];
      const { openerId } = await vault.openers.replaceImage(
        makeHandle("garden"),
        { handle: makeHandle("garden", "pass"), name: "The garden" },
        { onProgress: ({ phase, done, total }) => progress.push(`${phase} ${String(done)}/${String(total)}`) },
      );
      expect(progress).toContain("sealing 1/1");
      expect(openerId).not.toBe(before.id);
      await expect(vault.listImages()).resolves.toMatchObject([{ id: openerId, name: "The garden" }]);
      await expect(vault.list()).resolves.toMatchObject([{ version: 2, label: { openers: [openerId] } }]);
      await expect(vault.openSecret(id, makeHandle("garden"))).rejects.toEqual(
        errorWithCode("not_this_picture_or_passphrase"),
      );
      expect(textOf(await vault.openSecret(id, makeHandle("garden", "pass")))).toBe("house");
      expect(textOf(await vault.openSecret(id, makeHandle("garden", "pass"), { version: 1 }))).toBe("hut");
      await expect(vault.shares.list()).resolves.toMatchObject([{ shareId, revokedAt: expect.any(String) as string }]);
    });

    it("may be another picture, and not one of another opener", async () => {
      const { vault, makeHandle } = await make({ images: [garden, lake], ...deed });
      const [id] = await idsOf(vault);
      await expect(
        vault.openers.replaceImage(makeHandle("garden"), { handle: makeHandle("lake"), name: "Lake" }),
      ).rejects.toEqual(errorWithCode("picture_resembles_another"));
      const { openerId } = await vault.openers.replaceImage(makeHandle("garden"), {
        handle: makeHandle("harbour"),
        name: "Harbour",
      });
      await expect(vault.openers.recognise(makeHandle("harbour"))).resolves.toEqual({ openerId });
      expect(textOf(await vault.openSecret(id, makeHandle("harbour")))).toBe("house");
      await expect(vault.openSecret(id, makeHandle("garden"))).rejects.toEqual(errorWithCode("not_this_picture"));
    });
  });

  describe("a new account key", () => {
    it("keeps the openers that are shown, and ends the others and what waits for an answer", async () => {
      const { vault, makeHandle, makeKeyHandle } = await make({
        images: [garden, lake],
        ...deed,
        keys: [{ kind: "passkey", name: "Phone", secret: "7" }],
        ownRequests: [{ title: "The permit" }],
      });
      const [id] = await idsOf(vault);
      const [, lakeId = "", phoneId = ""] = (await vault.openers.list()).openers.map((opener) => opener.id);
      await expect(vault.openers.rotate([makeKeyHandle("passkey", "7")])).rejects.toEqual(errorWithCode("last_opener"));
      await expect(vault.openers.rotate([makeHandle("garden"), makeHandle("sea")])).rejects.toEqual(
        errorWithCode("not_this_picture"),
      );
      const progress: string[] = [];
      await expect(
        vault.openers.rotate([makeHandle("garden"), makeHandle("garden")], {
          onProgress: ({ phase, done, total }) => progress.push(`${phase} ${String(done)}/${String(total)}`),
        }),
      ).resolves.toEqual({ removedOpenerIds: [lakeId, phoneId], revokedRequestTitles: ["The permit"] });
      expect(progress).toContain("sealing 1/1");
      expect(vault.getState()).toEqual({ status: "unlocked", device: "own" });
      await expect(vault.openers.list()).resolves.toMatchObject({ openers: [{ kind: "image", name: "Garden" }] });
      await expect(vault.openSecret(id, makeHandle("lake"))).rejects.toEqual(errorWithCode("not_this_picture"));
      expect(textOf(await vault.openSecret(id, makeHandle("garden")))).toBe("house");
      await expect(vault.requests.list()).resolves.toEqual([]);
      await expect(vault.requests.list({ includeEnded: true })).resolves.toMatchObject([
        { title: "The permit", state: "revoked", discrepancy: null },
      ]);
    });

    it("loses no secret that is not named, and outdates kits", async () => {
      const { vault, makeHandle } = await make({ images: [garden, lake], ...deed });
      const [id] = await idsOf(vault);
      const [, lakeId = ""] = (await vault.listImages()).map((image) => image.id);
      await vault.openers.recognise(makeHandle("garden"));
      const { secretId } = await vault.protect({
        ...textSecret("Key", "door"),
        protection: { kind: "openers", openers: [lakeId] },
      });
      await vault.createKit([id], makeHandle("garden"));
      await expect(vault.openers.rotate([makeHandle("garden")])).rejects.toEqual(
        errorWithCode("last_opener", { secrets: 1 }),
      );
      await expect(vault.openers.rotate([makeHandle("garden")], { acceptedLosses: [secretId] })).resolves.toEqual({
        removedOpenerIds: [lakeId],
        revokedRequestTitles: [],
      });
      await expect(vault.list()).resolves.toMatchObject([
        { label: { kits: [{ outdated: true }] } },
        { label: { title: "Key", openers: [lakeId] } },
      ]); // nothing could seal it to others
      await expect(vault.openSecret(secretId, makeHandle("garden"))).rejects.toEqual(errorWithCode("opener_needed"));
    });
  });
}
