import { trashDays, trashWarningDays } from "@relicario/shared/api";

const day = 86_400_000;

/** What went to the trash before this time is to be warned of. */
export function warnBefore(now: Date): Date {
  return new Date(now.getTime() - (trashDays - trashWarningDays) * day);
}

/**
 * Dropped is what went to the trash before the one time and was warned of before the other: no
 * warning is ever too short.
 */
export function dropBefore(now: Date): { deleted: Date; warned: Date } {
  return {
    deleted: new Date(now.getTime() - trashDays * day),
    warned: new Date(now.getTime() - trashWarningDays * day),
  };
}

/** When a content is dropped. */
export function dropTime(deletedAt: Date, warnedAt: Date): Date {
  return new Date(Math.max(deletedAt.getTime() + trashDays * day, warnedAt.getTime() + trashWarningDays * day));
}

export function isSameDay(one: Date, other: Date): boolean {
  return one.toISOString().slice(0, 10) === other.toISOString().slice(0, 10);
}
