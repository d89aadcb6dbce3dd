import type { MailTopic } from "@relicario/shared/api";
import { and, eq, isNotNull, isNull, lte, min } from "drizzle-orm";
import type { FastifyBaseLogger } from "fastify";
import { v7 as uuidv7 } from "uuid";
import { describeError } from "@relicario/tooling/http";

import type { Db, Tx } from "../db/database.ts";
import { retryOnConnectionLoss } from "../db/faults.ts";
import { accounts, emailValidations, mails, secrets, accountResets } from "../db/schema.ts";
import type { Language } from "../language/language.ts";
import type { Vendors } from "../vendors/vendors.ts";
import { deriveNonce } from "./address-nonce.ts";
import { getDropTime } from "./drop-time.ts";
import { renderMail, type MailVariables, type MailKind } from "./mail-message.ts";
import { allowsOneClickUnsubscribe, getMailTopic } from "./topics.ts";
import { sendTimeoutSeconds, type MailTransport } from "./transport.ts";

/*
 * [Note: Mails]
 *
 * 1. `queue` inserts a row in the transaction of the event: a mail exists exactly when the change
 *    does.
 * 2. `deliver` runs after the commit, when the next mail is due, and in the sweep, in any process.
 *    It claims each due row by moving its due time beyond the longest sending, so that other
 *    processes skip it and a killed process does not lose it. It claims only as many as it sends at
 *    once, so that no claim expires while waiting.
 * 3. The mail is rendered and sent to the address that is verified then, and its row deleted. A
 *    process that is killed, or loses the database, in between sends it again after the claim
 *    expires.
 * 4. A mail that was not accepted is due again after a minute, then two, four …
 */

interface QueueOptions {
  readonly now: Date;
  /** The owner's language, when the owner makes the call; stored for later mails. */
  readonly language?: Language | null;
  /** Recipient, if not the account's verified address. */
  readonly address?: string;
  /** The share that the mail is about. */
  readonly shareId?: string;
}

export interface Mailer {
  queue(tx: Tx, accountId: string, kind: MailKind, options: QueueOptions): Promise<void>;
  /** Sends due mails. @returns how many were handed over */
  deliver(): Promise<number>;
  /** Starts a delivery in the background if this process queued a mail. */
  notify(): void;
  /** Claims no more mails. Those being sent get a few seconds, then are due again later. */
  stop(): Promise<void>;
}

export interface MailerDeps {
  readonly db: Db;
  readonly vendors: Vendors;
  readonly transport: MailTransport;
  /** Base of links for vendors without their own portal. */
  readonly publicOrigin: string;
  /** The current RECORD_KEY, from which nonces are derived. */
  readonly recordKey: Buffer;
  /** The link that turns off mails about a topic (mail/unsubscribe.ts). */
  readonly createUnsubscribeLink: (accountId: string, about: MailTopic) => Promise<string>;
  readonly log: FastifyBaseLogger;
  readonly now: () => Date;
  /** Schedules `callback`; returns a cancel function. Overridden in tests. */
  readonly schedule?: (milliseconds: number, callback: () => void) => () => void;
}

type MailRow = typeof mails.$inferSelect;

const batchSize = 5;
/** Longer than sending a mail takes, with the queries before and after. */
export const claimSeconds = 5 * sendTimeoutSeconds;
/** Grace for sendings under way when the process stops. */
const stopGraceSeconds = 5;
const firstRetrySeconds = 60;
/** Longest time between two deliveries: the interval of the sweep. */
const maxSleepSeconds = 600;
const maxRetryDays = 3;

