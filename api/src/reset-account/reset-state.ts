import { accountResetLapseDays, type AccountReset } from "@relicario/shared/api";

import type { accountResets } from "../db/schema.ts";

export type AccountResetRow = typeof accountResets.$inferSelect;

const dayMilliseconds = 86_400_000;

/** `none` when the reset was ready for so long that it lapsed. */
export function getResetState({ readyAt, endedAt, outcome }: AccountResetRow, now: Date): AccountReset["state"] {
  if (endedAt !== null) return outcome ?? "none";
  if (readyAt > now) return "waiting";
  return now.getTime() - readyAt.getTime() < accountResetLapseDays * dayMilliseconds ? "ready" : "none";
}
