import type { Actor } from "../auth/session-tokens.ts";

export interface ActivityScope {
  readonly accountId: string;
}

/** Everybody reads what happened in their own account, and in no other. */
export function authorizeActivity({ accountId }: Actor): ActivityScope {
  return { accountId };
}
