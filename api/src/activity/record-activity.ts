import type { ActivityKind } from "@relicario/shared/api";
import { v7 as uuidv7 } from "uuid";

import type { Tx } from "../db/database.ts";
import { activity } from "../db/schema.ts";

/**
 * Something that happened, for the account's owner to read: no share id, no whole address, nothing
 * that was typed or sealed.
 */
export interface ActivityEvent {
  readonly kind: ActivityKind;
  /** Id of the secret that it is about; its end is kept. */
  readonly secretId?: string;
  /** How many it was of; 1 unless told otherwise. */
  readonly count?: number;
  readonly device?: string | null;
  readonly address?: string | null;
}

export interface TimedActivityEvent {
  readonly event: ActivityEvent;
  readonly now: Date;
}

/**
 * In the transaction of what happened. Where a statement of it changes the account's row anyway,
 * {@link buildActivityInsert} goes with that one.
 */
export async function recordActivity(
  tx: Tx,
  accountId: string,
  events: readonly ActivityEvent[],
  now: Date,
): Promise<void> {
  if (events.length > 0) await tx.insert(activity).values(events.map((event) => toRow(accountId, event, now)));
}

/** The same as a part of another statement (`with`), which costs no round trip of its own. */
export function buildActivityInsert(tx: Tx, accountId: string, { event, now }: TimedActivityEvent) {
  return tx.$with("activity_event").as(tx.insert(activity).values(toRow(accountId, event, now)));
}

/** Random digits: the first ones of a UUIDv7 are its time. */
const getIdSuffix = (id: string): string => id.replaceAll("-", "").slice(-8);

function toRow(
  accountId: string,
  { kind, secretId, count = 1, device = null, address = null }: ActivityEvent,
  now: Date,
): typeof activity.$inferInsert {
  return {
    accountId,
    id: uuidv7({ msecs: now.getTime() }),
    kind,
    count,
    secret: secretId === undefined ? null : getIdSuffix(secretId),
    device,
    address,
    at: now,
  };
}
