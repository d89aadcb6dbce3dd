import {
  errorWithCode,
  requireFirst,
  listSecretIds,
  unknownSecretId,
  textContent,
  decodeContent,
  textSecret,
  type CreateHarness,
} from "./describe-vault.harness.ts";

const oneSecret = { secrets: [{ title: "Deed", content: "house" }] };
const garden = { name: "Garden", picture: "garden" };
const lake = { name: "Lake", picture: "lake" };

export function describeOpeners(make: CreateHarness): void {
  describe("openers", () => {
    it("are listed in the order of addition, with the secrets that each opens", async () => {
      const { vault, makeHandle } = await make({
        images: [garden, lake],
        secrets: [
          { title: "Deed", content: "house" },
          { title: "Key", content: "door" },
        ],
        keys: [{ kind: "passkey", name: "Phone", credential: "7", opensExisting: false }],
      });
      const [deedId, keyId = ""] = await listSecretIds(vault);
      const [gardenId = "", lakeId = ""] = (await vault.listImages()).map(({ id }) => id);
      await vault.openers.recognise(makeHandle("garden"));
      await vault.update(deedId, {
        baseVersion: 1,
        content: textContent("flat"),
        protection: { kind: "openers", openerIds: [lakeId] },
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
      const phoneId = openers[2]?.id ?? "";
      expect(secrets).toEqual([
        {
          secretId: keyId,
          title: "Key",
          openerIds: [gardenId, lakeId],
          missingOpenerIds: [phoneId],
          copyCheckedAt: null,
        },
        {
          secretId: deedId,
          title: "Deed",
          openerIds: [lakeId],
          missingOpenerIds: [gardenId, phoneId],
          copyCheckedAt: null,
        },
      ]);
    });

    it("such as recovery codes open new secrets, and older ones after re-sealing", async () => {
      const { vault, makeHandle, makeKeyHandle } = await make(oneSecret);
      const [deedId] = await listSecretIds(vault);
      const { words, identity } = await vault.generateRecoveryCode();
      expect(words).toHaveLength(24);
      expect(identity).toMatch(/^AGE-SECRET-KEY-PQ-1/);
      const paperOpener = { handle: makeKeyHandle("recovery_code", words.join(" ")), name: "Paper" };
      await expect(vault.openers.add(paperOpener, null)).rejects.toEqual(errorWithCode("show_opener_first"));
      await expect(vault.openers.add({ ...paperOpener, name: "" }, makeHandle("garden"))).rejects.toEqual(
        errorWithCode("validation_error", { fields: ["name"] }),
      );
      await expect(vault.openers.add(paperOpener, makeHandle("sea"))).rejects.toEqual(
        errorWithCode("not_this_picture"),
      );
      const { openerId } = await vault.openers.add(paperOpener, makeHandle("garden"));
      await expect(vault.openers.add(paperOpener, null)).resolves.toEqual({ openerId });
      await expect(vault.openers.list()).resolves.toMatchObject({
        openers: [{ kind: "image" }, { id: openerId, kind: "recovery_code", name: "Paper", secretCount: 0 }],
      });
      const { secretId } = await vault.protect(textSecret("Key", "door"));
      expect(await decodeContent(await vault.openSecret(secretId, paperOpener.handle))).toBe("door");
      await expect(vault.openSecret(deedId, paperOpener.handle)).rejects.toEqual(errorWithCode("opener_needed"));
      await expect(vault.openers.resealForAllOpeners(paperOpener.handle)).resolves.toEqual({
        resealedCount: 0,
        skippedIds: [deedId],
      });
      const progress: string[] = [];
      await expect(
        vault.openers.resealForAllOpeners(makeHandle("garden"), {
          onProgress: ({ phase, done, total }) => progress.push(`${phase} ${String(done)}/${String(total)}`),
        }),
      ).resolves.toEqual({ resealedCount: 1, skippedIds: [] });
      expect(progress).toEqual(expect.arrayContaining(["sealing 0/1", "sealing 1/1"]));
      expect(await decodeContent(await vault.openSecret(deedId, paperOpener.handle))).toBe("house");
      await expect(vault.openers.resealForAllOpeners(makeHandle("garden"))).resolves.toEqual({
        resealedCount: 0,
        skippedIds: [],
      });
      await vault.lock();
      await vault.unlock(makeKeyHandle("recovery_code", ` ${words.join("  ").toUpperCase()} `));
      expect(vault.getState()).toMatchObject({ status: "unlocked" });
    });

    it("of another account are refused with an error for their kind", async () => {
      const { vault, makeKeyHandle } = await make({ ...oneSecret, unlocked: false });
      const { words } = await vault.generateRecoveryCode();
      const otherCode = await vault.generateRecoveryCode();
      expect(otherCode.words).not.toEqual(words);
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

    it("such as passkeys open secrets, and are recognised", async () => {
      const { vault, makeHandle, makeKeyHandle } = await make({
        ...oneSecret,
        keys: [{ kind: "passkey", name: "Phone", credential: "7" }],
        unlocked: false,
      });
      const [id] = await listSecretIds(vault);
      expect(await decodeContent(await vault.openSecret(id, makeKeyHandle("passkey", "7")))).toBe("house");
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

    it("such as passkeys make a lock delete the keys on the device", async () => {
      const { vault, makeHandle, makeKeyHandle } = await make(oneSecret);
      await vault.openers.add({ handle: makeKeyHandle("passkey", "7"), name: "This device" }, makeHandle("garden"));
      await vault.lock();
      await expect(vault.unlockBySignIn()).rejects.toEqual(errorWithCode("opener_needed"));
      await vault.unlock(makeKeyHandle("passkey", "7"));
      expect(vault.getState()).toEqual({ status: "unlocked", device: "own" });
    });

    it("are removed with another, presented opener", async () => {
      const { vault, makeHandle } = await make({ images: [garden, lake], ...oneSecret });
      const [deedId] = await listSecretIds(vault);
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
        { secretId: deedId, version: 1, label: { openerIds: [gardenId] } },
      ]);
      await expect(vault.unlock(makeHandle("lake"))).rejects.toEqual(errorWithCode("not_this_picture"));
    });

    it("are not removed while a secret would be lost, unless the loss is accepted", async () => {
      const { vault, makeHandle, makeKeyHandle } = await make({
        images: [garden, lake],
        ...oneSecret,
        keys: [{ kind: "passkey", name: "Phone", credential: "7" }],
      });
      const [deedId] = await listSecretIds(vault);
      const [gardenId = "", lakeId = ""] = (await vault.listImages()).map(({ id }) => id);
      await vault.openers.recognise(makeHandle("garden"));
      await vault.update(deedId, {
        baseVersion: 1,
        content: textContent("flat"),
        protection: { kind: "openers", openerIds: [lakeId] },
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
      const removal = vault.openers.remove(gardenId, makeKeyHandle("passkey", "7"));
      // the last picture
      await expect(removal).rejects.toEqual(expect.objectContaining({ code: "last_opener", details: {} }));
      await vault.openers.remove(phone?.id ?? "", makeHandle("garden"));
      await expect(vault.openers.list()).resolves.toMatchObject({ openers: [{ id: gardenId }] });
    });
  });

  describe("replacing an image", () => {
    it("adds a passphrase, which then opens all versions of the image's secrets", async () => {
      const { vault, makeHandle } = await make({
        secrets: [{ title: "Deed", content: "house", formerContents: ["hut"] }],
      });
      const [id] = await listSecretIds(vault);
      const imageBefore = requireFirst(await vault.listImages());
      await expect(
        vault.openers.replaceImage(makeHandle("garden"), { handle: makeHandle("garden", "nine stones"), name: "" }),
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
        { handle: makeHandle("garden", "nine stones"), name: "The garden" },
        { onProgress: ({ phase, done, total }) => progress.push(`${phase} ${String(done)}/${String(total)}`) },
      );
      expect(progress).toContain("sealing 1/1");
      expect(openerId).not.toBe(imageBefore.id);
      await expect(vault.listImages()).resolves.toMatchObject([{ id: openerId, name: "The garden" }]);
      await expect(vault.list()).resolves.toMatchObject([{ version: 2, label: { openerIds: [openerId] } }]);
      await expect(vault.openSecret(id, makeHandle("garden"))).rejects.toEqual(
        errorWithCode("not_this_picture_or_passphrase"),
      );
      expect(await decodeContent(await vault.openSecret(id, makeHandle("garden", "nine stones")))).toBe("house");
      expect(await decodeContent(await vault.openSecret(id, makeHandle("garden", "nine stones"), { version: 1 }))).toBe(
        "hut",
      );
      await expect(vault.shares.list()).resolves.toMatchObject([{ shareId, revokedAt: expect.any(String) as string }]);
    });

    it("accepts a new picture, and refuses that of another opener", async () => {
      const { vault, makeHandle } = await make({ images: [garden, lake], ...oneSecret });
      const [id] = await listSecretIds(vault);
      await expect(
        vault.openers.replaceImage(makeHandle("garden"), { handle: makeHandle("lake"), name: "Lake" }),
      ).rejects.toEqual(errorWithCode("picture_resembles_another"));
      const { openerId } = await vault.openers.replaceImage(makeHandle("garden"), {
        handle: makeHandle("harbour"),
        name: "Harbour",
      });
      await expect(vault.openers.recognise(makeHandle("harbour"))).resolves.toEqual({ openerId });
      expect(await decodeContent(await vault.openSecret(id, makeHandle("harbour")))).toBe("house");
      await expect(vault.openSecret(id, makeHandle("garden"))).rejects.toEqual(errorWithCode("not_this_picture"));
    });
  });

  describe("a new account key", () => {
    it("keeps the presented openers, and removes the others and open requests", async () => {
      const { vault, makeHandle, makeKeyHandle } = await make({
        images: [garden, lake],
        ...oneSecret,
        keys: [{ kind: "passkey", name: "Phone", credential: "7" }],
        ownRequests: [{ title: "The permit" }],
      });
      const [id] = await listSecretIds(vault);
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
      expect(await decodeContent(await vault.openSecret(id, makeHandle("garden")))).toBe("house");
      await expect(vault.requests.list()).resolves.toEqual([]);
      await expect(vault.requests.list({ includeEnded: true })).resolves.toMatchObject([
        { title: "The permit", state: "revoked", discrepancy: null },
      ]);
    });

    it("loses no secret unless the loss is accepted, and outdates kits", async () => {
      const { vault, makeHandle } = await make({ images: [garden, lake], ...oneSecret });
      const [id] = await listSecretIds(vault);
      const [, lakeId = ""] = (await vault.listImages()).map((image) => image.id);
      await vault.openers.recognise(makeHandle("garden"));
      const { secretId } = await vault.protect({
        ...textSecret("Key", "door"),
        protection: { kind: "openers", openerIds: [lakeId] },
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
        { label: { title: "Key", openerIds: [lakeId] } },
      ]); // no presented opener could re-seal the secret
      await expect(vault.openSecret(secretId, makeHandle("garden"))).rejects.toEqual(errorWithCode("opener_needed"));
    });
  });
}
