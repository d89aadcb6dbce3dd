import {
  code,
  first,
  idsOf,
  nowhere,
  textContent,
  textOf,
  textSecret,
  type MakeStage,
} from "./describe-vault.stage.ts";

const deed = { secrets: [{ title: "Deed", content: "house" }] };
const garden = { name: "Garden", picture: "garden" };
const lake = { name: "Lake", picture: "lake" };

export function describeOpeners(make: MakeStage): void {
  describe("openers", () => {
    it("are listed as they were added, with what each opens", async () => {
      const { vault, shown } = await make({
        images: [garden, lake],
        secrets: [
          { title: "Deed", content: "house" },
          { title: "Key", content: "door" },
        ],
        keys: [{ kind: "passkey", name: "Phone", secret: "7", covers: false }],
      });
      const [deedId, keyId = ""] = await idsOf(vault);
      const [gardenId = "", lakeId = ""] = (await vault.images()).map(({ id }) => id);
      await vault.openers.recognise(shown("garden"));
      await vault.update(deedId, {
        baseVersion: 1,
        content: textContent("flat"),
        protection: { kind: "openers", openers: [lakeId] },
      });
      const { openers, secrets } = await vault.openers.list();
      expect(openers).toMatchObject([
        { id: gardenId, kind: "image", name: "Garden", opens: 1, onlyWayTo: [], rehearsedAt: null, served: true },
        { id: lakeId, kind: "image", name: "Lake", opens: 2, onlyWayTo: [deedId], served: true },
        { kind: "passkey", name: "Phone", opens: 0, onlyWayTo: [], served: true },
      ]);
      const phone = openers[2]?.id ?? "";
      expect(secrets).toEqual([
        { secretId: keyId, title: "Key", openers: [gardenId, lakeId], missing: [phone], rehearsedAt: null },
        { secretId: deedId, title: "Deed", openers: [lakeId], missing: [gardenId, phone], rehearsedAt: null },
      ]);
    });

    it("by codes open what is protected from now on, and the rest once it is covered", async () => {
      const { vault, shown, shownKey } = await make(deed);
      const [deedId] = await idsOf(vault);
      const { words, identity } = await vault.openers.newRecoveryCode();
      expect(words).toHaveLength(24);
      expect(identity).toMatch(/^AGE-SECRET-KEY-PQ-1/);
      const paper = { shown: shownKey("recovery_code", words.join(" ")), name: "Paper" };
      await expect(vault.openers.add(paper, null)).rejects.toEqual(code("show_opener_first"));
      await expect(vault.openers.add({ ...paper, name: "" }, shown("garden"))).rejects.toEqual(
        code("validation_error", { fields: ["name"] }),
      );
      await expect(vault.openers.add(paper, shown("sea"))).rejects.toEqual(code("not_this_picture"));
      const { openerId } = await vault.openers.add(paper, shown("garden"));
      await expect(vault.openers.add(paper, null)).resolves.toEqual({ openerId });
      await expect(vault.openers.list()).resolves.toMatchObject({
        openers: [{ kind: "image" }, { id: openerId, kind: "recovery_code", name: "Paper", opens: 0 }],
      });
      const { secretId } = await vault.protect(textSecret("Key", "door"));
      expect(textOf(await vault.recover(secretId, paper.shown))).toBe("door");
      await expect(vault.recover(deedId, paper.shown)).rejects.toEqual(code("opener_needed"));
      await expect(vault.openers.cover(paper.shown)).resolves.toEqual({ covered: 0, left: [deedId] });
      const steps: string[] = [];
      await expect(
        vault.openers.cover(shown("garden"), {
          onProgress: ({ phase, done, total }) => steps.push(`${phase} ${String(done)}/${String(total)}`),
        }),
      ).resolves.toEqual({ covered: 1, left: [] });
      expect(steps).toEqual(expect.arrayContaining(["sealing 0/1", "sealing 1/1"]));
      expect(textOf(await vault.recover(deedId, paper.shown))).toBe("house");
      await expect(vault.openers.cover(shown("garden"))).resolves.toEqual({ covered: 0, left: [] });
      await vault.lock();
      await vault.unlock(shownKey("recovery_code", ` ${words.join("  ").toUpperCase()} `));
      expect(vault.getState()).toMatchObject({ status: "unlocked" });
    });

    it("are told apart when they are not of the account", async () => {
      const { vault, shownKey } = await make({ ...deed, unlocked: false });
      const { words } = await vault.openers.newRecoveryCode();
      const other = await vault.openers.newRecoveryCode();
      expect(other.words).not.toEqual(words);
      await expect(vault.unlock(shownKey("recovery_code", words.join(" ")))).rejects.toEqual(
        code("not_this_recovery_code"),
      );
      await expect(vault.unlock(shownKey("recovery_code", words.slice(1).join(" ")))).rejects.toEqual(
        code("recovery_code_unreadable", { words: 23 }),
      );
      await expect(vault.unlock(shownKey("recovery_code", ["relicario", ...words.slice(1)].join(" ")))).rejects.toEqual(
        code("recovery_code_unreadable", { unknown: ["1"] }),
      );
      await expect(vault.unlock(shownKey("passkey", "7"))).rejects.toEqual(code("not_this_passkey"));
    });

    it("by passkeys unlock, and are recognised", async () => {
      const { vault, shown, shownKey } = await make({
        ...deed,
        keys: [{ kind: "passkey", name: "Phone", secret: "7" }],
        unlocked: false,
      });
      const [id] = await idsOf(vault);
      expect(textOf(await vault.recover(id, shownKey("passkey", "7")))).toBe("house");
      const { openers } = await vault.openers.list();
      expect(openers).toMatchObject([
        { opens: 1, onlyWayTo: [] },
        { kind: "passkey", name: "Phone", opens: 1 },
      ]);
      await expect(vault.openers.recognise(shown("garden"))).resolves.toEqual({ openerId: openers[0]?.id });
      await expect(vault.openers.recognise(shownKey("passkey", "7"))).resolves.toEqual({ openerId: openers[1]?.id });
      await expect(vault.openers.recognise(shownKey("passkey", "8"))).rejects.toEqual(code("not_this_passkey"));
      await expect(vault.openers.recognise(shown("sea"))).rejects.toEqual(code("not_this_picture"));
    });

    it("take a device's keys with its lock, where its passkey opens it", async () => {
      const { vault, shown, shownKey } = await make(deed);
      await vault.openers.add({ shown: shownKey("passkey", "7"), name: "This device" }, shown("garden"));
      await vault.lock();
      await expect(vault.unlockByPresence()).rejects.toEqual(code("opener_needed"));
      await vault.unlock(shownKey("passkey", "7"));
      expect(vault.getState()).toEqual({ status: "unlocked", device: "own" });
    });

    it("are removed by another one", async () => {
      const { vault, shown } = await make({ images: [garden, lake], ...deed });
      const [deedId] = await idsOf(vault);
      const [gardenId = "", lakeId = ""] = (await vault.images()).map(({ id }) => id);
      await expect(vault.openers.remove(lakeId, shown("lake"))).rejects.toEqual(
        code("validation_error", { fields: ["opener"] }),
      );
      await expect(vault.openers.remove(nowhere, shown("garden"))).rejects.toEqual(code("not_found"));
      await expect(vault.openers.remove(lakeId, shown("sea"))).rejects.toEqual(code("not_this_picture"));
      await vault.openers.remove(lakeId, shown("garden"));
      await expect(vault.images()).resolves.toMatchObject([{ id: gardenId }]);
      await expect(vault.list()).resolves.toMatchObject([
        { secretId: deedId, version: 1, label: { openers: [gardenId] } },
      ]);
      await expect(vault.unlock(shown("lake"))).rejects.toEqual(code("not_this_picture"));
    });

    it("are not removed while something would be lost, unless it is named", async () => {
      const { vault, shown, shownKey } = await make({
        images: [garden, lake],
        ...deed,
        keys: [{ kind: "passkey", name: "Phone", secret: "7" }],
      });
      const [deedId] = await idsOf(vault);
      const [gardenId = "", lakeId = ""] = (await vault.images()).map(({ id }) => id);
      await vault.openers.recognise(shown("garden"));
      await vault.update(deedId, {
        baseVersion: 1,
        content: textContent("flat"),
        protection: { kind: "openers", openers: [lakeId] },
      });
      await expect(vault.openers.remove(lakeId, shown("garden"))).rejects.toEqual(code("last_opener", { secrets: 1 }));
      await expect(vault.openers.remove(lakeId, shown("garden"), { losing: [nowhere] })).rejects.toEqual(
        code("last_opener", { secrets: 1 }),
      );
      await vault.openers.remove(lakeId, shown("garden"), { losing: [deedId] });
      await expect(vault.recover(deedId, shown("garden"))).rejects.toEqual(code("opener_needed"));
      const [, phone] = (await vault.openers.list()).openers;
      const removing = vault.openers.remove(gardenId, shownKey("passkey", "7"));
      // the last picture
      await expect(removing).rejects.toEqual(expect.objectContaining({ code: "last_opener", details: {} }));
      await vault.openers.remove(phone?.id ?? "", shown("garden"));
      await expect(vault.openers.list()).resolves.toMatchObject({ openers: [{ id: gardenId }] });
    });
  });

  describe("an image that is changed", () => {
    it("takes a passphrase, under which its secrets open, former versions too", async () => {
      const { vault, shown } = await make({ secrets: [{ title: "Deed", content: "house", former: ["hut"] }] });
      const [id] = await idsOf(vault);
      const before = first(await vault.images());
      await expect(
        vault.openers.changeImage(shown("garden"), { shown: shown("garden", "pass"), name: "" }),
      ).rejects.toEqual(code("validation_error", { fields: ["name"] }));
      await expect(vault.openers.changeImage(shown("sea"), { shown: shown("lake"), name: "Lake" })).rejects.toEqual(
        code("not_this_picture"),
      );
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
        shown("garden"),
      );
      const steps: string[] = [];
      const { openerId } = await vault.openers.changeImage(
        shown("garden"),
        { shown: shown("garden", "pass"), name: "The garden" },
        { onProgress: ({ phase, done, total }) => steps.push(`${phase} ${String(done)}/${String(total)}`) },
      );
      expect(steps).toContain("sealing 1/1");
      expect(openerId).not.toBe(before.id);
      await expect(vault.images()).resolves.toMatchObject([{ id: openerId, name: "The garden" }]);
      await expect(vault.list()).resolves.toMatchObject([{ version: 2, label: { openers: [openerId] } }]);
      await expect(vault.recover(id, shown("garden"))).rejects.toEqual(code("not_this_picture_or_passphrase"));
      expect(textOf(await vault.recover(id, shown("garden", "pass")))).toBe("house");
      expect(textOf(await vault.recover(id, shown("garden", "pass"), { version: 1 }))).toBe("hut");
      await expect(vault.shares.all()).resolves.toMatchObject([{ shareId, revokedAt: expect.any(String) as string }]);
    });

    it("may be another picture, and not one of another opener", async () => {
      const { vault, shown } = await make({ images: [garden, lake], ...deed });
      const [id] = await idsOf(vault);
      await expect(vault.openers.changeImage(shown("garden"), { shown: shown("lake"), name: "Lake" })).rejects.toEqual(
        code("picture_resembles_another"),
      );
      const { openerId } = await vault.openers.changeImage(shown("garden"), {
        shown: shown("harbour"),
        name: "Harbour",
      });
      await expect(vault.openers.recognise(shown("harbour"))).resolves.toEqual({ openerId });
      expect(textOf(await vault.recover(id, shown("harbour")))).toBe("house");
      await expect(vault.recover(id, shown("garden"))).rejects.toEqual(code("not_this_picture"));
    });
  });

  describe("a new account key", () => {
    it("keeps the openers that are shown, and ends the others and what waits for an answer", async () => {
      const { vault, shown, shownKey } = await make({
        images: [garden, lake],
        ...deed,
        keys: [{ kind: "passkey", name: "Phone", secret: "7" }],
        asked: [{ title: "The permit" }],
      });
      const [id] = await idsOf(vault);
      const [, lakeId = "", phoneId = ""] = (await vault.openers.list()).openers.map((opener) => opener.id);
      await expect(vault.openers.rotate([shownKey("passkey", "7")])).rejects.toEqual(code("last_opener"));
      await expect(vault.openers.rotate([shown("garden"), shown("sea")])).rejects.toEqual(code("not_this_picture"));
      const steps: string[] = [];
      await expect(
        vault.openers.rotate([shown("garden"), shown("garden")], {
          onProgress: ({ phase, done, total }) => steps.push(`${phase} ${String(done)}/${String(total)}`),
        }),
      ).resolves.toEqual({ removed: [lakeId, phoneId], revoked: ["The permit"] });
      expect(steps).toContain("sealing 1/1");
      expect(vault.getState()).toEqual({ status: "unlocked", device: "own" });
      await expect(vault.openers.list()).resolves.toMatchObject({ openers: [{ kind: "image", name: "Garden" }] });
      await expect(vault.recover(id, shown("lake"))).rejects.toEqual(code("not_this_picture"));
      expect(textOf(await vault.recover(id, shown("garden")))).toBe("house");
      await expect(vault.requests.list()).resolves.toEqual([]);
      await expect(vault.requests.list({ ended: true })).resolves.toMatchObject([
        { title: "The permit", state: "revoked", doubt: null },
      ]);
    });

    it("loses no secret that is not named, and outdates kits", async () => {
      const { vault, shown } = await make({ images: [garden, lake], ...deed });
      const [id] = await idsOf(vault);
      const [, lakeId = ""] = (await vault.images()).map((image) => image.id);
      await vault.openers.recognise(shown("garden"));
      const { secretId } = await vault.protect({
        ...textSecret("Key", "door"),
        protection: { kind: "openers", openers: [lakeId] },
      });
      await vault.makeKit([id], shown("garden"));
      await expect(vault.openers.rotate([shown("garden")])).rejects.toEqual(code("last_opener", { secrets: 1 }));
      await expect(vault.openers.rotate([shown("garden")], { losing: [secretId] })).resolves.toEqual({
        removed: [lakeId],
        revoked: [],
      });
      await expect(vault.list()).resolves.toMatchObject([
        { label: { kits: [{ outdated: true }] } },
        { label: { title: "Key", openers: [lakeId] } },
      ]); // nothing could seal it to others
      await expect(vault.recover(secretId, shown("garden"))).rejects.toEqual(code("opener_needed"));
    });
  });
}
