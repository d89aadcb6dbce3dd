import { withLockedAccount, lockAccount } from "../accounts/lock-account.ts";
import { adjustStorageUsed } from "../accounts/storage-used.ts";
import { grantAccount, type AccountScope } from "../auth/actor.ts";
import { Problem } from "../http/problem.ts";
import { discardObject } from "../objects/orphaned-objects.ts";
import { forEachItem, type SweepContext } from "../resource/sweep-context.ts";
import type { Services } from "../services/services.ts";
import { deleteUpload, findUpload, readExpiredUploads, type UploadRow } from "./queries.ts";

/**
 * Gives an upload up. Its parts go at once; one that is on its way right now finds no upload and
 * goes as well.
 */
export async function cancelUpload(services: Services, scope: AccountScope, id: string): Promise<void> {
  const { db, objects, now } = services;
  const keys = await withLockedAccount(services, scope.accountId, async (tx) => {
    const upload = await findUpload(tx, scope, id, now());
    if (upload === null) throw new Problem("not_found");
    if (upload.publishedVersion !== null) throw new Problem("conflict", { detail: "this upload is published" });
    await adjustStorageUsed(tx, scope.accountId, -upload.size);
    return deleteUpload(tx, scope.accountId, id, now());
  });
  for (const key of keys) await discardObject(db, objects, scope.accountId, key);
}

/** Uploads whose time is over, and the rows of those that were published a day ago. */
export function deleteExpiredUploads({ db }: Pick<Services, "db">, context: SweepContext): Promise<void> {
  const { now } = context;
  return forEachItem<UploadRow>(
    context,
    (last, pageSize) => readExpiredUploads(db, now, last, pageSize),
    ({ accountId, id }) =>
      db.transaction(async (tx) => {
        const { vendorId } = await lockAccount(tx, accountId);
        const upload = await findUpload(tx, grantAccount(accountId, vendorId), id, new Date(0));
        if (upload === null || upload.expiresAt > now) return; // a part came in between
        if (upload.publishedVersion === null) await adjustStorageUsed(tx, accountId, -upload.size);
        await deleteUpload(tx, accountId, id, now);
      }),
  );
}
