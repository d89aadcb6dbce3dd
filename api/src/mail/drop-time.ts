import { trashRetentionDays, trashWarningDays } from "@relicario/shared/api";

const dayMs = 86_400_000;

/** When a content is dropped. */
export function getDropTime(deletedAt: Date, warnedAt: Date): Date {
  return new Date(
    Math.max(deletedAt.getTime() + trashRetentionDays * dayMs, warnedAt.getTime() + trashWarningDays * dayMs),
  );
}
