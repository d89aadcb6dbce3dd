import type { Grants } from "./auth/grants.ts";
import type { IdentityProvider } from "./auth/identity-provider.ts";
import type { SessionTokens } from "./auth/session-tokens.ts";
import type { Db } from "./db/database.ts";
import type { Env } from "./env.ts";
import type { AccountCalls } from "./http/account-calls.ts";
import type { RateLimiter } from "./http/rate-limits.ts";
import type { RecordBox } from "./keyring/record-box.ts";
import type { Mailer } from "./mail/mailer.ts";
import type { ObjectSource } from "./objects/checked-object.ts";
import type { ObjectStore } from "./objects/object-store.ts";
import type { Turns } from "./http/turns.ts";
import type { PartsInFlight } from "./uploads/parts-in-flight.ts";
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
  readonly calls: AccountCalls;
  readonly parts: PartsInFlight;
  /** By account: whole contents are read one after the other. */
  readonly digests: Turns;
  readonly mailer: Mailer;
  /** The service's clock. */
  readonly now: () => Date;
}
