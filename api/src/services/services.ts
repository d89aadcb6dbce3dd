import type { ObjectStore } from "@relicario/tooling/objects";
import type { Registry } from "prom-client";

import type { Grants } from "../auth/grants.ts";
import type { IdentityProvider } from "../auth/identity-provider.ts";
import type { SessionTokens } from "../auth/session-tokens.ts";
import type { Db, Tx } from "../db/database.ts";
import type { RecordBox } from "../db/record-box.ts";
import type { Env } from "../env/env.ts";
import type { AccountConcurrency } from "../http/account-concurrency.ts";
import type { ClockSkews } from "../http/clock-skew.ts";
import type { KeyedLock } from "../http/keyed-lock.ts";
import type { PartLock } from "../http/part-lock.ts";
import type { RateLimiter } from "../http/rate-limits.ts";
import type { Mailer } from "../mail/mailer.ts";
import type { ObjectSource } from "../objects/verified-object.ts";
import type { RemovedContents, WrittenChange } from "../resource/resource.ts";
import type { Vendors } from "../vendors/vendors.ts";

/**
 * Services that resources use, built once in app.ts. This file knows no resource: each declares in
 * its `resource.ts` what it does for others.
 */
export interface Services {
  readonly env: Env;
  readonly db: Db;
  readonly objects: ObjectStore;
  readonly reportDamage: ObjectSource["reportDamage"];
  readonly vendors: Vendors;
  readonly identityProvider: IdentityProvider;
  readonly clockSkews: ClockSkews;
  readonly sessionTokens: SessionTokens;
  readonly grants: Grants;
  readonly recordBox: RecordBox;
  readonly limiter: RateLimiter;
  readonly concurrency: AccountConcurrency;
  readonly partLock: PartLock;
  /** Serializes the hashing of contents per account. */
  readonly digestLock: KeyedLock;
  readonly mailer: Mailer;
  readonly metrics: Registry;
  /** The service's clock. */
  readonly now: () => Date;
  /** Calls each resource's `onKeyringChange`. @returns the freed bytes */
  onKeyringChange(tx: Tx, writtenChange: WrittenChange): Promise<number>;
  /** Calls each resource's `onContentsRemoved`. @returns the freed bytes */
  onContentsRemoved(tx: Tx, accountId: string, removedContents: RemovedContents, now: Date): Promise<number>;
}
