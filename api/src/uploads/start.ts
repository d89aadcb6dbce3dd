import { maxOpenUploads, uploadExpiryHours, type StartUploadFields } from "@relicario/shared/api";
import { v7 as uuidv7 } from "uuid";

import { withLockedAccount } from "../accounts/lock-account.ts";
import { adjustStorageUsed } from "../accounts/storage-used.ts";
import type { AccountScope } from "../auth/actor.ts";
import { Problem } from "../http/problem.ts";
import { findDisplacedVersions } from "../secrets/queries.ts";
import { rejectOverQuota } from "../secrets/quota.ts";
import { rejectConflicts } from "../secrets/signed-call.ts";
import type { Services } from "../services/services.ts";
import { countOpenUploads, insertUpload, type UploadRow } from "./queries.ts";

/**
 * Charges the whole size at once, and checks former versions, so that no upload fails at its end
 * for lack of quota.
 */
export function startUpload(services: Services, scope: AccountScope, fields: StartUploadFields): Promise<UploadRow> {
  const { vendors, now } = services;
  const vendor = vendors.require(scope.vendorId);
  const { size, secret_db_id: secretId, base_version: baseVersion } = fields;
  return withLockedAccount(services, scope.accountId, async (tx, account) => {
    await rejectConflicts(tx, scope, secretId, baseVersion);
    await findDisplacedVersions(tx, scope, secretId, vendor.maxFormerVersions, now());
    await rejectOverQuota(tx, vendor, scope, account, [size], baseVersion === undefined ? 1 : 0);
    if ((await countOpenUploads(tx, scope)) >= maxOpenUploads)
      throw new Problem("quota_exceeded", { detail: "too many uploads are under way" });
    await adjustStorageUsed(tx, scope.accountId, size);
    const partSize = fields.part_size ?? vendor.defaultPartBytes;
    return insertUpload(tx, {
      accountId: scope.accountId,
      id: uuidv7(),
      secretId,
      baseVersion: baseVersion ?? null,
      size,
      partSize,
      expiresAt: getUploadExpiry(now()),
    });
  });
}

export function getUploadExpiry(now: Date): Date {
  return new Date(now.getTime() + uploadExpiryHours * 3_600_000);
}
