import { trashDays } from "@relicario/shared/api";
import { and, eq, lte } from "drizzle-orm";

import type { Db } from "../db/database.ts";
import { keyringFormer } from "../db/schema.ts";
import { addStorage, octetLength } from "../secrets/queries.ts";
import { lockAccount } from "./queries.ts";

/** Slots, image records, books, shares and requests that a change replaced or removed 30 days ago. */
export async function dropFormer(db: Db, now: Date): Promise<void> {
  const due = lte(keyringFormer.endedAt, new Date(now.getTime() - trashDays * 86_400_000));
  const found = await db.selectDistinct({ accountId: keyringFormer.accountId }).from(keyringFormer).where(due);
  for (const { accountId } of found) {
    await db.transaction(async (tx) => {
      await lockAccount(tx, accountId);
      const gone = await tx
        .delete(keyringFormer)
        .where(and(eq(keyringFormer.accountId, accountId), due))
        .returning({ bytes: octetLength(keyringFormer.value) });
      const freed = gone.reduce((sum, { bytes }) => sum + bytes, 0);
      await addStorage(tx, accountId, -freed);
    });
  }
}
