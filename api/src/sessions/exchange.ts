import { sessionRetentionDays, userNamePattern } from "@relicario/shared/api";
import { aliasedTable, and, desc, eq, exists, gt, isNotNull, isNull, lt, or, sql, type SQL } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";

import { adoptProviderAddress } from "../mail/contact-address.ts";
import { lockAccount } from "../accounts/lock-account.ts";
import { claimUserName } from "../accounts/user-names.ts";
import { recordActivity } from "../activity/record-activity.ts";
import type { Actor } from "../auth/actor.ts";
import type { VerifiedIdentity } from "../auth/identity-provider.ts";
import type { Db, Tx } from "../db/database.ts";
import { accounts, activity, identities, sessions } from "../db/schema.ts";
import type { RequestContext } from "../language/language.ts";
import type { Mailer } from "../mail/mailer.ts";
import type { CallerInfo } from "./caller.ts";
import { authorizeSession, type ProviderSessionHistory } from "./policy.ts";

/*
 * [Note: Exchange and sign-out]
 *
 * Both lock the account's row first, so they run one after another:
 *
 * 1. After an exchange, the sign-out revokes its session.
 * 2. After a sign-out, or a revocation from elsewhere, the rows keep the provider's session closed
 *    by its id, whatever tokens it still gives: a thief may have it. It is accepted again after a
 *    later sign-in at the provider (`auth_time`), or never where tokens have no `auth_time`.
 *
 * Only times of the provider's clock are compared.
 */

