import { trashRetentionDays, trashWarningDays } from "@relicario/shared/api";

const dayMilliseconds = 86_400_000;

/** What went to the trash before this time is to be warned of. */
export function getWarningCutoff(now: Date): Date {
  return new Date(now.getTime() - (trashRetentionDays - trashWarningDays) * dayMilliseconds);
}

/**
 * Dropped is what went to the trash before the one time and was warned of before the other: no
 * warning is ever too short.
 */
export function getDropCutoffs(now: Date): { deleted: Date; warned: Date } {
  return {
    deleted: new Date(now.getTime() - trashRetentionDays * dayMilliseconds),
    warned: new Date(now.getTime() - trashWarningDays * dayMilliseconds),
  };
}

export function isSameUtcDay(left: Date, right: Date): boolean {
  return left.toISOString().slice(0, 10) === right.toISOString().slice(0, 10);
}
