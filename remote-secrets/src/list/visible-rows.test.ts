import type { SecretLabel, SecretRow } from "@relicario/shared/contract";
import { countFilters, defaultView, filterRows, searchRows, sortRows } from "./visible-rows.ts";

const emptyLabel: SecretLabel = {
  title: "",
  tags: [],
  contentKind: "text",
  name: "secret.txt",
  size: 1,
  openerIds: [],
  copyCheckedAt: null,
  kits: [],
};
function createRow(
  title: string,
  label: Partial<SecretLabel> | null = {},
  overrides: Partial<SecretRow> = {},
): SecretRow {
  const timestamp = "2026-11-01T00:00:00.000Z";
  return {
    secretId: title,
    version: 1,
    rev: 1,
    favorite: false,
    sealedSize: 1,
    createdAt: timestamp,
    updatedAt: timestamp,
    deletedAt: null,
    trashConfirmedAt: null,
    droppedAt: null,
    label: label === null ? null : { ...emptyLabel, title, ...label },
    ...overrides,
  };
}
const getTitles = (rows: readonly SecretRow[]) => rows.map(({ secretId }) => secretId);

const rows = [
  createRow(
    "garden alone",
    { openerIds: ["garden"], tags: ["home"] },
    { updatedAt: "2026-11-03T00:00:00.000Z", sealedSize: 9 },
  ),
  createRow(
    "both images",
    { openerIds: ["garden", "sea"], tags: ["home", "old"], contentKind: "file" },
    { updatedAt: "2026-11-05T00:00:00.000Z", sealedSize: 5 },
  ),
  createRow(
    "sea alone",
    { openerIds: ["sea"], contentKind: "seed" },
    { favorite: true, updatedAt: "2026-11-04T00:00:00.000Z", sealedSize: 7 },
  ),
  createRow("locked", null, { favorite: true, updatedAt: "2026-11-01T00:00:00.000Z", sealedSize: 8 }),
];

describe("filterRows", () => {
  it.each([
    ["nothing", {}, ["garden alone", "both images", "sea alone", "locked"]],
    ["a kind", { kind: "seed" }, ["sea alone"]],
    ["one tag", { tags: ["home"] }, ["garden alone", "both images"]],
    ["every one of several tags", { tags: ["home", "old"] }, ["both images"]],
    ["the star, locked rows too", { favorite: true }, ["sea alone", "locked"]],
    ["what is shared", { shared: true }, ["both images"]],
    ["the image that opens it", { image: "sea" }, ["both images", "sea alone"]],
    ["several at once", { image: "sea", favorite: true, kind: "seed" }, ["sea alone"]],
  ] as const)("narrows rows by %s", (_, overrides, expected) => {
    expect(getTitles(filterRows(rows, { ...defaultView, ...overrides }, new Set(["both images"])))).toEqual(expected);
  });
});

describe("countFilters", () => {
  it("counts each tag, but not the sort order", () => {
    expect(countFilters({ ...defaultView, sort: "title" })).toBe(0);
    expect(
      countFilters({ kind: "seed", tags: ["a", "b"], favorite: true, shared: true, image: "sea", sort: "newest" }),
    ).toBe(6);
  });
});

describe("sortRows", () => {
  it.each([
    ["newest", ["both images", "sea alone", "garden alone", "locked"]],
    ["oldest", ["locked", "garden alone", "sea alone", "both images"]],
    ["largest", ["garden alone", "locked", "sea alone", "both images"]],
    ["title", ["locked", "both images", "garden alone", "sea alone"]],
  ] as const)("sorts by %s", (sort, expected) => {
    expect(getTitles(sortRows(rows, sort, "en"))).toEqual(expected);
  });

  it("sorts titles by the language's rules: ñ after n, ignoring case, numbers by value", () => {
    const unsortedRows = ["ñandú", "oso", "Nube", "nube 10", "nube 9"].map((title) => createRow(title));
    expect(getTitles(sortRows(unsortedRows, "title", "es"))).toEqual(["Nube", "nube 9", "nube 10", "ñandú", "oso"]);
  });
});

describe("searchRows", () => {
  const rows = [
    createRow("Cartera fría", { tags: ["familia", "semilla"] }),
    createRow("House keys", { tags: ["home"] }),
    createRow("Scan", { name: "pasaporte.pdf" }),
    createRow("x", null),
  ];
  const search = (searchText: string) => searchRows(rows, searchText).map((match) => match.secretId);

  it("returns all rows for an empty search", () => {
    expect(searchRows(rows, "  ")).toBe(rows);
  });

  it.each([
    ["a part of a title", "cart", ["Cartera fría"]],
    ["a tag", "home", ["House keys"]],
    ["a file name", "pasaporte", ["Scan"]],
    ["capitals", "HOUSE", ["House keys"]],
    ["missing accents", "fria", ["Cartera fría"]],
    ["several words in any order", "semilla cartera", ["Cartera fría"]],
    ["characters with a meaning in regular expressions", ".*", []],
    ["text that no row has", "garden", []],
  ])("finds by %s", (_description, searchText, expected) => {
    expect(search(searchText)).toEqual(expected);
  });

  it("finds a row among 10,000", () => {
    const manyRows = Array.from({ length: 10_000 }, (_, index) =>
      createRow(`Secret number ${String(index)}`, { tags: ["one", "two"] }),
    );
    expect(searchRows(manyRows, "number 9999")).toHaveLength(1);
  });
});
