import { maxTitleLength } from "@relicario/shared/api";
import type { ImportItem } from "@relicario/shared/contract";

import { code, largeText, type MakeStage } from "./describe-vault.stage.ts";

const deed = { secrets: [{ title: "Deed", content: "house" }] };

function item(title: string, text = `content of ${title}`, more: Partial<ImportItem> = {}): ImportItem {
  return {
    title,
    tags: ["imported"],
    contentKind: "text",
    name: `${title.slice(0, 20)}.txt`,
    mime: "text/plain",
    content: new Blob([text]),
    kind: "note",
    origin: `test ${title}`,
    holds: text,
    changed: [],
    ...more,
  };
}

export function describeImports(make: MakeStage): void {
  describe("importing", () => {
    it("stores what is new, leaves what is the same, and makes versions of what changed", async () => {
      const { vault, shown } = await make({ ...deed, unlocked: false });
      const items = [item("One", undefined, { favorite: true }), item("Two")];
      await expect(vault.imports.compare(items)).rejects.toEqual(code("vault_locked"));
      await expect(vault.imports.store(items, shown("sea"))).rejects.toEqual(code("not_this_picture"));
      const progress: string[] = [];
      await expect(
        vault.imports.store(items, shown("garden"), {
          onProgress: ({ phase, done, total }) => progress.push(`${phase} ${String(done)}/${String(total)}`),
        }),
      ).resolves.toEqual({ added: 2, updated: 0, same: 0, failed: [], stopped: null });
      expect(progress).toContain("sending 2/2");
      const rows = (await vault.list()).toSorted((left, right) =>
        String(left.label?.title) < String(right.label?.title) ? -1 : 1,
      ); // of one call, they came at one time
      expect(rows).toMatchObject([
        { label: { title: "Deed" } },
        { favorite: true, label: { title: "One", tags: ["imported"] } },
        { favorite: false, label: { title: "Two" } },
      ]);
      const again = [item("One"), item("Two", "changed"), item("Three")];
      const [, one, two] = rows.map(({ secretId }) => secretId);
      await expect(vault.imports.compare(again)).resolves.toEqual([
        { standing: "same", secretId: one },
        { standing: "changed", secretId: two },
        { standing: "new" },
      ]);
      await expect(vault.imports.store(again, shown("garden"))).resolves.toEqual({
        added: 1,
        updated: 1,
        same: 1,
        failed: [],
        stopped: null,
      });
      await expect(vault.history(two ?? "")).resolves.toHaveLength(2);
      await expect(vault.list()).resolves.toHaveLength(4);
    });

    it("names what cannot be stored, and stores the rest", async () => {
      const { vault, shown } = await make(deed);
      await expect(vault.imports.compare([item("One")])).resolves.toEqual([{ standing: "new" }]);
      const items = [item("x".repeat(maxTitleLength + 1)), item("One"), item("Film", largeText)];
      await expect(vault.imports.store(items, shown("garden"))).resolves.toEqual({
        added: 2,
        updated: 0,
        same: 0,
        failed: [{ index: 0, code: "validation_error" }],
        stopped: null,
      });
      expect((await vault.list()).map(({ label }) => label?.title)).toEqual(["Deed", "One", "Film"]);
      await expect(vault.imports.store(items, shown("garden"))).resolves.toMatchObject({ added: 0, same: 2 });
    });

    it("begins an account by a picture with a name", async () => {
      const { vault, shown, shownKey } = await make({});
      await expect(vault.imports.compare([item("One")])).resolves.toEqual([{ standing: "new" }]);
      await expect(vault.imports.store([item("One")], shownKey("passkey", "7"))).rejects.toEqual(
        code("picture_needed"),
      );
      await expect(vault.imports.store([item("One")], shown("lake"), { name: "Lake" })).resolves.toMatchObject({
        added: 1,
        stopped: null,
      });
      expect(vault.getState()).toEqual({ status: "unlocked", device: null });
      await expect(vault.images()).resolves.toMatchObject([{ name: "Lake" }]);
      await expect(vault.imports.compare([item("One")])).resolves.toMatchObject([{ standing: "same" }]);
    });

    it("does not count what is in the trash", async () => {
      const { vault, shown } = await make({});
      await vault.imports.store([item("One")], shown("lake"), { name: "Lake" });
      for (const { secretId } of await vault.list()) await vault.trash(secretId);
      await expect(vault.imports.compare([item("One")])).resolves.toEqual([{ standing: "new" }]);
      await expect(vault.imports.store([item("One")], shown("lake"))).resolves.toMatchObject({ added: 1, same: 0 });
    });
  });
}