export function createMailer(deps: MailerDeps): Mailer {
  const { db, log, now, schedule = scheduleTimer } = deps;
  let queuedCount = 0;
  let activeDelivery: Promise<number> | null = null;
  let deliveryRequests = 0;
  let isStopped = false;
  let cancelScheduled = (): void => undefined;

  async function deliverDue(): Promise<number> {
    for (let sentCount = 0; ;) {
      if (isStopped) return sentCount;
      const dueRows = await findDueMails(db, now());
      const claimResults = await Promise.all(
        dueRows.map(async (row) => ({ row, isClaimed: await claimMail(db, row, now()) })),
      );
      const claimedRows = claimResults.flatMap(({ row, isClaimed }) => (isClaimed ? [row] : []));
      queuedCount = Math.max(0, queuedCount - claimedRows.length);
      sentCount += (await Promise.all(claimedRows.map(deliverMail))).filter(Boolean).length;
      if (dueRows.length < batchSize) return sentCount;
    }
  }

  async function deliverMail(row: MailRow): Promise<boolean> {
    let isSent = false;
    try {
      const { to, language, variables } = (await resolveDelivery(deps, row)) ?? {};
      if (to !== undefined && language !== undefined && variables !== undefined) {
        await deps.transport.send(to, renderMail(row.kind, language, variables));
        log.info({ mail: row.kind }, "mailed");
        isSent = true;
      }
      await retryOnConnectionLoss(() => deleteMail(db, row));
      return isSent;
    } catch (error) {
      if (isSent) throw error; // the mail was sent: do not postpone it, its claim expires
      const isExpired = now().getTime() - row.createdAt.getTime() > maxRetryDays * 86_400_000;
      log.error(
        { mail: row.kind, attempts: row.attempts, given_up: isExpired, failure: describeError(error) },
        "a mail could not be sent",
      );
      await (isExpired ? deleteMail(db, row) : postponeMail(db, row, now()));
      return false;
    }
  }

  /**
   * Runs one delivery at a time. When called meanwhile, runs again, since the running delivery may
   * have missed a new mail.
   */
  const deliver = (): Promise<number> => {
    if (isStopped) return Promise.resolve(0);
    deliveryRequests += 1;
    activeDelivery ??= deliverUntilIdle();
    return activeDelivery;
  };

  async function deliverUntilIdle(): Promise<number> {
    try {
      let sentCount = 0;
      for (let handledRequests = -1; handledRequests !== deliveryRequests;) {
        handledRequests = deliveryRequests;
        sentCount += await deliverDue();
        await scheduleNext(); // in the loop, so that a call meanwhile is handled too
      }
      return sentCount;
    } finally {
      activeDelivery = null;
    }
  }

  /** Schedules the next delivery, for mails of any process. */
  async function scheduleNext(): Promise<void> {
    const [next] = await db.select({ dueAt: min(mails.dueAt) }).from(mails);
    cancelScheduled();
    if (isStopped || next?.dueAt == null) return;
    const milliseconds = next.dueAt.getTime() - now().getTime();
    cancelScheduled = schedule(Math.min(Math.max(milliseconds, 1_000), maxSleepSeconds * 1_000), deliverInBackground);
  }

  const deliverInBackground = (): void => {
    deliver().catch((error: unknown) => {
      log.error({ failure: describeError(error) }, "due mails could not be read"); // the sweep retries
    });
  };

  return {
    async queue(tx, accountId, kind, options) {
      await queueMail(tx, accountId, kind, options);
      queuedCount += 1;
    },
    deliver,
    notify() {
      if (queuedCount > 0) deliverInBackground();
    },
    async stop() {
      isStopped = true;
      cancelScheduled();
      const cancelForcedClose = schedule(stopGraceSeconds * 1_000, () => {
        deps.transport.close();
      });
      await activeDelivery?.catch(() => 0); // logged already
      cancelForcedClose();
      deps.transport.close();
    },
  };
}

/** Queues a mail without a mailer: a running service finds it at its next sweep. */
export async function queueMail(
  tx: Tx,
  accountId: string,
  kind: MailKind,
  { now, language, address, shareId }: QueueOptions,
): Promise<void> {
  await tx.insert(mails).values({
    accountId,
    id: uuidv7({ msecs: now.getTime() }),
    kind,
    address: address ?? null,
    shareId: shareId ?? null,
    createdAt: now,
    dueAt: now,
  });
  if (language != null) await tx.update(accounts).set({ language }).where(eq(accounts.id, accountId));
}

/** Due mails of all accounts, without locking them. */
function findDueMails(db: Db, now: Date): Promise<MailRow[]> {
  return db.select().from(mails).where(lte(mails.dueAt, now)).orderBy(mails.dueAt).limit(batchSize);
}

/** @returns false when another process claimed it first. */
async function claimMail(db: Db, { accountId, id, attempts }: MailRow, now: Date): Promise<boolean> {
  const dueAt = new Date(now.getTime() + claimSeconds * 1_000);
  const claimedMails = await db
    .update(mails)
    .set({ attempts: attempts + 1, dueAt })
    .where(and(whereMail(accountId, id), eq(mails.attempts, attempts), lte(mails.dueAt, now)))
    .returning({ id: mails.id });
  return claimedMails.length === 1;
}

