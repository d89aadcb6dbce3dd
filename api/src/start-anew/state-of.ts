import { startAnewLapseDays, type StartAnew } from "@relicario/shared/api";

import type { startAnews } from "../db/schema.ts";

export type StartAnewRow = typeof startAnews.$inferSelect;

const day = 86_400_000;

/**
 * Where one stands that was asked for. `none`: it was ready for so long that it has to be asked for
 * again.
 */
export function stateOf({ readyAt, endedAt, ending }: StartAnewRow, now: Date): StartAnew["state"] {
  if (endedAt !== null) return ending ?? "none";
  if (readyAt > now) return "waiting";
  return now.getTime() - readyAt.getTime() < startAnewLapseDays * day ? "ready" : "none";
}
