import { userNamePattern } from "@relicario/shared/api";
import { and, eq, lt, or } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";

import type { Tx } from "../db/database.ts";
import { accounts, identities, sessions } from "../db/schema.ts";
import { lockAccount } from "../keyring/queries.ts";
import { claimUserName } from "../users/user-name.ts";
import type { ProvenIdentity } from "./identity-provider.ts";
import { sessionPolicy, type OwnSession } from "./policy.ts";

/*
 * [Note: Exchange and sign-out]
 *
 * Both begin by locking the account's row, so they take turns:
 *
 * 1. An exchange that comes first leaves a session, which the sign-out ends.
 * 2. A sign-out that comes first leaves the time at which the provider's session was left; the exchange refuses a token
 *    that is not younger. Tokens tell whole seconds: one of the same second counts as older.
 */

export interface StoredSession {
  readonly id: string;
  readonly accountId: string;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

/**
 * Begins a session of this identity's account at this vendor; the account is made when there is none.
 *
 * @throws Problem `forbidden` when the operator locked the account, `token_invalid` when its person signed out since.
 */
export async function beginSession(tx: Tx, vendorId: string, identity: ProvenIdentity, lifeSeconds: number): Promise<StoredSession> {
  const accountId = await accountOf(tx, vendorId, identity);
  const [account] = await tx.select({ username: accounts.username, lockedAt: accounts.lockedAt }).from(accounts).where(eq(accounts.id, accountId)).for("update");
  if (account === undefined) throw new Error("an identity without its account");
  sessionPolicy(account, identity, await signedOutAt(tx, accountId, identity.providerSession));
  if (account.username !== identity.username) await tx.update(accounts).set({ username: identity.username }).where(eq(accounts.id, accountId));

  const issuedAt = new Date();
  const session = { id: uuidv7(), accountId, issuedAt, expiresAt: new Date(issuedAt.getTime() + lifeSeconds * 1_000) };
  await tx.insert(sessions).values({ ...session, providerSession: identity.providerSession, createdAt: issuedAt });
  // Rows of the account that ended a day ago go.
  await tx.delete(sessions).where(and(eq(sessions.accountId, accountId), lt(sessions.expiresAt, new Date(issuedAt.getTime() - 86_400_000))));
  return session;
}

/** The account of this identity at this vendor, made when there is none: two exchanges at once make one. */
async function accountOf(tx: Tx, vendorId: string, identity: ProvenIdentity): Promise<string> {
  const known = await findAccount(tx, vendorId, identity);
  if (known !== null) return known;
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
  const userName = await firstUserName(tx, vendorId, accountId, identity.username);
  await tx.insert(accounts).values({ id: accountId, vendorId, userName, username: identity.username });
  return accountId;
}

async function findAccount(tx: Tx, vendorId: string, { issuer, subject }: ProvenIdentity): Promise<string | null> {
  const [row] = await tx
    .select({ accountId: identities.accountId })
    .from(identities)
    .where(and(eq(identities.vendorId, vendorId), eq(identities.issuer, issuer), eq(identities.subject, subject)));
  return row?.accountId ?? null;
}

/** The provider's name where it can be a user name and is free, else one made of the account's id. */
async function firstUserName(tx: Tx, vendorId: string, accountId: string, username: string): Promise<string> {
  const tail = accountId.replaceAll("-", "").slice(-12);
  const wishes = [username, `${username.slice(0, 19)}-${tail}`, `user-${tail}`].filter((name) => userNamePattern.test(name));
  for (const name of wishes) {
    if (await claimUserName(tx, { vendorId, name }, accountId, new Date())) return name;
  }
  throw new Error("no user name is free");
}

/** When somebody last signed out of the provider's session; null when never, or when the token names none. */
async function signedOutAt(tx: Tx, accountId: string, providerSession: string | null): Promise<Date | null> {
  if (providerSession === null) return null;
  const rows = await tx
    .select({ revokedAt: sessions.revokedAt })
    .from(sessions)
    .where(and(eq(sessions.accountId, accountId), eq(sessions.providerSession, providerSession)));
  const times = rows.flatMap(({ revokedAt }) => (revokedAt === null ? [] : [revokedAt.getTime()]));
  return times.length === 0 ? null : new Date(Math.max(...times));
}

/** Ends this session and every other that came from the same session of the provider. */
export async function endSession(tx: Tx, { accountId, sessionId }: OwnSession): Promise<void> {
  await lockAccount(tx, accountId);
  const [own] = await tx
    .select({ providerSession: sessions.providerSession })
    .from(sessions)
    .where(and(eq(sessions.accountId, accountId), eq(sessions.id, sessionId)));
  const itself = eq(sessions.id, sessionId);
  const same = own?.providerSession ? or(itself, eq(sessions.providerSession, own.providerSession)) : itself;
  await tx
    .update(sessions)
    .set({ revokedAt: new Date() }) // now, not when the call came: tokens of an exchange that went before are not younger
    .where(and(eq(sessions.accountId, accountId), same));
}
