import type { KeyringChange } from "@relicario/shared/api";
import { and, eq, inArray, isNotNull } from "drizzle-orm";

import type { ActivityEvent } from "../activity/record-activity.ts";
import type { Tx } from "../db/database.ts";
import { purgedSecrets, secrets } from "../db/schema.ts";
import { Problem } from "../http/problem.ts";
import type { AccountRow } from "../keyring/queries.ts";
import { deleteVersions, dropVersions, findSecret, nextChange, octetLength } from "./queries.ts";

/**
 * Removes secrets for good, as the signed change says; their ids are never used again. Their
 * objects go after the commit.
 *
 * @returns the bytes that became free.
 * @throws Problem `keyring_change_invalid` when one of them is not in the trash.
 */
export async function purgeSecrets(tx: Tx, account: AccountRow, ids: readonly string[], now: Date): Promise<number> {
  if (ids.length === 0) return 0;
  const secretIds = [...ids];
  const deleted = await tx
    .delete(secrets)
    .where(and(eq(secrets.accountId, account.id), inArray(secrets.id, secretIds), isNotNull(secrets.deletedAt)))
    .returning({ labelBytes: octetLength(secrets.label) });
  if (deleted.length !== ids.length)
    throw new Problem("keyring_change_invalid", { detail: "it purges a secret that is not in the trash" });
  const freedBytes = await deleteVersions(tx, { accountId: account.id, vendorId: account.vendorId }, secretIds, now);
  const [singleId] = ids.length === 1 ? ids : [];
  const event: ActivityEvent = {
    kind: "secret_purged",
    count: ids.length,
    ...(singleId === undefined ? {} : { secretId: singleId }),
  };
  const change = await nextChange(tx, account.id, { event, now });
  await tx.insert(purgedSecrets).values(secretIds.map((id) => ({ accountId: account.id, id, change })));
  return freedBytes + deleted.reduce((sum, { labelBytes }) => sum + labelBytes, 0);
}

/**
 * Drops former versions, as the signed change says; one that went before is no error. Their lines
 * stay.
 *
 * @returns the bytes that became free.
 * @throws Problem `keyring_change_invalid` for a present version, or one that never was.
 */
export async function purgeVersions(
  tx: Tx,
  account: AccountRow,
  purges: NonNullable<KeyringChange["purge_versions"]>,
  now: Date,
): Promise<number> {
  const scope = { accountId: account.id, vendorId: account.vendorId };
  let freedBytes = 0;
  for (const { secret_db_id: id, versions } of purges) {
    const row = await findSecret(tx, scope, id);
    if (row === null || versions.some((version) => version >= row.version))
      throw new Problem("keyring_change_invalid", { detail: "it removes a version that is not a former one" });
    freedBytes += await dropVersions(tx, scope, [id], now, versions);
  }
  return freedBytes;
}
