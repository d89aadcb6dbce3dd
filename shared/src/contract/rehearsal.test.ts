import { dueForRehearsal, rehearsalDueAt } from "./rehearsal.ts";
import type { SecretRow } from "./vault.ts";

const day = 86_400_000;
const now = Date.parse("2026-11-21T12:00:00Z");
const ago = (days: number) => new Date(now - days * day).toISOString();

function row(
  title: string,
  updatedAt: string,
  more: Partial<SecretRow> = {},
  rehearsedAt: string | null = null,
): SecretRow {
  const label = {
    title,
    tags: [],
    contentKind: "text" as const,
    name: "secret.txt",
    size: 1,
    openers: [],
    rehearsedAt,
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
    ...more,
  };
}

describe("dueForRehearsal", () => {
  it("finds what was not opened for more than 180 days, the longest waiting first", () => {
    const rows = [
      row("new", ago(179)),
      row("old", ago(181)),
      row("older", ago(300)),
      row("tried", ago(300), {}, ago(10)),
      row("tried long ago", ago(500), {}, ago(200)),
    ];
    expect(dueForRehearsal(rows, now).map(({ label }) => label?.title)).toEqual(["older", "tried long ago", "old"]);
  });

  it("leaves out what is in the trash, and what is locked", () => {
    expect(
      dueForRehearsal([row("gone", ago(300), { deletedAt: ago(1) }), row("locked", ago(300), { label: null })], now),
    ).toEqual([]);
  });
});

describe("rehearsalDueAt", () => {
  it("is 180 days after the oldest rehearsal, or writing where there was none", () => {
    expect(rehearsalDueAt([row("one", ago(10)), row("two", ago(300), {}, ago(20))])).toBe(
      new Date(now + 160 * day).toISOString(),
    );
  });

  it("is null where nothing is kept outside the trash", () => {
    expect(rehearsalDueAt([])).toBeNull();
    expect(rehearsalDueAt([row("gone", ago(300), { deletedAt: ago(1) })])).toBeNull();
  });
});
