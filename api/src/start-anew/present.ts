import { setAsideDays, type StartAnew } from "@relicario/shared/api";

import { stateOf, type StartAnewRow } from "./state-of.ts";

const day = 86_400_000;

/** @param row the newest one of the account. */
export function presentStartAnew(row: StartAnewRow | null, now: Date): StartAnew {
  const state = row === null ? "none" : stateOf(row, now);
  if (row === null || state === "none")
    return { state: "none", asked_at: null, ready_at: null, ended_at: null, kept_until: null };
  const { askedAt, readyAt, endedAt } = row;
  return {
    state,
    asked_at: askedAt.toISOString(),
    ready_at: readyAt.toISOString(),
    ended_at: endedAt?.toISOString() ?? null,
    kept_until:
      state === "begun" && endedAt !== null ? new Date(endedAt.getTime() + setAsideDays * day).toISOString() : null,
  };
}
