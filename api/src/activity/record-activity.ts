import type { ActivityKind } from "@relicario/shared/api";
import { v7 as uuidv7 } from "uuid";

import type { Tx } from "../db/database.ts";
import { activity } from "../db/schema.ts";

/**
 * An event that the account's owner can read. Contains no share id, no full address, and nothing
 * that was typed or sealed.
 */
export interface ActivityEvent {
  readonly kind: ActivityKind;
  /** Only the last eight characters of the id are stored. */
  readonly secretId?: string;
  /** 1 by default. */
  readonly count?: number;
  readonly device?: string | null;
  readonly address?: string | null;
}

export interface TimedActivityEvent {
  readonly event: ActivityEvent;
  readonly now: Date;
}

/**
 * Records an event; must run in the event's transaction. Where that transaction updates the
 * account's row anyway, use {@link buildActivityInsert}.
 */
export async function recordActivity(
  tx: Tx,
  accountId: string,
  events: readonly ActivityEvent[],
  now: Date,
): Promise<void> {
  if (events.length > 0) await tx.insert(activity).values(events.map((event) => toRow(accountId, event, now)));
}

/** The same insert as a `with` part of another statement, which saves a round trip. */
export function buildActivityInsert(tx: Tx, accountId: string, { event, now }: TimedActivityEvent) {
  return tx.$with("activity_event").as(tx.insert(activity).values(toRow(accountId, event, now)));
}

/** The last eight hex digits of a UUIDv7, which are random; the first digits are its time. */
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
    secretIdSuffix: secretId === undefined ? null : getIdSuffix(secretId),
    device,
    address,
    at: now,
  };
}
