import type { ActivityKind } from "@relicario/shared/api";
import { v7 as uuidv7 } from "uuid";

import type { Tx } from "../db/database.ts";
import { activity } from "../db/schema.ts";

/**
 * Something that happened, for the account's owner to read: no share id, no whole address, nothing
 * that was typed or sealed.
 */
export interface Noted {
  readonly kind: ActivityKind;
  /** Id of the secret that it is about; its end is kept. */
  readonly secretId?: string;
  /** How many it was of; 1 unless told otherwise. */
  readonly count?: number;
  readonly device?: string | null;
  readonly address?: string | null;
}

export interface Happened {
  readonly noted: Noted;
  readonly now: Date;
}

/**
 * In the transaction of what happened. Where a statement of it changes the account's row anyway,
 * {@link noting} goes with that one.
 */
export async function note(tx: Tx, accountId: string, noted: readonly Noted[], now: Date): Promise<void> {
  if (noted.length > 0) await tx.insert(activity).values(noted.map((one) => rowOf(accountId, one, now)));
}

/** The same as a part of another statement (`with`), which costs no round trip of its own. */
export function noting(tx: Tx, accountId: string, { noted, now }: Happened) {
  return tx.$with("noted").as(tx.insert(activity).values(rowOf(accountId, noted, now)));
}

/** Random digits: the first ones of a UUIDv7 are its time. */
const shortId = (id: string): string => id.replaceAll("-", "").slice(-8);

function rowOf(
  accountId: string,
  { kind, secretId, count = 1, device = null, address = null }: Noted,
  now: Date,
): typeof activity.$inferInsert {
  return {
    accountId,
    id: uuidv7({ msecs: now.getTime() }),
    kind,
    count,
    secret: secretId === undefined ? null : shortId(secretId),
    device,
    address,
    at: now,
  };
}
