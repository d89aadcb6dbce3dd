import { code, first, idsOf, largeText, nowhere, textContent, textOf, type MakeStage } from "./describe-vault.stage.ts";

const deed = { secrets: [{ title: "Deed", content: "one" }] };
const three = { secrets: [{ title: "Deed", content: "three", former: ["one", "two"] }] };

export function describeVersions(make: MakeStage): void {
  describe("a change", () => {
    it("of the label makes no version, of the content one", async () => {
      const { vault, shown } = await make(deed);
      const [id] = await idsOf(vault);
      await expect(vault.update(id, { baseVersion: 1, title: "renamed" })).resolves.toEqual({ version: 1 });
      await expect(vault.list()).resolves.toMatchObject([
        { version: 1, rev: 2, label: { title: "renamed", tags: [] } },
      ]);
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
      await expect(vault.history(id)).resolves.toMatchObject([
        { version: 2, current: true, dropped: false },
        { version: 1, current: false, dropped: false },
      ]);
      const old = await vault.recover(id, shown("garden"), { version: 1 });
      expect([old.current, old.version, old.title, old.tags, old.name, textOf(old)]).toEqual([
        false,
        1,
        "Deed",
        [],
        "secret.txt",
        "one",
      ]); // as it was then
      const now = await vault.recover(id, shown("garden"), { version: 2 });
      expect([now.current, now.title, textOf(now)]).toEqual([true, "renamed", "two"]);
    });

    it("that changes nothing is none", async () => {
      const { vault } = await make(deed);
      const [id] = await idsOf(vault);
      await expect(vault.update(id, { baseVersion: 1, title: "Deed" })).resolves.toEqual({ version: 1 });
      await expect(vault.update(id, { baseVersion: 1 })).resolves.toEqual({ version: 1 });
      await expect(vault.list()).resolves.toMatchObject([{ rev: 1 }]);
    });

    it("of what cannot be sealed is refused", async () => {
      const { vault, shown } = await make(deed);
      const [id] = await idsOf(vault);
      await expect(vault.update(id, { baseVersion: 1, title: "" })).rejects.toEqual(
        code("validation_error", { fields: ["title"] }),
      );
      await expect(vault.update(id, { baseVersion: 1, protection: { kind: "openers", openers: [] } })).rejects.toEqual(
        code("validation_error", { fields: ["protection"] }),
      );
      await expect(vault.update(nowhere, { baseVersion: 1, title: "x" })).rejects.toEqual(code("not_found"));
      await expect(
        vault.update(id, {
          baseVersion: 1,
          content: textContent("x"),
          protection: { kind: "picture", shown: shown("lake"), name: "Lake" },
        }),
      ).rejects.toEqual(code("show_opener_first"));
      await expect(vault.list()).resolves.toMatchObject([{ version: 1, rev: 1 }]);
    });

    it("conflicts with what another device saved first", async () => {
      const { vault, saveElsewhere } = await make(deed);
      const { secretId: id, rev } = first(await vault.list());
      await saveElsewhere(id, { title: "elsewhere" });
      await expect(vault.update(id, { baseVersion: 1, baseRev: rev, title: "here" })).rejects.toEqual(
        code("version_conflict", { version: 1 }),
      );
      await expect(vault.update(id, { baseVersion: 1, tags: ["here"] })).resolves.toEqual({ version: 1 });
      await expect(vault.list()).resolves.toMatchObject([{ label: { title: "elsewhere", tags: ["here"] } }]);
      await saveElsewhere(id, { content: "elsewhere" });
      await expect(vault.update(id, { baseVersion: 1, content: textContent("here") })).rejects.toEqual(
        code("version_conflict", { version: 2 }),
      );
      await expect(vault.update(id, { baseVersion: 3, title: "here" })).rejects.toEqual(
        code("version_conflict", { version: 2 }),
      );
      await expect(vault.list()).resolves.toMatchObject([{ version: 2, label: { title: "elsewhere" } }]);
    });

    it("of the content may bring other openers, and else keeps those that there were", async () => {
      const { vault, shown } = await make(deed);
      const [id] = await idsOf(vault);
      await vault.openers.recognise(shown("garden"));
      await vault.update(id, {
        baseVersion: 1,
        content: textContent("two"),
        protection: { kind: "picture", shown: shown("lake"), name: "Lake" },
      });
      expect(textOf(await vault.recover(id, shown("lake")))).toBe("two");
      const [, lake = ""] = (await vault.images()).map((image) => image.id);
      await vault.update(id, {
        baseVersion: 2,
        content: textContent("three"),
        protection: { kind: "openers", openers: [lake] },
      });
      await vault.update(id, { baseVersion: 3, content: textContent("four") });
      await expect(vault.recover(id, shown("garden"))).rejects.toEqual(code("opener_needed"));
      expect(textOf(await vault.recover(id, shown("lake")))).toBe("four");
      expect(textOf(await vault.recover(id, shown("garden"), { version: 2 }))).toBe("two"); // sealed as it was then
    });

    it("may be too large to be held", async () => {
      const { vault, shown } = await make(deed);
      const [id] = await idsOf(vault);
      await expect(vault.update(id, { baseVersion: 1, content: textContent(largeText) })).resolves.toMatchObject({
        version: 2,
      });
      await expect(vault.recover(id, shown("garden"))).resolves.toMatchObject({
        version: 2,
        content: null,
        size: largeText.length,
      });
      await expect(vault.uploads()).resolves.toEqual([]);
    });
  });

  describe("former versions", () => {
    it("stand in the history, and become new ones", async () => {
      const { vault, shown } = await make(three);
      const { secretId: id, rev } = first(await vault.list());
      await expect(vault.history(id)).resolves.toMatchObject([
        { version: 3, current: true },
        { version: 2, current: false },
        { version: 1, current: false },
      ]);
      await vault.update(id, { baseVersion: 3, title: "renamed" });
      await expect(vault.restoreVersion(id, 1, shown("garden"))).resolves.toEqual({ version: 4 });
      const restored = await vault.recover(id, shown("garden"));
      expect([restored.title, textOf(restored), restored.current]).toEqual(["renamed", "one", true]);
      await expect(vault.list()).resolves.toMatchObject([{ version: 4, rev: rev + 2 }]);
      await expect(vault.restoreVersion(id, 4, shown("garden"))).resolves.toEqual({ version: 4 }); // it stands already
      await expect(vault.history(id)).resolves.toHaveLength(4);
      await expect(vault.restoreVersion(id, 5, shown("garden"))).rejects.toEqual(code("not_found"));
      await expect(vault.restoreVersion(id, 1, shown("sea"))).rejects.toEqual(code("not_this_picture"));
    });

    it("are removed for good, the present one never", async () => {
      const { vault, shown } = await make(three);
      const { secretId: id, rev } = first(await vault.list());
      await expect(vault.removeVersions(id, [2, 3])).rejects.toEqual(code("not_found"));
      await expect(vault.removeVersions(id, [0])).rejects.toEqual(code("not_found"));
      await expect(vault.removeVersions(nowhere, [1])).rejects.toEqual(code("not_found"));
      await vault.removeVersions(id, []);
      await vault.removeVersions(id, [2]);
      await vault.removeVersions(id, [2]);
      await expect(vault.history(id)).resolves.toMatchObject([
        { dropped: false },
        { version: 2, dropped: true },
        { dropped: false },
      ]);
      await expect(vault.recover(id, shown("garden"), { version: 2 })).rejects.toEqual(code("content_gone"));
      await expect(vault.restoreVersion(id, 2, shown("garden"))).rejects.toEqual(code("content_gone"));
      expect(textOf(await vault.recover(id, shown("garden"), { version: 1 }))).toBe("one");
      await expect(vault.list()).resolves.toMatchObject([{ version: 3, rev }]);
    });
  });
}
