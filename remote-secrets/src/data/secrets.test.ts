import type { SecretLabel, SecretRow } from "@relicario/shared/contract";

import { tagsOf } from "./secrets.ts";

const at = "2026-11-01T00:00:00.000Z";
const label: SecretLabel = { title: "", tags: [], contentKind: "text", name: "secret.txt", size: 1, openers: [], rehearsedAt: null, kits: [] };
const withTags = (tags: readonly string[]): SecretRow => ({ secretId: tags.join(), version: 1, rev: 1, favorite: false, sealedSize: 1, createdAt: at, updatedAt: at, deletedAt: null, droppedAt: null, label: { ...label, tags } });
const locked: SecretRow = { ...withTags([]), label: null };

describe("tagsOf", () => {
  it("gives the most used first, and those of equal use by name", () => {
    expect(tagsOf([withTags(["home"]), withTags(["home", "old"]), locked, withTags(["bank"])])).toEqual(["home", "bank", "old"]);
  });
});
