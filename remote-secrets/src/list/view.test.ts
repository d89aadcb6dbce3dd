import type { SecretLabel, SecretRow } from "@relicario/shared/contract";
import { filterRows, filtersOf, sortRows, wholeView } from "./view.ts";

const plain: SecretLabel = { title: "", tags: [], contentKind: "text", name: "secret.txt", size: 1, openers: [], rehearsedAt: null };
function row(title: string, label: Partial<SecretLabel> | null = {}, more: Partial<SecretRow> = {}): SecretRow {
  const at = "2026-11-01T00:00:00.000Z";
  return { secretId: title, version: 1, rev: 1, favorite: false, sealedSize: 1, createdAt: at, updatedAt: at, deletedAt: null, droppedAt: null, label: label === null ? null : { ...plain, title, ...label }, ...more };
}
const titles = (rows: readonly SecretRow[]) => rows.map(({ secretId }) => secretId);

const rows = [
  row("garden alone", { openers: ["garden"], tags: ["home"] }, { updatedAt: "2026-11-03T00:00:00.000Z", sealedSize: 9 }),
  row("both images", { openers: ["garden", "sea"], tags: ["home", "old"], contentKind: "file" }, { updatedAt: "2026-11-05T00:00:00.000Z", sealedSize: 5 }),
  row("sea alone", { openers: ["sea"], contentKind: "seed" }, { favorite: true, updatedAt: "2026-11-04T00:00:00.000Z", sealedSize: 7 }),
  row("locked", null, { favorite: true, updatedAt: "2026-11-01T00:00:00.000Z", sealedSize: 8 }),
];

describe("filterRows", () => {
  it.each([
    ["nothing", {}, ["garden alone", "both images", "sea alone", "locked"]],
    ["a kind", { kind: "seed" }, ["sea alone"]],
    ["one tag", { tags: ["home"] }, ["garden alone", "both images"]],
    ["every one of several tags", { tags: ["home", "old"] }, ["both images"]],
    ["the star, locked rows too", { favorite: true }, ["sea alone", "locked"]],
    ["the image that opens it", { image: "sea" }, ["both images", "sea alone"]],
    ["several at once", { image: "sea", favorite: true, kind: "seed" }, ["sea alone"]],
  ] as const)("narrows by %s", (_, change, expected) => {
    expect(titles(filterRows(rows, { ...wholeView, ...change }))).toEqual(expected);
  });
});

describe("filtersOf", () => {
  it("counts each tag, and no order", () => {
    expect(filtersOf({ ...wholeView, sort: "title" })).toBe(0);
    expect(filtersOf({ kind: "seed", tags: ["a", "b"], favorite: true, image: "sea", sort: "newest" })).toBe(5);
  });
});

describe("sortRows", () => {
  it.each([
    ["newest", ["both images", "sea alone", "garden alone", "locked"]],
    ["oldest", ["locked", "garden alone", "sea alone", "both images"]],
    ["largest", ["garden alone", "locked", "sea alone", "both images"]],
    ["title", ["locked", "both images", "garden alone", "sea alone"]],
  ] as const)("puts the %s in their order", (sort, expected) => {
    expect(titles(sortRows(rows, sort, "en"))).toEqual(expected);
  });

  it("orders titles as the language does: ñ behind n, capitals and numbers as a person reads them", () => {
    const some = ["ñandú", "oso", "Nube", "nube 10", "nube 9"].map((title) => row(title));
    expect(titles(sortRows(some, "title", "es"))).toEqual(["Nube", "nube 9", "nube 10", "ñandú", "oso"]);
  });
});
