import { accountResetLapseDays, type AccountReset } from "@relicario/shared/api";

import type { accountResets } from "../db/schema.ts";

export type AccountResetRow = typeof accountResets.$inferSelect;

const dayMilliseconds = 86_400_000;

/**
 * Where one stands that was asked for. `none`: it was ready for so long that it has to be asked for
 * again.
 */
export function getResetState({ readyAt, endedAt, ending }: AccountResetRow, now: Date): AccountReset["state"] {
  if (endedAt !== null) return ending ?? "none";
  if (readyAt > now) return "waiting";
  return now.getTime() - readyAt.getTime() < accountResetLapseDays * dayMilliseconds ? "ready" : "none";
}
