import { trashDays } from "@relicario/shared/api";
import { lte } from "drizzle-orm";

import type { Db } from "../db/database.ts";
import { keyringFormer } from "../db/schema.ts";

/** Slots, image records, books, shares and requests that a change replaced or removed 30 days ago. */
export async function dropFormer(db: Db, now: Date): Promise<void> {
  await db.delete(keyringFormer).where(lte(keyringFormer.endedAt, new Date(now.getTime() - trashDays * 86_400_000)));
}
