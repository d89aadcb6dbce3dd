import { maxTitleLength } from "@relicario/shared/api";
import type { ImportItem } from "@relicario/shared/contract";

import { errorWithCode, largeText, type CreateHarness } from "./describe-vault.harness.ts";

const oneSecret = { secrets: [{ title: "Deed", content: "house" }] };

function makeItem(title: string, text = `content of ${title}`, overrides: Partial<ImportItem> = {}): ImportItem {
  return {
    title,
    tags: ["imported"],
    contentKind: "text",
    name: `${title.slice(0, 20)}.txt`,
    mime: "text/plain",
    content: new Blob([text]),
    kind: "note",
    sourceId: `test ${title}`,
    canonicalContent: text,
    adjustments: [],
    ...overrides,
  };
}

export function describeImports(make: CreateHarness): void {
  describe("importing", () => {
    it("stores new items, skips unchanged ones, and adds versions of changed ones", async () => {
      const { vault, makeHandle } = await make({ ...oneSecret, unlocked: false });
      const items = [makeItem("One", undefined, { favorite: true }), makeItem("Two")];
      await expect(vault.imports.compare(items)).rejects.toEqual(errorWithCode("vault_locked"));
      await expect(vault.imports.store(items, makeHandle("sea"))).rejects.toEqual(errorWithCode("not_this_picture"));
      const progress: string[] = [];
      await expect(
        vault.imports.store(items, makeHandle("garden"), {
          onProgress: ({ phase, done, total }) => progress.push(`${phase} ${String(done)}/${String(total)}`),
        }),
      ).resolves.toEqual({ added: 2, updated: 0, unchanged: 0, failures: [], stopReason: null });
      expect(progress).toContain("sending 2/2");
      const rows = (await vault.list()).toSorted((left, right) =>
        String(left.label?.title) < String(right.label?.title) ? -1 : 1,
      ); // items stored in one call have the same time
      expect(rows).toMatchObject([
        { label: { title: "Deed" } },
        { favorite: true, label: { title: "One", tags: ["imported"] } },
        { favorite: false, label: { title: "Two" } },
      ]);
      const changedItems = [makeItem("One"), makeItem("Two", "changed"), makeItem("Three")];
      const [, firstId, secondId] = rows.map(({ secretId }) => secretId);
      await expect(vault.imports.compare(changedItems)).resolves.toEqual([
        { status: "same", secretId: firstId },
        { status: "changed", secretId: secondId },
        { status: "new" },
      ]);
      await expect(vault.imports.store(changedItems, makeHandle("garden"))).resolves.toEqual({
        added: 1,
        updated: 1,
        unchanged: 1,
        failures: [],
        stopReason: null,
      });
      await expect(vault.listVersions(secondId ?? "")).resolves.toHaveLength(2);
      await expect(vault.list()).resolves.toHaveLength(4);
    });

    it("reports items that cannot be stored, and stores the rest", async () => {
      const { vault, makeHandle } = await make(oneSecret);
      await expect(vault.imports.compare([makeItem("One")])).resolves.toEqual([{ status: "new" }]);
      const items = [makeItem("x".repeat(maxTitleLength + 1)), makeItem("One"), makeItem("Film", largeText)];
      await expect(vault.imports.store(items, makeHandle("garden"))).resolves.toEqual({
        added: 2,
        updated: 0,
        unchanged: 0,
        failures: [{ index: 0, code: "validation_error" }],
        stopReason: null,
      });
      expect((await vault.list()).map(({ label }) => label?.title)).toEqual(["Deed", "One", "Film"]);
      await expect(vault.imports.store(items, makeHandle("garden"))).resolves.toMatchObject({ added: 0, unchanged: 2 });
    });

    it("creates an account with a named picture", async () => {
      const { vault, makeHandle, makeKeyHandle } = await make({});
      await expect(vault.imports.compare([makeItem("One")])).resolves.toEqual([{ status: "new" }]);
      await expect(vault.imports.store([makeItem("One")], makeKeyHandle("passkey", "7"))).rejects.toEqual(
        errorWithCode("picture_needed"),
      );
      await expect(vault.imports.store([makeItem("One")], makeHandle("lake"), { name: "Lake" })).resolves.toMatchObject(
        {
          added: 1,
          stopReason: null,
        },
      );
      expect(vault.getState()).toEqual({ status: "unlocked", device: null });
      await expect(vault.listImages()).resolves.toMatchObject([{ name: "Lake" }]);
      await expect(vault.imports.compare([makeItem("One")])).resolves.toMatchObject([{ status: "same" }]);
    });

    it("does not compare items with secrets in the trash", async () => {
      const { vault, makeHandle } = await make({});
      await vault.imports.store([makeItem("One")], makeHandle("lake"), { name: "Lake" });
      for (const { secretId } of await vault.list()) await vault.trash(secretId);
      await expect(vault.imports.compare([makeItem("One")])).resolves.toEqual([{ status: "new" }]);
      await expect(vault.imports.store([makeItem("One")], makeHandle("lake"))).resolves.toMatchObject({
        added: 1,
        unchanged: 0,
      });
    });
  });
}
