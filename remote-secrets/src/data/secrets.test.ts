import type { SecretLabel, SecretRow } from "@relicario/shared/contract";

import { reuseUnchangedRows, collectTags } from "./secrets.ts";

const timestamp = "2026-11-01T00:00:00.000Z";
const label: SecretLabel = {
  title: "",
  tags: [],
  contentKind: "text",
  name: "secret.txt",
  size: 1,
  openers: [],
  copyCheckedAt: null,
  kits: [],
};
const createRow = (tags: readonly string[]): SecretRow => ({
  secretId: tags.join(),
  version: 1,
  rev: 1,
  favorite: false,
  sealedSize: 1,
  createdAt: timestamp,
  updatedAt: timestamp,
  deletedAt: null,
  droppedAt: null,
  label: { ...label, tags },
});
const lockedRow: SecretRow = { ...createRow([]), label: null };

describe("tagsOf", () => {
  it("gives the most used first, and those of equal use by name", () => {
    expect(collectTags([createRow(["home"]), createRow(["home", "old"]), lockedRow, createRow(["bank"])])).toEqual([
      "home",
      "bank",
      "old",
    ]);
  });
});

describe("shareRows", () => {
  const [homeRow, bankRow] = [createRow(["home"]), createRow(["bank"])];
  const cloneRow = (row: SecretRow): SecretRow => structuredClone(row);

  it("gives the list of before when nothing changed", () => {
    const previous = [homeRow, bankRow];
    expect(reuseUnchangedRows(previous, previous.map(cloneRow))).toBe(previous);
    expect(reuseUnchangedRows([lockedRow], [cloneRow(lockedRow)])).toEqual([lockedRow]);
  });

  it("keeps the rows that are as they were", () => {
    const starredRow = { ...bankRow, favorite: true };
    const merged = reuseUnchangedRows([homeRow, bankRow], [cloneRow(homeRow), starredRow]);
    expect(merged[0]).toBe(homeRow);
    expect(merged[1]).toBe(starredRow);
  });

  it.each<[string, SecretRow]>([
    ["another label", { ...homeRow, rev: 2, label: { ...label, title: "New" } }],
    ["a label, after unlocking", { ...lockedRow, secretId: homeRow.secretId, label }],
    [
      "a kit that is outdated by now",
      { ...homeRow, label: { ...label, kits: [{ sha256: "", createdAt: timestamp, outdated: true }] } },
    ],
    ["a place in the trash", { ...homeRow, deletedAt: timestamp }],
  ])("takes a row that has %s", (_description, row) => {
    const previous =
      row.label?.kits.length === 1
        ? { ...homeRow, label: { ...label, kits: [{ sha256: "", createdAt: timestamp, outdated: false }] } }
        : row.label === label
          ? { ...row, label: null }
          : homeRow;
    expect(reuseUnchangedRows([previous], [row])[0]).toBe(row);
  });

  it("follows what came, went and moved", () => {
    expect(reuseUnchangedRows([homeRow, bankRow], [cloneRow(bankRow)])).toEqual([bankRow]);
    expect(reuseUnchangedRows([homeRow, bankRow], [cloneRow(bankRow), cloneRow(homeRow)])).toEqual([bankRow, homeRow]);
    expect(reuseUnchangedRows(undefined, [homeRow])).toEqual([homeRow]);
  });
});
