import { eq } from "drizzle-orm";

import type { AccountScope } from "../auth/actor.ts";
import { withSnapshot, type Db, type Tx } from "../db/database.ts";
import { keyrings } from "../db/schema.ts";

/** Reads a page and the `state_rev` of the same moment; 0 before the first keyring. */
export function withStateRev<T>(
  db: Db,
  { accountId }: AccountScope,
  read: (tx: Tx) => Promise<T>,
): Promise<{ readonly page: T; readonly stateRev: number }> {
  return withSnapshot(db, async (tx) => {
    const page = await read(tx);
    const [row] = await tx
      .select({ stateRev: keyrings.stateRev })
      .from(keyrings)
      .where(eq(keyrings.accountId, accountId));
    return { page, stateRev: row?.stateRev ?? 0 };
  });
}
