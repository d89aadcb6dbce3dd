import { createHash, randomBytes } from "node:crypto";

import type { KeyringChange, SecretStored, StoreSecret } from "@relicario/shared/api";

import type { Tx } from "../db/database.ts";
import { Problem } from "../http/problem.ts";
import { applyChange, callOf, repeatOf, type Call } from "../keyring/apply-change.ts";
import { lockAccount, readKeyring, type AccountRow, type KeyringRow } from "../keyring/queries.ts";
import { hasHeader } from "../keyring/sealed-header.ts";
import { abandon, announce, publish } from "../objects/loose.ts";
import type { Services } from "../services.ts";
import type { OwnSecrets } from "./policy.ts";
import { countSecrets, findSecret, isTaken, nextChange, readCounters, writeLabel, writeTrashed, writeVersion } from "./queries.ts";

/** Rows of one account; far above what one person keeps, and within what one device lists. */
export const maxSecrets = 50_000;

type Sealed = Extract<StoreSecret, { content: string }>;
type Labelled = Exclude<StoreSecret, Sealed | { restore: true }>;

export function storeSecret(services: Services, own: OwnSecrets, body: StoreSecret): Promise<SecretStored> {
  if ("restore" in body) return restore(services, own, body.secret_db_id);
  if ("content" in body) return storeContent(services, own, body);
  return storeLabel(services, own, body);
}

/** [Note: Objects and rows] and [Note: Keyring changes] in one: the content is on disk before the transaction publishes it. */
async function storeContent(services: Services, own: OwnSecrets, { keyring, ...rest }: Sealed): Promise<SecretStored> {
  const { db, objects } = services;
  const now = new Date();
  const call = callOf(keyring, rest);
  const { secret_db_id: id, base_version: base } = rest;
  const content = Buffer.from(rest.content, "base64url");
  const version = base === undefined ? 1 : base + 1;
  checkLabel(own, keyring, rest.label, id, version);

  const objectKey = `${own.accountId}/${id}/${String(version)}-${randomBytes(12).toString("base64url")}`;
  await announce(db, own.accountId, objectKey, now);
  try {
    await objects.put(objectKey, content);
    const answer = await db.transaction(async (tx): Promise<{ stored: SecretStored; published: boolean }> => {
      const { account, stored, repeated } = await begin(tx, own, call);
      if (repeated !== null) return { stored: repeated, published: false };
      await refuseConflicts(tx, own, id, base);
      await refuseExcess(tx, services, own, account, content.length, base === undefined);
      await applyChange(tx, account, stored, call, { secretId: id, version }, { box: services.recordBox, now });
      await publish(tx, own.accountId, objectKey);
      const contentSha256 = createHash("sha256").update(content).digest();
      const ticket = Buffer.from(rest.ticket, "base64url");
      const next = { id, version, label: rest.label, ticket, objectKey, contentSha256, size: content.length };
      await writeVersion(tx, own, next, await nextChange(tx, own.accountId), now);
      return { stored: { secret_db_id: id, version, state_rev: keyring.state_rev }, published: true };
    });
    if (!answer.published) await abandon(db, objects, own.accountId, objectKey);
    return answer.stored;
  } catch (error) {
    // A refusal rolled everything back. After any other failure the commit may have taken place, its answer lost: then the
    // object stays, and is collected in a day if it is loose.
    if (error instanceof Problem) await abandon(db, objects, own.accountId, objectKey);
    throw error;
  }
}

async function storeLabel(services: Services, own: OwnSecrets, { keyring, ...rest }: Labelled): Promise<SecretStored> {
  const now = new Date();
  const { ticket, ...always } = rest;
  const call = callOf(keyring, { ...always, ...(ticket === undefined ? {} : { ticket }) });
  const { secret_db_id: id, base_version: version, label } = rest;
  checkLabel(own, keyring, label, id, version);
  return services.db.transaction(async (tx) => {
    const { account, stored, repeated } = await begin(tx, own, call);
    if (repeated !== null) return repeated;
    await refuseConflicts(tx, own, id, version);
    await applyChange(tx, account, stored, call, { secretId: id, version }, { box: services.recordBox, now });
    const next = { id, version, label, ticket: ticket === undefined ? null : Buffer.from(ticket, "base64url") };
    await writeLabel(tx, own, next, await nextChange(tx, own.accountId), now);
    return { secret_db_id: id, version, state_rev: keyring.state_rev };
  });
}

/** Out of the trash; nothing changes when it is not in it. */
function restore({ db }: Services, own: OwnSecrets, id: string): Promise<SecretStored> {
  return db.transaction(async (tx) => {
    await lockAccount(tx, own.accountId);
    const row = await findSecret(tx, own, id);
    if (row === null) throw new Problem("not_found");
    if (row.deletedAt !== null) await writeTrashed(tx, own, id, null, await nextChange(tx, own.accountId));
    const { stateRev } = await readCounters(tx, own);
    return { secret_db_id: id, version: row.version, state_rev: stateRev };
  });
}

interface Begun {
  readonly account: AccountRow;
  readonly stored: KeyringRow | null;
  readonly repeated: SecretStored | null;
}

async function begin(tx: Tx, own: OwnSecrets, call: Call): Promise<Begun> {
  const account = await lockAccount(tx, own.accountId);
  const stored = await readKeyring(tx, own);
  const first = repeatOf(stored, call);
  if (first === null) return { account, stored, repeated: null };
  if (first.secretId === null || first.version === null) throw new Error("a call with a secret was kept without one");
  return { account, stored, repeated: { secret_db_id: first.secretId, version: first.version, state_rev: first.stateRev } };
}

/** Looked at before `state_conflict`: what the person has to decide comes before what the device settles alone. */
async function refuseConflicts(tx: Tx, own: OwnSecrets, id: string, base: number | undefined): Promise<void> {
  if (base === undefined) {
    if (await isTaken(tx, own, id)) throw new Problem("id_taken");
    return;
  }
  const row = await findSecret(tx, own, id);
  if (row === null) throw new Problem("not_found");
  if (row.version !== base) throw new Problem("version_conflict", { members: { version: row.version } });
}

async function refuseExcess(tx: Tx, { vendors }: Services, own: OwnSecrets, account: AccountRow, size: number, isNew: boolean): Promise<void> {
  const quota = vendors.find(own.vendorId)?.quotaBytes ?? 0;
  if (account.storageUsed + size > quota) throw new Problem("quota_exceeded");
  if (isNew && (await countSecrets(tx, own)) >= maxSecrets) throw new Problem("quota_exceeded");
}

/** A label that names another account, secret or version could never be opened again. */
function checkLabel({ accountId }: OwnSecrets, { key_epoch }: KeyringChange, label: string, id: string, version: number): void {
  const fits = hasHeader(label, { typ: "relicario-label", user_id: accountId, key_epoch, secret_id: id, version }, ["rev"]);
  if (!fits) throw new Problem("keyring_change_invalid", { detail: "the label's header does not fit" });
}
