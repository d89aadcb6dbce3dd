import type { Grants } from "./auth/grants.ts";
import type { IdentityProvider } from "./auth/identity-provider.ts";
import type { SessionTokens } from "./auth/session-tokens.ts";
import type { Db } from "./db/database.ts";
import type { Env } from "./env.ts";
import type { AccountConcurrency } from "./http/account-concurrency.ts";
import type { RateLimiter } from "./http/rate-limits.ts";
import type { RecordBox } from "./keyring/record-box.ts";
import type { Mailer } from "./mail/mailer.ts";
import type { ObjectSource } from "./objects/verified-object.ts";
import type { ObjectStore } from "./objects/object-store.ts";
import type { KeyedLock } from "./http/keyed-lock.ts";
import type { PartLock } from "./uploads/part-lock.ts";
import type { Vendors } from "./vendors/vendors.ts";

/** What the resources are made with, built once in app.ts. */
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
  /** The service's clock. */
  readonly now: () => Date;
}
