import { createHash, randomBytes } from "node:crypto";

import type { SecretStored, StoreSecret } from "@relicario/shared/api";

import { Problem } from "../http/problem.ts";
import { applyChange, callOf, type Circumstances } from "../keyring/apply-change.ts";
import { changeAccount } from "../keyring/queries.ts";
import { abandon, announce, publish } from "../objects/loose.ts";
import type { Services } from "../services.ts";
import type { OwnSecrets } from "./policy.ts";
import { findSecret, nextChange, readCounters, writeLabel, writeRestored, writeVersion } from "./queries.ts";
import { countStored, refuseExcess, reserveBytes } from "./quota.ts";
import { begin, checkLabel, refuseConflicts, versionAfter } from "./signed-call.ts";

type Sealed = Extract<StoreSecret, { content: string }>;
type Labelled = Exclude<StoreSecret, Sealed | { restore: true }>;

export function storeSecret(
  services: Services,
  own: OwnSecrets,
  body: StoreSecret,
  when: Circumstances,
): Promise<SecretStored> {
  if ("restore" in body) return restore(services, own, body.secret_db_id, when.now);
  if ("content" in body) return storeContent(services, own, body, when);
  return storeLabel(services, own, body, when);
}

/**
 * [Note: Objects and rows] and [Note: Keyring changes] in one: the content is on disk before the
 * transaction publishes it.
 */
async function storeContent(
  services: Services,
  own: OwnSecrets,
  { keyring, ...rest }: Sealed,
  when: Circumstances,
): Promise<SecretStored> {
  const { db, objects } = services;
  const { now } = when;
  const vendor = services.vendors.require(own.vendorId);
  const call = callOf(keyring, rest);
  const { secret_db_id: id, base_version: base } = rest;
  const content = Buffer.from(rest.content, "base64url");
  const version = versionAfter(base);
  checkLabel(own, keyring, rest.label, id, version);

  const objectKey = `${own.accountId}/${id}/${String(version)}-${randomBytes(12).toString("base64url")}`;
  await announce(db, own.accountId, objectKey, now);
  try {
    await objects.put(objectKey, content);
    const answer = await changeAccount(
      services,
      own.accountId,
      async (tx, account): Promise<{ stored: SecretStored; published: boolean }> => {
        const { stored, repeated } = await begin(tx, own, call);
        if (repeated !== null) return { stored: repeated, published: false };
        await refuseConflicts(tx, own, id, base);
        await refuseExcess(tx, vendor, own, account, [content.length], base === undefined ? 1 : 0);
        const added = await applyChange(tx, account, stored, call, { secretId: id, version }, services, when);
        await publish(tx, own.accountId, objectKey);
        const contentSha256 = createHash("sha256").update(content).digest();
        const ticket = Buffer.from(rest.ticket, "base64url");
        const size = content.length;
        const next = {
          id,
          version,
          label: rest.label,
          ticket,
          objects: [{ objectKey, sha256: contentSha256 }],
          partSize: size,
          contentSha256,
          size,
        };
        const more = await writeVersion(tx, own, next, {
          change: await nextChange(tx, own.accountId, {
            noted: { kind: base === undefined ? "secret_added" : "secret_changed", secretId: id },
            now,
          }),
          now,
          former: vendor.formerVersions,
        });
        await countStored(tx, vendor, account, added + more + size);
        return { stored: { secret_db_id: id, version, state_rev: keyring.state_rev }, published: true };
      },
    );
    if (!answer.published) await abandon(db, objects, own.accountId, objectKey);
    return answer.stored;
  } catch (error) {
    // A refusal rolled everything back. After any other failure the commit may have taken place,
    // its answer lost: then the
    // object stays, and is collected in a day if it is loose.
    if (error instanceof Problem) await abandon(db, objects, own.accountId, objectKey);
    throw error;
  }
}

async function storeLabel(
  services: Services,
  own: OwnSecrets,
  { keyring, ...rest }: Labelled,
  when: Circumstances,
): Promise<SecretStored> {
  const { ticket, ...always } = rest;
  const call = callOf(keyring, { ...always, ...(ticket === undefined ? {} : { ticket }) });
  const { secret_db_id: id, base_version: version, label } = rest;
  checkLabel(own, keyring, label, id, version);
  return changeAccount(services, own.accountId, async (tx, account) => {
    const { stored, repeated } = await begin(tx, own, call);
    if (repeated !== null) return repeated;
    await refuseConflicts(tx, own, id, version);
    const added = await applyChange(tx, account, stored, call, { secretId: id, version }, services, when);
    const next = { id, version, label, ticket: ticket === undefined ? null : Buffer.from(ticket, "base64url") };
    const more = await writeLabel(
      tx,
      own,
      next,
      await nextChange(tx, own.accountId, { noted: { kind: "label_changed", secretId: id }, now: when.now }),
      when.now,
    );
    await countStored(tx, services.vendors.require(own.vendorId), account, added + more, reserveBytes);
    return { secret_db_id: id, version, state_rev: keyring.state_rev };
  });
}

/**
 * Out of the trash; nothing changes when it is not in it.
 *
 * @throws Problem `content_gone` when there is nothing left to take out.
 */
function restore(services: Services, own: OwnSecrets, id: string, now: Date): Promise<SecretStored> {
  return changeAccount(services, own.accountId, async (tx) => {
    const row = await findSecret(tx, own, id);
    if (row === null) throw new Problem("not_found");
    if (row.droppedAt !== null) throw new Problem("content_gone");
    if (row.deletedAt !== null)
      await writeRestored(
        tx,
        own,
        id,
        await nextChange(tx, own.accountId, { noted: { kind: "secret_restored", secretId: id }, now }),
      );
    const { stateRev } = await readCounters(tx, own);
    return { secret_db_id: id, version: row.version, state_rev: stateRev };
  });
}
