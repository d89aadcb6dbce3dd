import { maxOpenUploads, uploadHours, type StartUpload } from "@relicario/shared/api";
import { v7 as uuidv7 } from "uuid";

import { Problem } from "../http/problem.ts";
import { changeAccount } from "../keyring/queries.ts";
import { addStorage, versionsThatGiveWay } from "../secrets/queries.ts";
import { refuseExcess } from "../secrets/quota.ts";
import { refuseConflicts } from "../secrets/signed-call.ts";
import type { Services } from "../services.ts";
import type { OwnUploads } from "./policy.ts";
import { countOpen, insertUpload, type UploadRow } from "./queries.ts";

/**
 * Its bytes take their place in the quota at once, and former versions are counted, so that no
 * upload fails at its end for want of room.
 */
export function startUpload(services: Services, own: OwnUploads, wish: StartUpload): Promise<UploadRow> {
  const { vendors, now } = services;
  const vendor = vendors.require(own.vendorId);
  const { size, secret_db_id: secretId, base_version: base } = wish;
  return changeAccount(services, own.accountId, async (tx, account) => {
    await refuseConflicts(tx, own, secretId, base);
    await versionsThatGiveWay(tx, own, secretId, vendor.formerVersions, now());
    await refuseExcess(tx, vendor, own, account, [size], base === undefined ? 1 : 0);
    if ((await countOpen(tx, own)) >= maxOpenUploads)
      throw new Problem("quota_exceeded", { detail: "too many uploads are under way" });
    await addStorage(tx, own.accountId, size);
    const partSize = wish.part_size ?? vendor.partBytes;
    return insertUpload(tx, {
      accountId: own.accountId,
      id: uuidv7(),
      secretId,
      baseVersion: base ?? null,
      size,
      partSize,
      expiresAt: expiryAfter(now()),
    });
  });
}

export function expiryAfter(now: Date): Date {
  return new Date(now.getTime() + uploadHours * 3_600_000);
}
