import {
  errorWithCode,
  requireFirst,
  listSecretIds,
  largeText,
  unknownSecretId,
  textContent,
  decodeContent,
  type CreateHarness,
} from "./describe-vault.harness.ts";

const oneSecret = { secrets: [{ title: "Deed", content: "one" }] };
const threeVersions = { secrets: [{ title: "Deed", content: "three", formerContents: ["one", "two"] }] };

export function describeVersions(make: CreateHarness): void {
  describe("a change", () => {
    it("of the label adds no version, a change of the content does", async () => {
      const { vault, makeHandle } = await make(oneSecret);
      const [id] = await listSecretIds(vault);
      await expect(vault.update(id, { baseVersion: 1, title: "renamed" })).resolves.toEqual({ version: 1 });
      await expect(vault.list()).resolves.toMatchObject([
        { version: 1, rev: 2, label: { title: "renamed", tags: [] } },
      ]);
      await vault.unlock(makeHandle("garden"));
      await expect(
        vault.update(id, {
          baseVersion: 1,
          baseRev: 2,
          tags: ["a", "b"],
          content: { ...textContent("two"), name: "new.txt" },
        }),
      ).resolves.toEqual({ version: 2 });
      await expect(vault.list()).resolves.toMatchObject([
        { version: 2, rev: 3, label: { title: "renamed", tags: ["a", "b"], name: "new.txt", size: 3 } },
      ]);
      await expect(vault.listVersions(id)).resolves.toMatchObject([
        { version: 2, current: true, dropped: false },
        { version: 1, current: false, dropped: false },
      ]);
      const formerVersion = await vault.openSecret(id, makeHandle("garden"), { version: 1 });
      expect([
        formerVersion.current,
        formerVersion.version,
        formerVersion.title,
        formerVersion.tags,
        formerVersion.name,
        await decodeContent(formerVersion),
      ]).toEqual([false, 1, "Deed", [], "secret.txt", "one"]); // like in version 1
      const currentVersion = await vault.openSecret(id, makeHandle("garden"), { version: 2 });
      expect([currentVersion.current, currentVersion.title, await decodeContent(currentVersion)]).toEqual([
        true,
        "renamed",
        "two",
      ]);
    });

    it("without a difference is not saved", async () => {
      const { vault } = await make(oneSecret);
      const [id] = await listSecretIds(vault);
      await expect(vault.update(id, { baseVersion: 1, title: "Deed" })).resolves.toEqual({ version: 1 });
      await expect(vault.update(id, { baseVersion: 1 })).resolves.toEqual({ version: 1 });
      await expect(vault.list()).resolves.toMatchObject([{ rev: 1 }]);
    });

    it("with invalid fields is refused", async () => {
      const { vault, makeHandle } = await make(oneSecret);
      const [id] = await listSecretIds(vault);
      await expect(vault.update(id, { baseVersion: 1, title: "" })).rejects.toEqual(
        errorWithCode("validation_error", { fields: ["title"] }),
      );
      await expect(
        vault.update(id, { baseVersion: 1, protection: { kind: "openers", openerIds: [] } }),
      ).rejects.toEqual(errorWithCode("validation_error", { fields: ["protection"] }));
      await expect(vault.update(unknownSecretId, { baseVersion: 1, title: "x" })).rejects.toEqual(
        errorWithCode("not_found"),
      );
      await expect(
        vault.update(id, {
          baseVersion: 1,
          content: textContent("x"),
          protection: { kind: "picture", picture: makeHandle("lake"), name: "Lake" },
        }),
      ).rejects.toEqual(errorWithCode("show_opener_first"));
      await expect(vault.list()).resolves.toMatchObject([{ version: 1, rev: 1 }]);
    });

    it("conflicts with a change that another device saved first", async () => {
      const { vault, saveElsewhere } = await make(oneSecret);
      const { secretId: id, rev } = requireFirst(await vault.list());
      await saveElsewhere(id, { title: "elsewhere" });
      await expect(vault.update(id, { baseVersion: 1, baseRev: rev, title: "here" })).rejects.toEqual(
        errorWithCode("version_conflict", { version: 1 }),
      );
      await expect(vault.update(id, { baseVersion: 1, tags: ["here"] })).resolves.toEqual({ version: 1 });
      await expect(vault.list()).resolves.toMatchObject([{ label: { title: "elsewhere", tags: ["here"] } }]);
      await saveElsewhere(id, { content: "elsewhere" });
      await expect(vault.update(id, { baseVersion: 1, content: textContent("here") })).rejects.toEqual(
        errorWithCode("version_conflict", { version: 2 }),
      );
      await expect(vault.update(id, { baseVersion: 3, title: "here" })).rejects.toEqual(
        errorWithCode("version_conflict", { version: 2 }),
      );
      await expect(vault.list()).resolves.toMatchObject([{ version: 2, label: { title: "elsewhere" } }]);
    });

    it("of the content may set other openers, and otherwise keeps the openers", async () => {
      const { vault, makeHandle } = await make(oneSecret);
      const [id] = await listSecretIds(vault);
      await vault.openers.recognise(makeHandle("garden"));
      await vault.update(id, {
        baseVersion: 1,
        content: textContent("two"),
        protection: { kind: "picture", picture: makeHandle("lake"), name: "Lake" },
      });
      expect(await decodeContent(await vault.openSecret(id, makeHandle("lake")))).toBe("two");
      const [, lakeId = ""] = (await vault.listImages()).map((image) => image.id);
      await vault.update(id, {
        baseVersion: 2,
        content: textContent("three"),
        protection: { kind: "openers", openerIds: [lakeId] },
      });
      await vault.update(id, { baseVersion: 3, content: textContent("four") });
      await expect(vault.openSecret(id, makeHandle("garden"))).rejects.toEqual(errorWithCode("opener_needed"));
      expect(await decodeContent(await vault.openSecret(id, makeHandle("lake")))).toBe("four");
      // version 2 keeps its openers
      expect(await decodeContent(await vault.openSecret(id, makeHandle("garden"), { version: 2 }))).toBe("two");
    });

    it("may have a content that is too large for memory", async () => {
      const { vault, makeHandle } = await make(oneSecret);
      const [id] = await listSecretIds(vault);
      await vault.unlock(makeHandle("garden"));
      await expect(vault.update(id, { baseVersion: 1, content: textContent(largeText) })).resolves.toMatchObject({
        version: 2,
      });
      await expect(vault.openSecret(id, makeHandle("garden"))).resolves.toMatchObject({
        version: 2,
        size: largeText.length,
      });
      await expect(vault.listUploads()).resolves.toEqual([]);
    });
  });

  describe("former versions", () => {
    it("are listed, and restored as new versions", async () => {
      const { vault, makeHandle } = await make(threeVersions);
      const { secretId: id, rev } = requireFirst(await vault.list());
      await expect(vault.listVersions(id)).resolves.toMatchObject([
        { version: 3, current: true },
        { version: 2, current: false },
        { version: 1, current: false },
      ]);
      await vault.update(id, { baseVersion: 3, title: "renamed" });
      await expect(vault.restoreVersion(id, 1, makeHandle("garden"))).resolves.toEqual({ version: 4 });
      const restoredSecret = await vault.openSecret(id, makeHandle("garden"));
      expect([restoredSecret.title, await decodeContent(restoredSecret), restoredSecret.current]).toEqual([
        "renamed",
        "one",
        true,
      ]);
      await expect(vault.list()).resolves.toMatchObject([{ version: 4, rev: rev + 2 }]);
      // this content is already current
      await expect(vault.restoreVersion(id, 4, makeHandle("garden"))).resolves.toEqual({ version: 4 });
      await expect(vault.listVersions(id)).resolves.toHaveLength(4);
      await expect(vault.restoreVersion(id, 5, makeHandle("garden"))).rejects.toEqual(errorWithCode("not_found"));
      await expect(vault.restoreVersion(id, 1, makeHandle("sea"))).rejects.toEqual(errorWithCode("not_this_picture"));
    });

    it("are removed for good, but never the current version", async () => {
      const { vault, makeHandle } = await make(threeVersions);
      const { secretId: id, rev } = requireFirst(await vault.list());
      await vault.unlock(makeHandle("garden"));
      await expect(vault.removeVersions(id, [2, 3])).rejects.toEqual(errorWithCode("not_found"));
      await expect(vault.removeVersions(id, [0])).rejects.toEqual(errorWithCode("not_found"));
      await expect(vault.removeVersions(unknownSecretId, [1])).rejects.toEqual(errorWithCode("not_found"));
      await vault.removeVersions(id, []);
      await vault.removeVersions(id, [2]);
      await vault.removeVersions(id, [2]);
      await expect(vault.listVersions(id)).resolves.toMatchObject([
        { dropped: false },
        { version: 2, dropped: true },
        { dropped: false },
      ]);
      await expect(vault.openSecret(id, makeHandle("garden"), { version: 2 })).rejects.toEqual(
        errorWithCode("content_gone"),
      );
      await expect(vault.restoreVersion(id, 2, makeHandle("garden"))).rejects.toEqual(errorWithCode("content_gone"));
      expect(await decodeContent(await vault.openSecret(id, makeHandle("garden"), { version: 1 }))).toBe("one");
      await expect(vault.list()).resolves.toMatchObject([{ version: 3, rev }]);
    });
  });
}
