import type { Registry } from "prom-client";

import type { Grants } from "../auth/grants.ts";
import type { IdentityProvider } from "../auth/identity-provider.ts";
import type { SessionTokens } from "../auth/session-tokens.ts";
import type { Db, Tx } from "../db/database.ts";
import type { RecordBox } from "../db/record-box.ts";
import type { Env } from "../env/env.ts";
import type { AccountConcurrency } from "../http/account-concurrency.ts";
import type { KeyedLock } from "../http/keyed-lock.ts";
import type { PartLock } from "../http/part-lock.ts";
import type { RateLimiter } from "../http/rate-limits.ts";
import type { Mailer } from "../mail/mailer.ts";
import type { ObjectStore } from "../objects/object-store.ts";
import type { ObjectSource } from "../objects/verified-object.ts";
import type { EndedContents, WrittenChange } from "../resource/resource.ts";
import type { Vendors } from "../vendors/vendors.ts";

/**
 * What the resources are made with, built once in app.ts. It names nothing of theirs: what they do
 * for each other, each says in its `resource.ts`.
 */
export interface Services {
  readonly env: Env;
  readonly db: Db;
  readonly objects: ObjectStore;
  readonly reportDamage: ObjectSource["reportDamage"];
  readonly vendors: Vendors;
  readonly identityProvider: IdentityProvider;
  readonly sessionTokens: SessionTokens;
  readonly grants: Grants;
  readonly recordBox: RecordBox;
  readonly limiter: RateLimiter;
  readonly concurrency: AccountConcurrency;
  readonly partLock: PartLock;
  /** By account: whole contents are read one after the other. */
  readonly digestLock: KeyedLock;
  readonly mailer: Mailer;
  readonly metrics: Registry;
  /** The service's clock. */
  readonly now: () => Date;
  /** Asks every resource to follow a change, in turn. @returns the bytes that became free. */
  onKeyringChange(tx: Tx, written: WrittenChange): Promise<number>;
  /** Asks every resource to end what shows these contents. @returns the bytes that became free. */
  onContentsEnd(tx: Tx, accountId: string, ended: EndedContents, now: Date): Promise<number>;
}
