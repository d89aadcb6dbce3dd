import { userNamePattern } from "@relicario/shared/api";
import { and, eq, lt, or } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";

import type { Db, Tx } from "../db/database.ts";
import { accounts, identities, sessions, userNames } from "../db/schema.ts";
import { nameKeyOf } from "../users/user-name.ts";
import type { ProvenIdentity } from "./identity-provider.ts";
import type { OwnSession } from "./policy.ts";

/** The account of this identity at this vendor, made when there is none: two exchanges at once make one. */
export async function accountOf(db: Db, vendorId: string, identity: ProvenIdentity): Promise<string> {
  const known = await findAccount(db, vendorId, identity);
  if (known !== null) {
    await db.update(accounts).set({ username: identity.username }).where(eq(accounts.id, known));
    return known;
  }
  return db.transaction(async (tx) => {
    const accountId = uuidv7();
    const claimed = await tx
      .insert(identities)
      .values({ vendorId, issuer: identity.issuer, subject: identity.subject, accountId })
      .onConflictDoNothing()
      .returning({ accountId: identities.accountId });
    if (claimed.length === 0) {
      const other = await findAccount(tx, vendorId, identity); // the other one has committed, else the insert would wait
      if (other === null) throw new Error("an identity without its account");
      return other;
    }
    const userName = await claimUserName(tx, vendorId, accountId, identity.username);
    await tx.insert(accounts).values({ id: accountId, vendorId, userName, username: identity.username });
    return accountId;
  });
}

async function findAccount(db: Db | Tx, vendorId: string, { issuer, subject }: ProvenIdentity): Promise<string | null> {
  const [row] = await db
    .select({ accountId: identities.accountId })
    .from(identities)
    .where(and(eq(identities.vendorId, vendorId), eq(identities.issuer, issuer), eq(identities.subject, subject)));
  return row?.accountId ?? null;
}

/** The provider's name where it can be a user name and is free, else one made of the account's id. */
async function claimUserName(tx: Tx, vendorId: string, accountId: string, username: string): Promise<string> {
  const tail = accountId.replaceAll("-", "").slice(-12);
  const wishes = [username, `${username.slice(0, 27)}-${tail}`, `user-${tail}`].filter((name) => userNamePattern.test(name));
  for (const name of wishes) {
    const claimed = await tx.insert(userNames).values({ vendorId, nameKey: nameKeyOf(name), accountId }).onConflictDoNothing().returning();
    if (claimed.length === 1) return name;
  }
  throw new Error("no user name is free");
}

export interface StoredSession {
  readonly id: string;
  readonly accountId: string;
  readonly providerSession: string | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
}

/** Keeps the session's row; rows of the account that ended a day ago go. */
export async function keepSession(db: Db, session: StoredSession): Promise<void> {
  const yesterday = new Date(session.createdAt.getTime() - 86_400_000);
  await db.insert(sessions).values(session);
  await db.delete(sessions).where(and(eq(sessions.accountId, session.accountId), lt(sessions.expiresAt, yesterday)));
}

/** When somebody last signed out of the provider's session, in seconds; null when never. */
export async function signedOutAt(db: Db, accountId: string, providerSession: string): Promise<number | null> {
  const rows = await db
    .select({ revokedAt: sessions.revokedAt })
    .from(sessions)
    .where(and(eq(sessions.accountId, accountId), eq(sessions.providerSession, providerSession)));
  const times = rows.flatMap(({ revokedAt }) => (revokedAt === null ? [] : [Math.floor(revokedAt.getTime() / 1_000)]));
  return times.length === 0 ? null : Math.max(...times);
}

/** Ends this session and every other that came from the same session of the provider. */
export async function endSession(db: Db, { accountId, sessionId }: OwnSession, now: Date): Promise<void> {
  const [own] = await db
    .select({ providerSession: sessions.providerSession })
    .from(sessions)
    .where(and(eq(sessions.accountId, accountId), eq(sessions.id, sessionId)));
  const itself = eq(sessions.id, sessionId);
  const same = own?.providerSession ? or(itself, eq(sessions.providerSession, own.providerSession)) : itself;
  await db
    .update(sessions)
    .set({ revokedAt: now })
    .where(and(eq(sessions.accountId, accountId), same));
}
