import type { EndStartAnew } from "@relicario/shared/api";
import { and, desc, eq, isNull } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";

import { note } from "../activity/note.ts";
import type { Db, Tx } from "../db/database.ts";
import { startAnews } from "../db/schema.ts";
import { Problem } from "../http/problem.ts";
import type { Circumstances } from "../keyring/apply-change.ts";
import { readKeyring } from "../keyring/queries.ts";
import type { Services } from "../services.ts";
import type { OwnStartAnew } from "./policy.ts";
import { stateOf, type StartAnewRow } from "./state-of.ts";

/** The one that was asked for last; null when nobody did, or it ended long ago. */
export async function findStartAnew(db: Db | Tx, { accountId }: OwnStartAnew): Promise<StartAnewRow | null> {
  const [row] = await db
    .select()
    .from(startAnews)
    .where(eq(startAnews.accountId, accountId))
    .orderBy(desc(startAnews.askedAt), desc(startAnews.id))
    .limit(1);
  return row ?? null;
}

/**
 * Asks once: one that waits, or is ready, stays as it is. @throws Problem `no_keyring` where there
 * is nothing to lose.
 */
export async function askStartAnew(
  tx: Tx,
  own: OwnStartAnew,
  { env, mailer }: Pick<Services, "env" | "mailer">,
  when: Circumstances,
): Promise<void> {
  if ((await readKeyring(tx, own)) === null) throw new Problem("no_keyring");
  const last = await findStartAnew(tx, own);
  const { now } = when;
  if (last !== null && ["waiting", "ready"].includes(stateOf(last, now))) return;
  await tx.delete(startAnews).where(isOpen(own)); // lapsed
  await tx.insert(startAnews).values({
    accountId: own.accountId,
    id: uuidv7({ msecs: now.getTime() }),
    askedAt: now,
    readyAt: new Date(now.getTime() + env.START_ANEW_SECONDS * 1_000),
  });
  await mailer.queue(tx, own.accountId, "anew_asked", when);
  await note(tx, own.accountId, [{ kind: "anew_asked" }], now);
}

/** Ends one that waits or is ready. What ended before stays as it ended. */
export async function endStartAnew(
  tx: Tx,
  own: OwnStartAnew,
  ending: EndStartAnew["reason"] | "begun",
  { mailer }: Pick<Services, "mailer">,
  when: Circumstances,
): Promise<void> {
  const ended = await tx
    .update(startAnews)
    .set({ endedAt: when.now, ending })
    .where(isOpen(own))
    .returning({ id: startAnews.id });
  if (ended.length === 0) return;
  const kind = ending === "begun" ? "anew_begun" : "anew_ended";
  await mailer.queue(tx, own.accountId, kind, when);
  await note(tx, own.accountId, [{ kind }], when.now);
}

const isOpen = ({ accountId }: OwnStartAnew) => and(eq(startAnews.accountId, accountId), isNull(startAnews.endedAt));
