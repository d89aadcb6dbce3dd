import type { SecretRow } from "@relicario/shared/contract";

import { searchRows } from "./search.ts";

const row = (title: string, tags: readonly string[] = [], name = "secret.txt"): SecretRow => ({
  secretId: title,
  version: 1,
  rev: 1,
  favorite: false,
  sealedSize: 2304,
  createdAt: "2026-11-01T09:00:00.000Z",
  updatedAt: "2026-11-01T09:00:00.000Z",
  deletedAt: null,
  droppedAt: null,
  label: { title, tags, contentKind: "text", name, size: 12, openers: [], rehearsedAt: null },
});
const rows = [row("Cartera fría", ["familia", "semilla"]), row("House keys", ["home"]), row("Scan", [], "pasaporte.pdf"), { ...row("x"), label: null }];
const found = (typed: string) => searchRows(rows, typed).map((each) => each.secretId);

describe("searchRows", () => {
  it("gives everything for nothing", () => {
    expect(searchRows(rows, "  ")).toBe(rows);
  });

  it.each([
    ["a part of a title", "cart", ["Cartera fría"]],
    ["a tag", "home", ["House keys"]],
    ["a file name", "pasaporte", ["Scan"]],
    ["capitals", "HOUSE", ["House keys"]],
    ["missing accents", "fria", ["Cartera fría"]],
    ["several words in any order", "semilla cartera", ["Cartera fría"]],
    ["letters that mean something to patterns", ".*", []],
    ["what is nowhere", "garden", []],
  ])("finds by %s", (_what, typed, expected) => {
    expect(found(typed)).toEqual(expected);
  });

  it("finds one row of 10,000", () => {
    const many = Array.from({ length: 10_000 }, (_, index) => row(`Secret number ${String(index)}`, ["one", "two"]));
    expect(searchRows(many, "number 9999")).toHaveLength(1);
  });
});
