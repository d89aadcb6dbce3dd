import { sessionRetentionDays, userNamePattern } from "@relicario/shared/api";
import { and, desc, eq, isNull, lt, or, type SQL } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";

import { lockAccount } from "../accounts/lock-account.ts";
import { claimUserName } from "../accounts/user-names.ts";
import { recordActivity } from "../activity/record-activity.ts";
import type { Actor } from "../auth/actor.ts";
import type { VerifiedIdentity } from "../auth/identity-provider.ts";
import type { Tx } from "../db/database.ts";
import { accounts, activity, identities, sessions } from "../db/schema.ts";
import type { RequestContext } from "../language/language.ts";
import type { Mailer } from "../mail/mailer.ts";
import type { CallerInfo } from "./caller.ts";
import { authorizeSession, type ProviderSessionHistory } from "./policy.ts";

/*
 * [Note: Exchange and sign-out]
 *
 * Both begin by locking the account's row, so they take turns:
 *
 * 1. An exchange that comes first leaves a session, which the sign-out ends.
 * 2. A sign-out that comes first leaves the time at which the provider's session was left; the
 *    exchange refuses a token that is not younger. Tokens tell whole seconds: one of the same
 *    second counts as older.
 * 3. Whoever ends a sign-in from elsewhere does not trust who has it: that one gets younger tokens
 *    from the provider by itself. So those count again only from a sign-in at the provider after
 *    that (`auth_time`); where it does not say, never.
 */

export interface StoredSession {
  readonly id: string;
  readonly accountId: string;
  readonly issuedAt: Date;
  readonly expiresAt: Date;
}

/** Of the exchange that begins a session. */
export interface ExchangeContext extends RequestContext {
  readonly vendorId: string;
  readonly lifetimeSeconds: number;
  readonly caller: CallerInfo;
}

const dayMilliseconds = 86_400_000;

/**
 * Begins a session of this identity's account at this vendor; the account is made when there is
 * none.
 *
 * @throws Problem `forbidden` when the operator locked the account, `token_invalid` when its person
 *   signed out since, or ended the provider's session from elsewhere and did not sign in since.
 */
export async function beginSession(
  tx: Tx,
  identity: VerifiedIdentity,
  { vendorId, lifetimeSeconds, caller, ...context }: ExchangeContext,
  mailer: Mailer,
): Promise<StoredSession> {
  const { providerSession, authTime } = identity;
  const accountId = await findOrCreateAccountId(tx, vendorId, identity);
  const [account] = await tx
    .select({ username: accounts.username, lockedAt: accounts.lockedAt })
    .from(accounts)
    .where(eq(accounts.id, accountId))
    .for("update");
  if (account === undefined) throw new Error("an identity without its account");
  const history = await readSessionHistory(tx, accountId, providerSession);
  authorizeSession(account, identity, history);
  if (account.username !== identity.username)
    await tx.update(accounts).set({ username: identity.username }).where(eq(accounts.id, accountId));

  const issuedAt = new Date();
  const session = {
    id: uuidv7(),
    accountId,
    issuedAt,
    expiresAt: new Date(issuedAt.getTime() + lifetimeSeconds * 1_000),
  };
  const signedInAt = authTime === null ? null : new Date(authTime * 1_000);
  await tx.insert(sessions).values({ ...session, ...caller, providerSession, signedInAt, createdAt: issuedAt });
  // Rows of the account that ended a day ago go, the last one of a provider's session later: it is
  // listed, or keeps it closed.
  const isSuperseded =
    providerSession === null
      ? isNull(sessions.providerSession)
      : or(
          isNull(sessions.providerSession),
          and(eq(sessions.providerSession, providerSession), isNull(sessions.closedAt)),
        );
  const isObsolete = or(
    and(isSuperseded, lt(sessions.expiresAt, new Date(issuedAt.getTime() - dayMilliseconds))),
    lt(sessions.expiresAt, new Date(issuedAt.getTime() - sessionRetentionDays * dayMilliseconds)),
  );
  await tx.delete(sessions).where(and(eq(sessions.accountId, accountId), isObsolete));
  if (!history.known) await recordSignIn(tx, accountId, caller, mailer, context);
  return session;
}

