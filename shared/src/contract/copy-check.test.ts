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
    openers: [],
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
    droppedAt: null,
    label,
    ...overrides,
  };
}

describe("dueForRehearsal", () => {
  it("finds what was not opened for more than 180 days, the longest waiting first", () => {
    const rows = [
      createRow("new", formatDaysAgo(179)),
      createRow("old", formatDaysAgo(181)),
      createRow("older", formatDaysAgo(300)),
      createRow("tried", formatDaysAgo(300), {}, formatDaysAgo(10)),
      createRow("tried long ago", formatDaysAgo(500), {}, formatDaysAgo(200)),
    ];
    expect(findDueCopyChecks(rows, now).map(({ label }) => label?.title)).toEqual(["older", "tried long ago", "old"]);
  });

  it("leaves out what is in the trash, and what is locked", () => {
    expect(
      findDueCopyChecks(
        [
          createRow("gone", formatDaysAgo(300), { deletedAt: formatDaysAgo(1) }),
          createRow("locked", formatDaysAgo(300), { label: null }),
        ],
        now,
      ),
    ).toEqual([]);
  });
});

describe("rehearsalDueAt", () => {
  it("is 180 days after the oldest rehearsal, or writing where there was none", () => {
    expect(
      getNextCopyCheckAt([
        createRow("one", formatDaysAgo(10)),
        createRow("two", formatDaysAgo(300), {}, formatDaysAgo(20)),
      ]),
    ).toBe(new Date(now + 160 * millisecondsPerDay).toISOString());
  });

  it("is null where nothing is kept outside the trash", () => {
    expect(getNextCopyCheckAt([])).toBeNull();
    expect(getNextCopyCheckAt([createRow("gone", formatDaysAgo(300), { deletedAt: formatDaysAgo(1) })])).toBeNull();
  });
});
