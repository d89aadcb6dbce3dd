import { and, eq, isNull, lt, or, sql, type SQL } from "drizzle-orm";
import type { FastifyBaseLogger } from "fastify";
import { setTimeout as pause } from "node:timers/promises";
import { describeError } from "@relicario/tooling/http";

import { findAccountIds, readIdentity } from "../accounts/identities.ts";
import { lockedTransaction } from "../accounts/lock-account.ts";
import type { PersonCheck } from "../auth/session-tokens.ts";
import type { Db } from "../db/database.ts";
import { sessions } from "../db/schema.ts";
import { revokeSessions } from "./sign-ins.ts";

/*
 * [Note: Check of a person]
 *
 * A provider that disables a person notifies no one. So a call whose session was last checked more
 * than 45 s ago asks the provider first:
 *
 * 1. One process claims the check in the session's row; the claim expires after 5 s. Calls in other
 *    processes wait until the row has the result.
 * 2. The person is enabled: the row has the time. The person is disabled or unknown: all
 *    sessions of the person end, at every vendor.
 * 3. The provider does not answer: the call is allowed, and the session is checked again after
 *    15 s. This process asks no more for 10 s. Without the provider a session lives until its
 *    token expires.
 *
 * All times are the database's.
 */

const checkIntervalSeconds = 45;
/** Longer than a check takes. */
const claimSeconds = 5;
const retrySeconds = 15;
/** After a failure, calls of this process do not wait for the provider. */
const awayMilliseconds = 10_000;
/** Of one call to the provider. */
export const personCheckTimeoutSeconds = 3;
const pollMilliseconds = 50;

/** Selects sessions whose person is to be checked before the next call. */
const isCheckDue = sql<boolean>`${sessions.personCheckedAt} < now() - ${seconds(checkIntervalSeconds)}`;

export interface PersonCheckDeps {
  readonly db: Db;
  readonly vendorIds: readonly string[];
  /** The configured provider: persons of another one cannot be checked. */
  readonly issuer: string;
  /** Asks the provider; throws when it does not answer. */
  readonly isPersonEnabled: (subject: string) => Promise<boolean>;
  readonly log: Pick<FastifyBaseLogger, "info" | "warn">;
  /** Milliseconds of the monotonic clock; overridden in tests. */
  readonly monotonicNow?: () => number;
}

export function createPersonCheck({
  db,
  vendorIds,
  issuer,
  isPersonEnabled,
  log,
  monotonicNow = () => performance.now(),
}: PersonCheckDeps): PersonCheck {
  let awayUntil = -Infinity;
  let isAway = false;

  async function askProvider(subject: string): Promise<boolean | null> {
    try {
      const isEnabled = await isPersonEnabled(subject);
      if (isAway) log.info("the identity provider answers again whether people are enabled");
      isAway = false;
      return isEnabled;
    } catch (error) {
      if (!isAway)
        log.warn({ failure: describeError(error) }, "the identity provider does not answer whether people are enabled");
      isAway = true;
      awayUntil = monotonicNow() + awayMilliseconds;
      return null;
    }
  }

  async function check(accountId: string, sessionId: string): Promise<boolean> {
    const identity = await readIdentity(db, accountId);
    const isEnabled = identity.issuer === issuer ? await askProvider(identity.subject) : true;
    if (isEnabled === false) {
      for (const personAccountId of await findAccountIds(db, vendorIds, identity))
        await lockedTransaction(db, personAccountId, (tx) =>
          revokeSessions(tx, personAccountId, undefined, new Date()),
        );
      log.info("ended the sessions of a person whom the identity provider has disabled");
      return false;
    }
    const checkedAt = isEnabled === null ? sql`now() - ${seconds(checkIntervalSeconds - retrySeconds)}` : sql`now()`;
    await db
      .update(sessions)
      .set({ personCheckedAt: checkedAt, personCheckStartedAt: null })
      .where(whereSession(accountId, sessionId));
    return true;
  }

  async function claim(accountId: string, sessionId: string): Promise<boolean> {
    const claimedSessions = await db
      .update(sessions)
      .set({ personCheckStartedAt: sql`now()` })
      .where(
        and(
          whereSession(accountId, sessionId),
          isCheckDue,
          or(
            isNull(sessions.personCheckStartedAt),
            lt(sessions.personCheckStartedAt, sql`now() - ${seconds(claimSeconds)}`),
          ),
        ),
      )
      .returning({ id: sessions.id });
    return claimedSessions.length === 1;
  }

  /** What another process found; null while it is asking. */
  async function readResult(accountId: string, sessionId: string): Promise<boolean | null> {
    const [session] = await db
      .select({ revokedAt: sessions.revokedAt, isDue: isCheckDue })
      .from(sessions)
      .where(whereSession(accountId, sessionId));
    if (session?.revokedAt !== null) return false;
    return session.isDue ? null : true;
  }

  return {
    isDue: isCheckDue,
    async confirm(accountId, sessionId) {
      for (;;) {
        if (monotonicNow() < awayUntil) return true;
        if (await claim(accountId, sessionId)) return check(accountId, sessionId);
        const result = await readResult(accountId, sessionId);
        if (result !== null) return result;
        await pause(pollMilliseconds);
      }
    },
  };
}

function whereSession(accountId: string, sessionId: string): SQL | undefined {
  return and(eq(sessions.accountId, accountId), eq(sessions.id, sessionId));
}

/** An interval, in the statement itself: it is a constant. */
function seconds(count: number): SQL {
  return sql.raw(`interval '${String(count)} seconds'`);
}
