import { count, min } from "drizzle-orm";

import type { Db } from "../db/database.ts";
import { mails } from "../db/schema.ts";

export interface MailQueue {
  readonly length: number;
  /** When the oldest mail was queued; null without mails. */
  readonly oldestAt: Date | null;
}

/** Reads how many mails of all accounts are not sent yet. */
export async function readMailQueue(db: Db): Promise<MailQueue> {
  const [row] = await db.select({ length: count(), oldestAt: min(mails.createdAt) }).from(mails);
  return row ?? { length: 0, oldestAt: null };
}
