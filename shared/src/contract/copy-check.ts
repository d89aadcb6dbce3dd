import type { SecretRow } from "./vault.ts";

/** Days after which a secret is due for a check with a copy of its picture. */
export const copyCheckIntervalDays = 180;

const millisecondsPerDay = 86_400_000;

/**
 * When a copy check is due, in milliseconds since 1970: an interval after the last check or,
 * without a check, after the last change. Null in the trash and while the label is locked.
 */
function getDueTime({ deletedAt, label, updatedAt }: SecretRow): number | null {
  if (deletedAt !== null || label === null) return null;
  return Date.parse(label.copyCheckedAt ?? updatedAt) + copyCheckIntervalDays * millisecondsPerDay;
}

/**
 * Secrets whose copy check is due at `now` (milliseconds since 1970). The first is the longest
 * overdue.
 */
export function findDueCopyChecks(rows: readonly SecretRow[], now: number): readonly SecretRow[] {
  const due = rows.flatMap((row) => {
    const dueAt = getDueTime(row);
    return dueAt !== null && dueAt < now ? [{ row, at: dueAt }] : [];
  });
  return due.toSorted((a, b) => a.at - b.at).map(({ row }) => row);
}

/**
 * When the first copy check is due (RFC 3339); null if none is. This is all that the service learns
 * about copy checks.
 */
export function getNextCopyCheckAt(rows: readonly SecretRow[]): string | null {
  const times = rows.map(getDueTime).filter((dueAt) => dueAt !== null);
  return times.length === 0 ? null : new Date(Math.min(...times)).toISOString();
}
