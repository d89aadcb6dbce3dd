import { createHash, randomBytes } from "node:crypto";

import type { NewSecret, SecretsStored, StoreSecrets } from "@relicario/shared/api";

import { Problem } from "../http/problem.ts";
import { applyChange, callOf, type Circumstances } from "../keyring/apply-change.ts";
import { changeAccount } from "../keyring/queries.ts";
import { abandon, announceAll, publishAll } from "../objects/loose.ts";
import type { Services } from "../services.ts";
import type { OwnSecrets } from "./policy.ts";
import { nextChange, refuseTaken, writeNew, type NewVersion } from "./queries.ts";
import { countStored, refuseExcess } from "./quota.ts";
import { begin, checkLabel } from "./signed-call.ts";

/** Objects that are put at the same time. */
const putsAtOnce = 8;

/**
 * New secrets with one keyring change, all of them or none: [Note: Objects and rows] and [Note:
 * Keyring changes] as for one secret.
 */
export async function storeBatch(
  services: Services,
  own: OwnSecrets,
  { keyring, ...rest }: StoreSecrets,
  when: Circumstances,
): Promise<SecretsStored> {
  const { db, objects } = services;
  const { now } = when;
  const vendor = services.vendors.require(own.vendorId);
  const call = callOf(keyring, rest);
  for (const { secret_db_id: id, label } of rest.secrets) checkLabel(own, keyring, label, id, 1);
  const contents = rest.secrets.map((secret) => contentOf(own, secret));
  const [{ row: first }] = contents as [Content, ...Content[]]; // its schema says so
  const keys = contents.map(({ objectKey }) => objectKey);
  const sizes = contents.map(({ bytes }) => bytes.length);

  const abandonAll = async (): Promise<void> => {
    for (const key of keys) await abandon(db, objects, own.accountId, key);
  };
  await announceAll(db, own.accountId, keys, now);
  try {
    for (let start = 0; start < contents.length; start += putsAtOnce) {
      await Promise.all(
        contents.slice(start, start + putsAtOnce).map(({ objectKey, bytes }) => objects.put(objectKey, bytes)),
      );
    }
    const answer = await changeAccount(
      services,
      own.accountId,
      async (tx, account): Promise<{ stored: SecretsStored; published: boolean }> => {
        const { stored, repeated } = await begin(tx, own, call);
        if (repeated !== null) return { stored: { state_rev: repeated.state_rev }, published: false };
        await refuseTaken(
          tx,
          own,
          contents.map(({ row }) => row.id),
        );
        await refuseExcess(tx, vendor, own, account, sizes, contents.length);
        const added = await applyChange(
          tx,
          account,
          stored,
          call,
          { secretId: first.id, version: first.version },
          services,
          when,
        );
        await publishAll(tx, own.accountId, keys);
        const more = await writeNew(
          tx,
          own,
          contents.map(({ row }) => row),
          { change: await nextChange(tx, own.accountId), now },
        );
        await countStored(tx, vendor, account, added + more + sizes.reduce((sum, size) => sum + size, 0));
        return { stored: { state_rev: keyring.state_rev }, published: true };
      },
    );
    if (!answer.published) await abandonAll();
    return answer.stored;
  } catch (error) {
    // after any other failure the commit may have taken place, its answer lost
    if (error instanceof Problem) await abandonAll();
    throw error;
  }
}

interface Content {
  readonly objectKey: string;
  readonly bytes: Buffer;
  readonly row: NewVersion;
}

function contentOf({ accountId }: OwnSecrets, { secret_db_id: id, label, ticket, content }: NewSecret): Content {
  const bytes = Buffer.from(content, "base64url");
  const size = bytes.length;
  const contentSha256 = createHash("sha256").update(bytes).digest();
  const version = 1;
  const objectKey = `${accountId}/${id}/${String(version)}-${randomBytes(12).toString("base64url")}`;
  const objects = [{ objectKey, sha256: contentSha256 }];
  return {
    objectKey,
    bytes,
    row: { id, version, label, ticket: Buffer.from(ticket, "base64url"), objects, partSize: size, contentSha256, size },
  };
}