/** Sign-ins that are compared with a new one. */
const maxComparedSignIns = 200;

/**
 * What a person would not know themselves again in is told by mail, but for the first sign-in of an
 * account.
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
  // a program: the provider names no session, and each exchange would be one
  if (isKnown && caller.device === null) return;
  await recordActivity(tx, accountId, [{ kind: "signed_in", ...caller }], context.now);
  if (!isKnown && earlierSignIns.length > 0) await mailer.queue(tx, accountId, "new_device", context);
}

/**
 * The account of this identity at this vendor, made when there is none: two exchanges at once make
 * one.
 */
async function findOrCreateAccountId(tx: Tx, vendorId: string, identity: VerifiedIdentity): Promise<string> {
  const existingAccountId = await findAccountId(tx, vendorId, identity);
  if (existingAccountId !== null) return existingAccountId;
  const accountId = uuidv7();
  const inserted = await tx
    .insert(identities)
    .values({ vendorId, issuer: identity.issuer, subject: identity.subject, accountId })
    .onConflictDoNothing()
    .returning({ accountId: identities.accountId });
  if (inserted.length === 0) {
    // the other one has committed, else the insert would wait
    const concurrentAccountId = await findAccountId(tx, vendorId, identity);
    if (concurrentAccountId === null) throw new Error("an identity without its account");
    return concurrentAccountId;
  }
  const userName = await chooseUserName(tx, vendorId, accountId, identity.username);
  await tx.insert(accounts).values({ id: accountId, vendorId, userName, username: identity.username });
  return accountId;
}

async function findAccountId(tx: Tx, vendorId: string, { issuer, subject }: VerifiedIdentity): Promise<string | null> {
  const [row] = await tx
    .select({ accountId: identities.accountId })
    .from(identities)
    .where(and(eq(identities.vendorId, vendorId), eq(identities.issuer, issuer), eq(identities.subject, subject)));
  return row?.accountId ?? null;
}

/**
 * The provider's name where it can be a user name and is free, else one made of the account's id.
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
  if (providerSessionId === null) return { known: false, signedOutAt: null, closedAt: null };
  const rows = await tx
    .select({ revokedAt: sessions.revokedAt, closedAt: sessions.closedAt })
    .from(sessions)
    .where(and(eq(sessions.accountId, accountId), eq(sessions.providerSession, providerSessionId)));
  return {
    known: rows.length > 0,
    signedOutAt: findLatestDate(rows.map(({ revokedAt }) => revokedAt)),
    closedAt: findLatestDate(rows.map(({ closedAt }) => closedAt)),
  };
}

function findLatestDate(dates: readonly (Date | null)[]): Date | null {
  const times = dates.flatMap((date) => date?.getTime() ?? []);
  return times.length === 0 ? null : new Date(Math.max(...times));
}

/** Ends this session and every other that came from the same session of the provider. */
export async function endSession(tx: Tx, { accountId, sessionId }: Actor): Promise<void> {
  await lockAccount(tx, accountId);
  await tx
    .update(sessions)
    // Now, not when the call came: tokens of an exchange that went before are not younger.
    .set({ revokedAt: new Date() })
    .where(
      and(
        eq(sessions.accountId, accountId),
        matchesSignIn(sessionId, (await findProviderSessionId(tx, accountId, sessionId)) ?? null),
      ),
    );
}

/**
 * The provider's session that a session came from; null when it named none, undefined when there is
 * no such session, or it ended.
 */
export async function findProviderSessionId(
  tx: Tx,
  accountId: string,
  sessionId: string,
): Promise<string | null | undefined> {
  const [row] = await tx
    .select({ providerSession: sessions.providerSession })
    .from(sessions)
    .where(and(eq(sessions.accountId, accountId), eq(sessions.id, sessionId), isNull(sessions.revokedAt)));
  return row?.providerSession;
}

/** A session with all that came from the same session of the provider. */
export function matchesSignIn(sessionId: string, providerSessionId: string | null): SQL | undefined {
  const isSession = eq(sessions.id, sessionId);
  return providerSessionId === null ? isSession : or(isSession, eq(sessions.providerSession, providerSessionId));
}
