import { resetDataRetentionDays, type AccountReset } from "@relicario/shared/api";

import { getResetState, type AccountResetRow } from "./reset-state.ts";

const dayMilliseconds = 86_400_000;

/** @param row the newest one of the account */
export function presentAccountReset(row: AccountResetRow | null, now: Date): AccountReset {
  const state = row === null ? "none" : getResetState(row, now);
  if (row === null || state === "none")
    return { state: "none", asked_at: null, ready_at: null, ended_at: null, kept_until: null };
  const { askedAt, readyAt, endedAt } = row;
  return {
    state,
    asked_at: askedAt.toISOString(),
    ready_at: readyAt.toISOString(),
    ended_at: endedAt?.toISOString() ?? null,
    kept_until:
      state === "begun" && endedAt !== null
        ? new Date(endedAt.getTime() + resetDataRetentionDays * dayMilliseconds).toISOString()
        : null,
  };
}
