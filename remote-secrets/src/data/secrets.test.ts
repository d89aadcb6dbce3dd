import type { SecretLabel, SecretRow } from "@relicario/shared/contract";

import { shareRows, tagsOf } from "./secrets.ts";

const at = "2026-11-01T00:00:00.000Z";
const label: SecretLabel = {
  title: "",
  tags: [],
  contentKind: "text",
  name: "secret.txt",
  size: 1,
  openers: [],
  rehearsedAt: null,
  kits: [],
};
const withTags = (tags: readonly string[]): SecretRow => ({
  secretId: tags.join(),
  version: 1,
  rev: 1,
  favorite: false,
  sealedSize: 1,
  createdAt: at,
  updatedAt: at,
  deletedAt: null,
  droppedAt: null,
  label: { ...label, tags },
});
const locked: SecretRow = { ...withTags([]), label: null };

describe("tagsOf", () => {
  it("gives the most used first, and those of equal use by name", () => {
    expect(tagsOf([withTags(["home"]), withTags(["home", "old"]), locked, withTags(["bank"])])).toEqual([
      "home",
      "bank",
      "old",
    ]);
  });
});

describe("shareRows", () => {
  const [one, other] = [withTags(["home"]), withTags(["bank"])];
  const again = (row: SecretRow): SecretRow => structuredClone(row);

  it("gives the list of before when nothing changed", () => {
    const before = [one, other];
    expect(shareRows(before, before.map(again))).toBe(before);
    expect(shareRows([locked], [again(locked)])).toEqual([locked]);
  });

  it("keeps the rows that are as they were", () => {
    const starred = { ...other, favorite: true };
    const shared = shareRows([one, other], [again(one), starred]);
    expect(shared[0]).toBe(one);
    expect(shared[1]).toBe(starred);
  });

  it.each<[string, SecretRow]>([
    ["another label", { ...one, rev: 2, label: { ...label, title: "New" } }],
    ["a label, after unlocking", { ...locked, secretId: one.secretId, label }],
    [
      "a kit that is outdated by now",
      { ...one, label: { ...label, kits: [{ sha256: "", madeAt: at, outdated: true }] } },
    ],
    ["a place in the trash", { ...one, deletedAt: at }],
  ])("takes a row that has %s", (_what, row) => {
    const before =
      row.label?.kits.length === 1
        ? { ...one, label: { ...label, kits: [{ sha256: "", madeAt: at, outdated: false }] } }
        : row.label === label
          ? { ...row, label: null }
          : one;
    expect(shareRows([before], [row])[0]).toBe(row);
  });

  it("follows what came, went and moved", () => {
    expect(shareRows([one, other], [again(other)])).toEqual([other]);
    expect(shareRows([one, other], [again(other), again(one)])).toEqual([other, one]);
    expect(shareRows(undefined, [one])).toEqual([one]);
  });
});
