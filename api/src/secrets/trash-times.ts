import { trashRetentionDays, trashWarningDays } from "@relicario/shared/api";

const dayMilliseconds = 86_400_000;

/** Secrets whose trashing was confirmed before this time need a warning. */
export function getWarningCutoff(now: Date): Date {
  return new Date(now.getTime() - (trashRetentionDays - trashWarningDays) * dayMilliseconds);
}

/**
 * Contents are dropped when confirmed and warned of before these times, so that every warning comes
 * early enough.
 */
export function getDropCutoffs(now: Date): { confirmedBefore: Date; warnedBefore: Date } {
  return {
    confirmedBefore: new Date(now.getTime() - trashRetentionDays * dayMilliseconds),
    warnedBefore: new Date(now.getTime() - trashWarningDays * dayMilliseconds),
  };
}

export function isSameUtcDay(left: Date, right: Date): boolean {
  return left.toISOString().slice(0, 10) === right.toISOString().slice(0, 10);
}
