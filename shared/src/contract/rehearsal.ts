import type { SecretRow } from "./vault.ts";

/** A secret that no kept copy of its picture has opened for this long is due for a rehearsal. */
export const rehearsalDays = 180;

const dayMilliseconds = 86_400_000;

/**
 * When a secret is due: so long after its newest rehearsal, or after it was written. Null in the
 * trash, and while its label is locked. Milliseconds since 1970.
 */
function dueTime({ deletedAt, label, updatedAt }: SecretRow): number | null {
  if (deletedAt !== null || label === null) return null;
  return Date.parse(label.rehearsedAt ?? updatedAt) + rehearsalDays * dayMilliseconds;
}

/** Secrets that are due at `now` (milliseconds since 1970), the longest due first. */
export function dueForRehearsal(rows: readonly SecretRow[], now: number): readonly SecretRow[] {
  const due = rows.flatMap((row) => {
    const at = dueTime(row);
    return at !== null && at < now ? [{ row, at }] : [];
  });
  return due.toSorted((one, other) => one.at - other.at).map(({ row }) => row);
}

/**
 * When the first of these secrets is due; null when there is none. RFC 3339: all that the service
 * learns of rehearsals.
 */
export function rehearsalDueAt(rows: readonly SecretRow[]): string | null {
  const times = rows.map(dueTime).filter((at) => at !== null);
  return times.length === 0 ? null : new Date(Math.min(...times)).toISOString();
}
