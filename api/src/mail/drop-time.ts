import { trashRetentionDays, trashWarningDays } from "@relicario/shared/api";

const dayMs = 86_400_000;

/** When a trashed content is dropped, counted from the confirmation. */
export function getDropTime(confirmedAt: Date, warnedAt: Date): Date {
  return new Date(
    Math.max(confirmedAt.getTime() + trashRetentionDays * dayMs, warnedAt.getTime() + trashWarningDays * dayMs),
  );
}
