import type { Actor } from "../auth/session-tokens.ts";

export interface OwnActivity {
  readonly accountId: string;
}

/** Everybody reads what happened in their own account, and in no other. */
export function activityPolicy({ accountId }: Actor): OwnActivity {
  return { accountId };
}