/**
 * Waits a minute after the first failure, twice as long after each further one. Does nothing when
 * another process claimed the mail.
 */
async function postponeMail(db: Db, { accountId, id, attempts }: MailRow, now: Date): Promise<void> {
  const dueAt = new Date(now.getTime() + firstRetrySeconds * 1_000 * 2 ** Math.min(attempts, 8));
  await db
    .update(mails)
    .set({ dueAt })
    .where(and(whereMail(accountId, id), eq(mails.attempts, attempts + 1)));
}

function scheduleTimer(milliseconds: number, callback: () => void): () => void {
  const timer = setTimeout(callback, milliseconds).unref();
  return () => {
    clearTimeout(timer);
  };
}

interface MailDelivery {
  readonly to: string;
  readonly language: Language;
  readonly variables: MailVariables;
}

/** Recipient and values of a mail; null when it is no longer wanted. */
async function resolveDelivery(
  { db, vendors, publicOrigin, recordKey, createUnsubscribeLink }: MailerDeps,
  { accountId, kind, address, shareId, createdAt }: MailRow,
): Promise<MailDelivery | null> {
  const [account] = await db.select().from(accounts).where(eq(accounts.id, accountId));
  const vendor = account === undefined ? null : vendors.find(account.vendorId);
  if (account === undefined || vendor === null) return null;
  const origin = vendor.origin ?? publicOrigin;
  const language = account.language ?? "en";
  const topic = getMailTopic(kind);
  if (topic !== null && account.mutedMailTopics.includes(topic)) return null;
  const unsubscribeVariables =
    topic !== null && allowsOneClickUnsubscribe(topic)
      ? { unsubscribeUrl: await createUnsubscribeLink(accountId, topic) }
      : {};
  const variables: MailVariables = {
    productName: vendor.name,
    portalUrl: origin,
    occurredAt: createdAt,
    ...unsubscribeVariables,
  };

  if (kind === "validate_email") {
    const [pendingValidation] = await db
      .select()
      .from(emailValidations)
      .where(eq(emailValidations.accountId, accountId));
    if (pendingValidation?.address !== address) return null; // a newer validation has its own mail
    const query = new URLSearchParams({
      value: pendingValidation.address,
      nonce: deriveNonce(recordKey, pendingValidation),
    });
    return {
      to: pendingValidation.address,
      language,
      variables: { ...variables, validationUrl: `${origin}/validate-email#${query.toString()}` },
    };
  }
  if (kind === "share_reported")
    // to the operator
    return address === null || shareId === null
      ? null
      : { to: address, language: "en", variables: { ...variables, shareId } };
  if (kind === "feedback") return address === null ? null : { to: address, language: "en", variables };
  const to = address ?? (account.contactEmailVerified ? account.contactEmail : null);
  if (to === null) return null;
  // a device reported a later time
  if (kind === "rehearsal_due" && (account.copyCheckDueAt === null || account.copyCheckDueAt > createdAt)) return null;
  if (kind === "anew_asked") {
    const [pendingReset] = await db
      .select({ readyAt: accountResets.readyAt })
      .from(accountResets)
      .where(and(eq(accountResets.accountId, accountId), isNull(accountResets.endedAt)));
    return pendingReset === undefined
      ? null
      : { to, language, variables: { ...variables, effectiveAt: pendingReset.readyAt } };
  }
  if (kind === "deletion_asked")
    return account.deletionDueAt === null
      ? null
      : { to, language, variables: { ...variables, effectiveAt: account.deletionDueAt } };
  if (kind !== "drop_warning") return { to, language, variables };
  const [oldestTrashed] = await db
    .select({ confirmedAt: min(secrets.trashConfirmedAt), warnedAt: min(secrets.dropWarnedAt) })
    .from(secrets)
    .where(and(eq(secrets.accountId, accountId), isNotNull(secrets.dropWarnedAt), isNull(secrets.droppedAt)));
  if (oldestTrashed?.confirmedAt == null || oldestTrashed.warnedAt == null) return null; // everything was restored
  return {
    to,
    language,
    variables: { ...variables, effectiveAt: getDropTime(oldestTrashed.confirmedAt, oldestTrashed.warnedAt) },
  };
}

async function deleteMail(db: Db, { accountId, id }: MailRow): Promise<void> {
  await db.delete(mails).where(whereMail(accountId, id));
}

const whereMail = (accountId: string, id: string) => and(eq(mails.accountId, accountId), eq(mails.id, id));
