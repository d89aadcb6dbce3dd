import type { SecretRow } from "./vault.ts";

/** A secret that no kept copy of its picture has opened for this long is due for a rehearsal. */
export const copyCheckIntervalDays = 180;

const millisecondsPerDay = 86_400_000;

/**
 * When a secret is due: so long after its newest rehearsal, or after it was written. Null in the
 * trash, and while its label is locked. Milliseconds since 1970.
 */
function getDueTime({ deletedAt, label, updatedAt }: SecretRow): number | null {
  if (deletedAt !== null || label === null) return null;
  return Date.parse(label.copyCheckedAt ?? updatedAt) + copyCheckIntervalDays * millisecondsPerDay;
}

/** Secrets that are due at `now` (milliseconds since 1970), the longest due first. */
export function findDueCopyChecks(rows: readonly SecretRow[], now: number): readonly SecretRow[] {
  const due = rows.flatMap((row) => {
    const dueAt = getDueTime(row);
    return dueAt !== null && dueAt < now ? [{ row, at: dueAt }] : [];
  });
  return due.toSorted((a, b) => a.at - b.at).map(({ row }) => row);
}

/**
 * When the first of these secrets is due; null when there is none. RFC 3339: all that the service
 * learns of rehearsals.
 */
export function getNextCopyCheckAt(rows: readonly SecretRow[]): string | null {
  const times = rows.map(getDueTime).filter((dueAt) => dueAt !== null);
  return times.length === 0 ? null : new Date(Math.min(...times)).toISOString();
}
