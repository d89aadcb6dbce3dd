import { and, eq, inArray } from "drizzle-orm";

import type { Db } from "../db/database.ts";
import { identities } from "../db/schema.ts";

/** A person at the identity provider. */
export interface Identity {
  readonly issuer: string;
  /** `sub` of the provider's tokens. */
  readonly subject: string;
}

export async function readIdentity(db: Db, accountId: string): Promise<Identity> {
  const [identity] = await db
    .select({ issuer: identities.issuer, subject: identities.subject })
    .from(identities)
    .where(eq(identities.accountId, accountId));
  if (identity === undefined) throw new Error("the account has no identity");
  return identity;
}

/** The person's accounts at these vendors. */
export async function findAccountIds(
  db: Db,
  vendorIds: readonly string[],
  { issuer, subject }: Identity,
): Promise<string[]> {
  const rows = await db
    .select({ accountId: identities.accountId })
    .from(identities)
    .where(
      and(inArray(identities.vendorId, [...vendorIds]), eq(identities.issuer, issuer), eq(identities.subject, subject)),
    );
  return rows.map(({ accountId }) => accountId);
}
