import { findDueCopyChecks, getNextCopyCheckAt } from "./copy-check.ts";
import type { SecretRow } from "./vault.ts";

const millisecondsPerDay = 86_400_000;
const now = Date.parse("2026-11-21T12:00:00Z");
const formatDaysAgo = (days: number) => new Date(now - days * millisecondsPerDay).toISOString();

function createRow(
  title: string,
  updatedAt: string,
  overrides: Partial<SecretRow> = {},
  copyCheckedAt: string | null = null,
): SecretRow {
  const label = {
    title,
    tags: [],
    contentKind: "text" as const,
    name: "secret.txt",
    size: 1,
    openerIds: [],
    copyCheckedAt,
    kits: [],
  };
  return {
    secretId: `id-${title}`,
    version: 1,
    rev: 1,
    favorite: false,
    sealedSize: 1,
    createdAt: updatedAt,
    updatedAt,
    deletedAt: null,
    trashConfirmedAt: null,
    droppedAt: null,
    label,
    ...overrides,
  };
}

describe("findDueCopyChecks", () => {
  it("finds secrets without a copy check for more than 180 days, the longest overdue first", () => {
    const rows = [
      createRow("new", formatDaysAgo(179)),
      createRow("old", formatDaysAgo(181)),
      createRow("older", formatDaysAgo(300)),
      createRow("checked", formatDaysAgo(300), {}, formatDaysAgo(10)),
      createRow("checked long ago", formatDaysAgo(500), {}, formatDaysAgo(200)),
    ];
    expect(findDueCopyChecks(rows, now).map(({ label }) => label?.title)).toEqual(["older", "checked long ago", "old"]);
  });

  it("omits secrets in the trash, and rows whose label is locked", () => {
    expect(
      findDueCopyChecks(
        [
          createRow("trashed", formatDaysAgo(300), { deletedAt: formatDaysAgo(1) }),
          createRow("locked", formatDaysAgo(300), { label: null }),
        ],
        now,
      ),
    ).toEqual([]);
  });
});

describe("getNextCopyCheckAt", () => {
  it("returns the day 180 days after the oldest copy check, or after the last change if there was none", () => {
    expect(
      getNextCopyCheckAt([
        createRow("one", formatDaysAgo(10)),
        createRow("two", formatDaysAgo(300), {}, formatDaysAgo(20)),
      ]),
    ).toBe(new Date(now + 160 * millisecondsPerDay).toISOString());
  });

  it("returns null without a secret outside the trash", () => {
    expect(getNextCopyCheckAt([])).toBeNull();
    expect(getNextCopyCheckAt([createRow("trashed", formatDaysAgo(300), { deletedAt: formatDaysAgo(1) })])).toBeNull();
  });
});
