import type { KeyringChange } from "@relicario/shared/api";
import { and, eq, inArray, isNotNull } from "drizzle-orm";

import { incrementChangeCounter } from "../accounts/next-change.ts";
import { octetLength } from "../accounts/storage-used.ts";
import type { ActivityEvent } from "../activity/record-activity.ts";
import { grantAccount, type AccountScope } from "../auth/actor.ts";
import type { Tx } from "../db/database.ts";
import { purgedSecrets, secrets } from "../db/schema.ts";
import { Problem } from "../http/problem.ts";
import type { WrittenChange } from "../resource/resource.ts";
import type { Services } from "../services/services.ts";
import { deleteVersions, dropVersions, findSecret } from "./queries.ts";

/**
 * Removes what the change names for good. @returns the bytes that became free. @throws Problem
 * `keyring_change_invalid`
 */
export async function purgeContents(
  services: Pick<Services, "onContentsEnd">,
  tx: Tx,
  { accountId, vendorId, change, now }: WrittenChange,
): Promise<number> {
  const scope = grantAccount(accountId, vendorId);
  const freedBytes = await purgeVersions(services, tx, scope, change.purge_versions ?? [], now);
  return freedBytes + (await purgeSecrets(services, tx, scope, change.purge ?? [], now));
}

/**
 * Removes secrets for good, as the signed change says; their ids are never used again. Their
 * objects go after the commit.
 *
 * @returns the bytes that became free.
 * @throws Problem `keyring_change_invalid` when one of them is not in the trash.
 */
async function purgeSecrets(
  services: Pick<Services, "onContentsEnd">,
  tx: Tx,
  scope: AccountScope,
  ids: readonly string[],
  now: Date,
): Promise<number> {
  if (ids.length === 0) return 0;
  const secretIds = [...ids];
  const deleted = await tx
    .delete(secrets)
    .where(and(eq(secrets.accountId, scope.accountId), inArray(secrets.id, secretIds), isNotNull(secrets.deletedAt)))
    .returning({ labelBytes: octetLength(secrets.label) });
  if (deleted.length !== ids.length)
    throw new Problem("keyring_change_invalid", { detail: "it purges a secret that is not in the trash" });
  const freedBytes = await deleteVersions(services, tx, scope, secretIds, now);
  const [singleId] = ids.length === 1 ? ids : [];
  const event: ActivityEvent = {
    kind: "secret_purged",
    count: ids.length,
    ...(singleId === undefined ? {} : { secretId: singleId }),
  };
  const change = await incrementChangeCounter(tx, scope.accountId, { event, now });
  await tx.insert(purgedSecrets).values(secretIds.map((id) => ({ accountId: scope.accountId, id, change })));
  return freedBytes + deleted.reduce((sum, { labelBytes }) => sum + labelBytes, 0);
}

/**
 * Drops former versions, as the signed change says; one that went before is no error. Their lines
 * stay.
 *
 * @returns the bytes that became free.
 * @throws Problem `keyring_change_invalid` for a present version, or one that never was.
 */
async function purgeVersions(
  services: Pick<Services, "onContentsEnd">,
  tx: Tx,
  scope: AccountScope,
  purges: NonNullable<KeyringChange["purge_versions"]>,
  now: Date,
): Promise<number> {
  let freedBytes = 0;
  for (const { secret_db_id: id, versions } of purges) {
    const row = await findSecret(tx, scope, id);
    if (row === null || versions.some((version) => version >= row.version))
      throw new Problem("keyring_change_invalid", { detail: "it removes a version that is not a former one" });
    freedBytes += await dropVersions(services, tx, scope, [id], now, versions);
  }
  return freedBytes;
}
