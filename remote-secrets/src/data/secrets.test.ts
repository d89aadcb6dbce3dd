import type { SecretLabel, SecretRow } from "@relicario/shared/contract";

import { reuseUnchangedRows, collectTags } from "./secrets.ts";

const timestamp = "2026-11-01T00:00:00.000Z";
const label: SecretLabel = {
  title: "",
  tags: [],
  contentKind: "text",
  name: "secret.txt",
  size: 1,
  openerIds: [],
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
  trashConfirmedAt: null,
  droppedAt: null,
  label: { ...label, tags },
});
const lockedRow: SecretRow = { ...createRow([]), label: null };

describe("collectTags", () => {
  it("sorts by number of uses, then by name", () => {
    expect(collectTags([createRow(["home"]), createRow(["home", "old"]), lockedRow, createRow(["bank"])])).toEqual([
      "home",
      "bank",
      "old",
    ]);
  });
});

describe("reuseUnchangedRows", () => {
  const [homeRow, bankRow] = [createRow(["home"]), createRow(["bank"])];
  const cloneRow = (row: SecretRow): SecretRow => structuredClone(row);

  it("returns the previous array if nothing changed", () => {
    const previous = [homeRow, bankRow];
    expect(reuseUnchangedRows(previous, previous.map(cloneRow))).toBe(previous);
    expect(reuseUnchangedRows([lockedRow], [cloneRow(lockedRow)])).toEqual([lockedRow]);
  });

  it("keeps unchanged row objects", () => {
    const starredRow = { ...bankRow, favorite: true };
    const merged = reuseUnchangedRows([homeRow, bankRow], [cloneRow(homeRow), starredRow]);
    expect(merged[0]).toBe(homeRow);
    expect(merged[1]).toBe(starredRow);
  });

  it.each<[string, SecretRow]>([
    ["another label", { ...homeRow, rev: 2, label: { ...label, title: "New" } }],
    ["a label, after unlocking", { ...lockedRow, secretId: homeRow.secretId, label }],
    [
      "a kit that has become outdated",
      { ...homeRow, label: { ...label, kits: [{ sha256: "", createdAt: timestamp, outdated: true }] } },
    ],
    ["been moved to the trash", { ...homeRow, deletedAt: timestamp }],
  ])("replaces a row that has %s", (_description, row) => {
    const previous =
      row.label?.kits.length === 1
        ? { ...homeRow, label: { ...label, kits: [{ sha256: "", createdAt: timestamp, outdated: false }] } }
        : row.label === label
          ? { ...row, label: null }
          : homeRow;
    expect(reuseUnchangedRows([previous], [row])[0]).toBe(row);
  });

  it("includes added rows, and follows removals and moves", () => {
    expect(reuseUnchangedRows([homeRow, bankRow], [cloneRow(bankRow)])).toEqual([bankRow]);
    expect(reuseUnchangedRows([homeRow, bankRow], [cloneRow(bankRow), cloneRow(homeRow)])).toEqual([bankRow, homeRow]);
    expect(reuseUnchangedRows(undefined, [homeRow])).toEqual([homeRow]);
  });
});
