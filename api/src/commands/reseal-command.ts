import { and, asc, eq, gt } from "drizzle-orm";

import type { Db, Tx } from "../db/database.ts";
import { createRecordBox, type RecordBox } from "../db/record-box.ts";
import { accounts, formerKeyringParts, imageRecords } from "../db/schema.ts";
import { RecordKeys } from "../env/record-keys.ts";
import { CommandError, runCommand } from "./run-command.ts";

/*
 * `pnpm --filter @relicario/api run reseal`: seals with the current RECORD_KEY every image record,
 * present or former, that an earlier key sealed, while the service runs. Needs DATABASE_URL and
 * RECORD_KEY.
 */

const accountsPerBatch = 500;

interface ResealCounts {
  readonly resealed: number;
  readonly total: number;
}

runCommand("reseal", async (db) => {
  const keys = RecordKeys.safeParse(process.env["RECORD_KEY"]);
  if (!keys.success) throw new CommandError("reseal: RECORD_KEY is missing or invalid", 78);
  const { resealed, total } = await resealRecords(db, createRecordBox(keys.data));
  return `${String(total)} image records: ${String(resealed)} were sealed with an earlier key, and have the current one now`;
});

/** @throws Error for a record that no key opens */
async function resealRecords(db: Db, recordBox: RecordBox): Promise<ResealCounts> {
  let [resealed, total] = [0, 0];
  for (let cursor: string | undefined, isComplete = false; !isComplete;) {
    const rows = await db
      .select({ id: accounts.id })
      .from(accounts)
      .where(cursor === undefined ? undefined : gt(accounts.id, cursor))
      .orderBy(asc(accounts.id))
      .limit(accountsPerBatch);
    for (const { id } of rows) {
      const counts = await db.transaction((tx) => resealAccount(tx, recordBox, id));
      resealed += counts.resealed;
      total += counts.total;
    }
    cursor = rows.at(-1)?.id;
    isComplete = rows.length < accountsPerBatch;
  }
  return { resealed, total };
}

/** Locks the account, since a keyring change moves a present record to the former ones. */
async function resealAccount(tx: Tx, recordBox: RecordBox, accountId: string): Promise<ResealCounts> {
  await tx.select({ id: accounts.id }).from(accounts).where(eq(accounts.id, accountId)).for("update");
  let resealed = 0;
  const presentRows = await tx.select().from(imageRecords).where(eq(imageRecords.accountId, accountId));
  for (const { id, sealedHelper: former } of presentRows) {
    const sealedHelper = recordBox.reseal(accountId, id, former);
    if (sealedHelper === null) continue;
    await tx
      .update(imageRecords)
      .set({ sealedHelper })
      .where(and(eq(imageRecords.accountId, accountId), eq(imageRecords.id, id)));
    resealed += 1;
  }
  const formerRows = await tx
    .select()
    .from(formerKeyringParts)
    .where(and(eq(formerKeyringParts.accountId, accountId), eq(formerKeyringParts.part, "image_record")));
  for (const { stateRev, partId, value: former } of formerRows) {
    const value = recordBox.reseal(accountId, partId, former);
    if (value === null) continue;
    await tx
      .update(formerKeyringParts)
      .set({ value })
      .where(
        and(
          eq(formerKeyringParts.accountId, accountId),
          eq(formerKeyringParts.stateRev, stateRev),
          eq(formerKeyringParts.part, "image_record"),
          eq(formerKeyringParts.partId, partId),
        ),
      );
    resealed += 1;
  }
  return { resealed, total: presentRows.length + formerRows.length };
}