export interface StoredSession {
  readonly id: string;
  readonly accountId: string;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

/** What an exchange knows of its caller when it creates a session. */
export interface ExchangeContext extends RequestContext {
  readonly vendorId: string;
  readonly lifetimeSeconds: number;
  /** Whether the address that the provider has verified becomes the account's. */
  readonly adoptsEmail: boolean;
  readonly caller: CallerInfo;
}

const dayMilliseconds = 86_400_000;

/**
 * Creates a session of the identity's account at this vendor, and the account when there is none.
 *
 * @throws Problem `forbidden` when the account is locked, `token_invalid` when the person has
 *   signed out since the token's sign-in, or has revoked the provider's session from elsewhere and
 *   not signed in again.
 */
export async function createSession(
  tx: Tx,
  identity: VerifiedIdentity,
  { vendorId, lifetimeSeconds, adoptsEmail, caller, ...context }: ExchangeContext,
  mailer: Mailer,
): Promise<StoredSession> {
  const { providerSessionId, authTime } = identity;
  const accountId = await findOrCreateAccountId(tx, vendorId, identity);
  const [account] = await tx
    .select({
      id: accounts.id,
      providerUsername: accounts.providerUsername,
      providerEmail: accounts.providerEmail,
      contactEmail: accounts.contactEmail,
      contactEmailVerified: accounts.contactEmailVerified,
      lockedAt: accounts.lockedAt,
    })
    .from(accounts)
    .where(eq(accounts.id, accountId))
    .for("update");
  if (account === undefined) throw new Error("the identity's account does not exist");
  const history = await readSessionHistory(tx, accountId, providerSessionId);
  authorizeSession(account, identity, history);
  if (account.providerUsername !== identity.providerUsername)
    await tx.update(accounts).set({ providerUsername: identity.providerUsername }).where(eq(accounts.id, accountId));
  if (adoptsEmail && identity.verifiedEmail !== null)
    await adoptProviderAddress(tx, account, identity.verifiedEmail, mailer, context);

  const issuedAt = new Date();
  const session = {
    id: uuidv7(),
    accountId,
    issuedAt,
    expiresAt: new Date(issuedAt.getTime() + lifetimeSeconds * 1_000),
  };
  const signedInAt = authTime === null ? null : new Date(authTime * 1_000);
  // The provider knew the person when it issued the token, which may have been minutes ago.
  const tokenAgeSeconds = Math.max(0, issuedAt.getTime() / 1_000 - identity.issuedAtHere);
  await tx.insert(sessions).values({
    ...session,
    ...caller,
    providerSessionId,
    signedInAt,
    createdAt: issuedAt,
    personCheckedAt: sql`now() - make_interval(secs => ${tokenAgeSeconds})`,
  });
  // Deletes rows that expired a day ago. The last row of a provider's session stays longer: it is
  // listed, or keeps that session closed.
  const newer = aliasedTable(sessions, "newer");
  const supersededCondition = or(
    isNull(sessions.providerSessionId),
    exists(
      tx
        .select({ id: newer.id })
        .from(newer)
        .where(
          and(
            eq(newer.accountId, accountId),
            eq(newer.providerSessionId, sessions.providerSessionId),
            gt(newer.id, sessions.id),
            or(isNull(sessions.revokedAt), isNotNull(newer.revokedAt)),
          ),
        ),
    ),
  );
  const obsoleteCondition = or(
    and(supersededCondition, lt(sessions.expiresAt, new Date(issuedAt.getTime() - dayMilliseconds))),
    lt(sessions.expiresAt, new Date(issuedAt.getTime() - sessionRetentionDays * dayMilliseconds)),
  );
  await tx.delete(sessions).where(and(eq(sessions.accountId, accountId), obsoleteCondition));
  if (!history.isKnown) await recordSignIn(tx, accountId, caller, mailer, context);
  return session;
}

/** Whether the token comes from a sign-in that has a session here. */
export async function isRenewal(db: Db, vendorId: string, identity: VerifiedIdentity): Promise<boolean> {
  const { providerSessionId } = identity;
  if (providerSessionId === null) return false;
  const accountId = await findAccountId(db, vendorId, identity);
  if (accountId === null) return false;
  const rows = await db
    .select({ id: sessions.id })
    .from(sessions)
    .where(
      and(
        eq(sessions.accountId, accountId),
        eq(sessions.providerSessionId, providerSessionId),
        isNull(sessions.revokedAt),
      ),
    )
    .limit(1);
  return rows.length > 0;
}

const maxComparedSignIns = 200;

/**
 * Records a sign-in. Queues a mail when this device was not seen at this IP address before, except
 * for the account's first sign-in.
 */
async function recordSignIn(
  tx: Tx,
  accountId: string,
  caller: CallerInfo,
  mailer: Mailer,
  context: RequestContext,
): Promise<void> {
  const earlierSignIns = await tx
    .select({ device: activity.device, address: activity.address })
    .from(activity)
    .where(and(eq(activity.accountId, accountId), eq(activity.kind, "signed_in")))
    .orderBy(desc(activity.id))
    .limit(maxComparedSignIns);
  const isKnown = earlierSignIns.some(({ device, address }) => device === caller.device && address === caller.address);
  // without this, each exchange of a program without a provider session would be recorded
  if (isKnown && caller.device === null) return;
  await recordActivity(tx, accountId, [{ kind: "signed_in", ...caller }], context.now);
  if (!isKnown && earlierSignIns.length > 0) await mailer.queue(tx, accountId, "new_device", context);
}

/** Two concurrent exchanges create one account. */
async function findOrCreateAccountId(tx: Tx, vendorId: string, identity: VerifiedIdentity): Promise<string> {
  const existingAccountId = await findAccountId(tx, vendorId, identity);
  if (existingAccountId !== null) return existingAccountId;
  const accountId = uuidv7();
  const insertedRows = await tx
    .insert(identities)
    .values({ vendorId, issuer: identity.issuer, subject: identity.subject, accountId })
    .onConflictDoNothing()
    .returning({ accountId: identities.accountId });
  if (insertedRows.length === 0) {
    // the other transaction has committed, else the insert would wait
    const concurrentAccountId = await findAccountId(tx, vendorId, identity);
    if (concurrentAccountId === null) throw new Error("the identity's account does not exist");
    return concurrentAccountId;
  }
  const userName = await chooseUserName(tx, vendorId, accountId, identity.providerUsername);
  await tx.insert(accounts).values({ id: accountId, vendorId, userName, providerUsername: identity.providerUsername });
  return accountId;
}

async function findAccountId(
  tx: Db | Tx,
  vendorId: string,
  { issuer, subject }: VerifiedIdentity,
): Promise<string | null> {
  const [row] = await tx
    .select({ accountId: identities.accountId })
    .from(identities)
    .where(and(eq(identities.vendorId, vendorId), eq(identities.issuer, issuer), eq(identities.subject, subject)));
  return row?.accountId ?? null;
}

/**
 * Chooses the provider's name if it is valid and free, otherwise one that ends with the end of the
 * account's id.
 */
async function chooseUserName(tx: Tx, vendorId: string, accountId: string, providerUsername: string): Promise<string> {
  const suffix = accountId.replaceAll("-", "").slice(-12);
  const candidates = [providerUsername, `${providerUsername.slice(0, 19)}-${suffix}`, `user-${suffix}`].filter((name) =>
    userNamePattern.test(name),
  );
  for (const name of candidates) {
    if (await claimUserName(tx, { vendorId, name }, accountId, new Date())) return name;
  }
  throw new Error("no user name is free");
}

async function readSessionHistory(
  tx: Tx,
  accountId: string,
  providerSessionId: string | null,
): Promise<ProviderSessionHistory> {
  if (providerSessionId === null) return { isKnown: false, revokedSignInAt: null };
  const rows = await tx
    .select({ revokedAt: sessions.revokedAt, signedInAt: sessions.signedInAt })
    .from(sessions)
    .where(and(eq(sessions.accountId, accountId), eq(sessions.providerSessionId, providerSessionId)));
  const revokedSignIns = rows
    .filter(({ revokedAt }) => revokedAt !== null)
    .map(({ signedInAt }) => (signedInAt === null ? Infinity : signedInAt.getTime() / 1_000));
  return {
    isKnown: rows.length > 0,
    revokedSignInAt: revokedSignIns.length === 0 ? null : Math.max(...revokedSignIns),
  };
}

/** Revokes this session and every other of the same provider session. */
export async function revokeSession(tx: Tx, { accountId, sessionId }: Actor): Promise<void> {
  await lockAccount(tx, accountId);
  await tx
    .update(sessions)
    .set({ revokedAt: new Date() })
    .where(
      and(
        eq(sessions.accountId, accountId),
        whereSignIn(sessionId, (await findProviderSessionId(tx, accountId, sessionId)) ?? null),
      ),
    );
}

/**
 * The provider's session of a live session; null when its token named none, undefined without a
 * live session.
 */
export async function findProviderSessionId(
  tx: Tx,
  accountId: string,
  sessionId: string,
): Promise<string | null | undefined> {
  const [row] = await tx
    .select({ providerSessionId: sessions.providerSessionId })
    .from(sessions)
    .where(and(eq(sessions.accountId, accountId), eq(sessions.id, sessionId), isNull(sessions.revokedAt)));
  return row?.providerSessionId;
}

/** Selects a session and all others of the same provider session. */
export function whereSignIn(sessionId: string, providerSessionId: string | null): SQL | undefined {
  const sessionCondition = eq(sessions.id, sessionId);
  return providerSessionId === null
    ? sessionCondition
    : or(sessionCondition, eq(sessions.providerSessionId, providerSessionId));
}
