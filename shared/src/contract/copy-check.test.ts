import { findDueCopyChecks, getNextCopyCheckAt } from "./copy-check.ts";
import type { SecretRow } from "./vault.ts";

const millisecondsPerDay = 86_400_000;
const now = Date.parse("2026-11-21T12:00:00Z");
const daysAgo = (days: number) => new Date(now - days * millisecondsPerDay).toISOString();

function row(
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
      row("new", daysAgo(179)),
      row("old", daysAgo(181)),
      row("older", daysAgo(300)),
      row("tried", daysAgo(300), {}, daysAgo(10)),
      row("tried long ago", daysAgo(500), {}, daysAgo(200)),
    ];
    expect(findDueCopyChecks(rows, now).map(({ label }) => label?.title)).toEqual(["older", "tried long ago", "old"]);
  });

  it("leaves out what is in the trash, and what is locked", () => {
    expect(
      findDueCopyChecks(
        [row("gone", daysAgo(300), { deletedAt: daysAgo(1) }), row("locked", daysAgo(300), { label: null })],
        now,
      ),
    ).toEqual([]);
  });
});

describe("rehearsalDueAt", () => {
  it("is 180 days after the oldest rehearsal, or writing where there was none", () => {
    expect(getNextCopyCheckAt([row("one", daysAgo(10)), row("two", daysAgo(300), {}, daysAgo(20))])).toBe(
      new Date(now + 160 * millisecondsPerDay).toISOString(),
    );
  });

  it("is null where nothing is kept outside the trash", () => {
    expect(getNextCopyCheckAt([])).toBeNull();
    expect(getNextCopyCheckAt([row("gone", daysAgo(300), { deletedAt: daysAgo(1) })])).toBeNull();
  });
});
