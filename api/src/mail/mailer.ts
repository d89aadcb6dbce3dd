import type { MailTopic } from "@relicario/shared/api";
import { and, eq, isNotNull, isNull, lte, min } from "drizzle-orm";
import type { FastifyBaseLogger } from "fastify";
import { v7 as uuidv7 } from "uuid";

import type { Db, Tx } from "../db/database.ts";
import { retryOnConnectionLoss } from "../db/faults.ts";
import { accounts, emailValidations, mails, secrets, accountResets } from "../db/schema.ts";
import { describeError } from "../http/logging.ts";
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
 * 1. `queue`, in the transaction of what the mail is about: a row says that one is due. No row, no
 *    mail; no change, no row.
 * 2. `deliver`, after the commit, when the next one is due, and by the sweep, in any process: rows
 *    are found, then each is claimed at its account by putting its time later than its sending can
 *    last, so that another process leaves it alone and a killed one does not lose it. As many are
 *    claimed as are sent at once: none waits while its claim runs out.
 * 3. The mail is written now, to the address that is verified now, and its row goes. A killed
 *    process, or one whose database goes away between the two, may send one twice: once its claim
 *    is over.
 * 4. What was not taken is due after a minute, then two, four …
 */

interface QueueOptions {
  readonly now: Date;
  /**
   * What the account's owner reads, where it is them who call; it is remembered for mails that
   * nobody calls for.
   */
  readonly language?: Language | null;
  /** Whom it goes to, where that is not the account's verified address. */
  readonly address?: string;
  /** The share that it is about. */
  readonly shareId?: string;
}

export interface Mailer {
  queue(tx: Tx, accountId: string, kind: MailKind, options: QueueOptions): Promise<void>;
  /** Sends what is due. @returns how many mails were handed over. */
  deliver(): Promise<number>;
  /** Delivers in the background when something was queued by this process. */
  notify(): void;
  /**
   * Claims nothing any more. What is being delivered has a few seconds, then it is due again later.
   */
  stop(): Promise<void>;
}

export interface MailerDeps {
  readonly db: Db;
  readonly vendors: Vendors;
  readonly transport: MailTransport;
  /** Where mails lead to whose vendor has no portal of its own. */
  readonly origin: string;
  /** RECORD_KEY: nonces are made of it. */
  readonly key: Buffer;
  /** The address by which an account gets no more mails about something (mail/unsubscribe.ts). */
  readonly unsubscribeLink: (accountId: string, about: MailTopic) => Promise<string>;
  readonly log: FastifyBaseLogger;
  readonly now: () => Date;
  /**
   * Calls `callback` once, after so many milliseconds, unless what it returns is called before; a
   * seam for tests.
   */
  readonly schedule?: (milliseconds: number, callback: () => void) => () => void;
}

type MailRow = typeof mails.$inferSelect;

const batchSize = 5;
/** A claim outlasts a sending by far, and what goes before and after it at the database. */
export const claimSeconds = 5 * sendTimeoutSeconds;
/** What is not taken so long after the process was told to stop is broken off. */
const stopGraceSeconds = 5;
const firstRetrySeconds = 60;
/** The longest sleep; the sweep looks as often. */
const maxSleepSeconds = 600;
const maxRetryDays = 3;

export function createMailer(deps: MailerDeps): Mailer {
  const { db, log, now, schedule = scheduleTimer } = deps;
  let queuedCount = 0;
  let activeDelivery: Promise<number> | null = null;
  let deliveryRequests = 0;
  let stopped = false;
  let cancelScheduled = (): void => undefined;

  async function deliverDue(): Promise<number> {
    for (let sentCount = 0; ;) {
      if (stopped) return sentCount;
      const dueRows = await findDueMails(db, now());
      const claims = await Promise.all(dueRows.map(async (row) => ({ row, claimed: await claimMail(db, row, now()) })));
      const claimed = claims.flatMap(({ row, claimed }) => (claimed ? [row] : []));
      queuedCount = Math.max(0, queuedCount - claimed.length);
      sentCount += (await Promise.all(claimed.map(deliverMail))).filter(Boolean).length;
      if (dueRows.length < batchSize) return sentCount;
    }
  }

  async function deliverMail(row: MailRow): Promise<boolean> {
    let isSent = false;
    try {
      const { to, language, facts } = (await resolveDelivery(deps, row)) ?? {};
      if (to !== undefined && language !== undefined && facts !== undefined) {
        await deps.transport.send(to, renderMail(row.kind, language, facts));
        log.info({ mail: row.kind }, "mailed");
        isSent = true;
      }
      await retryOnConnectionLoss(() => deleteMail(db, row));
      return isSent;
    } catch (error) {
      if (isSent) throw error; // the mail is with its reader: it is not put off, its claim runs out
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
   * One at a time. Who asks meanwhile may have queued what the run under way did not see: it looks
   * once more.
   */
  const deliver = (): Promise<number> => {
    if (stopped) return Promise.resolve(0);
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
        await scheduleNext(); // in the loop, so that a request that comes meanwhile is handled too
      }
      return sentCount;
    } finally {
      activeDelivery = null;
    }
  }

  /** For whatever is due next, whoever queued or failed to send it. */
  async function scheduleNext(): Promise<void> {
    const [next] = await db.select({ dueAt: min(mails.dueAt) }).from(mails);
    cancelScheduled();
    if (stopped || next?.dueAt == null) return;
    const milliseconds = next.dueAt.getTime() - now().getTime();
    cancelScheduled = schedule(Math.min(Math.max(milliseconds, 1_000), maxSleepSeconds * 1_000), deliverInBackground);
  }

  const deliverInBackground = (): void => {
    deliver().catch((error: unknown) => {
      log.error({ failure: describeError(error) }, "mails could not be looked for"); // they are due again by the sweep
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
      stopped = true;
      cancelScheduled();
      const cancelForcedClose = schedule(stopGraceSeconds * 1_000, () => {
        deps.transport.close();
      });
      await activeDelivery?.catch(() => 0); // said above
      cancelForcedClose();
      deps.transport.close();
    },
  };
}

/**
 * Says that a mail is due, without a process that sends: a running service finds it at its next
 * sweep.
 */
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

/** Mails that are due, of any account; nothing is held. */
function findDueMails(db: Db, now: Date): Promise<MailRow[]> {
  return db.select().from(mails).where(lte(mails.dueAt, now)).orderBy(mails.dueAt).limit(batchSize);
}

/** @returns false when another process was before. */
async function claimMail(db: Db, { accountId, id, attempts }: MailRow, now: Date): Promise<boolean> {
  const dueAt = new Date(now.getTime() + claimSeconds * 1_000);
  const claimedMails = await db
    .update(mails)
    .set({ attempts: attempts + 1, dueAt })
    .where(and(matchesMail(accountId, id), eq(mails.attempts, attempts), lte(mails.dueAt, now)))
    .returning({ id: mails.id });
  return claimedMails.length === 1;
}

/**
 * A minute after the first failure, twice as long after each further one; unless another process
 * has claimed it since.
 */
async function postponeMail(db: Db, { accountId, id, attempts }: MailRow, now: Date): Promise<void> {
  const dueAt = new Date(now.getTime() + firstRetrySeconds * 1_000 * 2 ** Math.min(attempts, 8));
  await db
    .update(mails)
    .set({ dueAt })
    .where(and(matchesMail(accountId, id), eq(mails.attempts, attempts + 1)));
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
  readonly facts: MailVariables;
}

/** Whom it goes to and what it may say; null when nobody is to be told any more. */
async function resolveDelivery(
  { db, vendors, origin: publicOrigin, key, unsubscribeLink }: MailerDeps,
  { accountId, kind, address, shareId, createdAt }: MailRow,
): Promise<MailDelivery | null> {
  const [account] = await db.select().from(accounts).where(eq(accounts.id, accountId));
  const vendor = account === undefined ? null : vendors.find(account.vendorId);
  if (account === undefined || vendor === null) return null;
  const origin = vendor.origin ?? publicOrigin;
  const language = account.language ?? "en";
  const topic = getMailTopic(kind);
  if (topic !== null && account.mailsOff.includes(topic)) return null;
  const unsubscribeVariables =
    topic !== null && allowsOneClickUnsubscribe(topic) ? { unsubscribe: await unsubscribeLink(accountId, topic) } : {};
  const variables: MailVariables = {
    product: vendor.name,
    link: origin,
    occurredAt: createdAt,
    ...unsubscribeVariables,
  };

  if (kind === "validate_email") {
    const [pendingValidation] = await db
      .select()
      .from(emailValidations)
      .where(eq(emailValidations.accountId, accountId));
    if (pendingValidation?.address !== address) return null; // another address is asked by now, with a mail of its own
    const query = new URLSearchParams({ value: pendingValidation.address, nonce: deriveNonce(key, pendingValidation) });
    return {
      to: pendingValidation.address,
      language,
      facts: { ...variables, validationUrl: `${origin}/validate-email#${query.toString()}` },
    };
  }
  if (kind === "share_reported")
    // the operator's, not the account's
    return address === null || shareId === null
      ? null
      : { to: address, language: "en", facts: { ...variables, shareId } };
  if (kind === "feedback") return address === null ? null : { to: address, language: "en", facts: variables };
  const to = address ?? (account.contactEmailVerified ? account.contactEmail : null);
  if (to === null) return null;
  // a device said since that it is not
  if (kind === "rehearsal_due" && (account.rehearsalDueAt === null || account.rehearsalDueAt > createdAt)) return null;
  if (kind === "anew_asked") {
    const [pendingReset] = await db
      .select({ readyAt: accountResets.readyAt })
      .from(accountResets)
      .where(and(eq(accountResets.accountId, accountId), isNull(accountResets.endedAt)));
    return pendingReset === undefined
      ? null
      : { to, language, facts: { ...variables, effectiveAt: pendingReset.readyAt } };
  }
  if (kind === "deletion_asked")
    return account.deletionDueAt === null
      ? null
      : { to, language, facts: { ...variables, effectiveAt: account.deletionDueAt } };
  if (kind !== "drop_warning") return { to, language, facts: variables };
  const [oldest] = await db
    .select({ deletedAt: min(secrets.deletedAt), warnedAt: min(secrets.dropWarnedAt) })
    .from(secrets)
    .where(and(eq(secrets.accountId, accountId), isNotNull(secrets.dropWarnedAt), isNull(secrets.droppedAt)));
  if (oldest?.deletedAt == null || oldest.warnedAt == null) return null; // all of it was taken out of the trash
  return { to, language, facts: { ...variables, effectiveAt: getDropTime(oldest.deletedAt, oldest.warnedAt) } };
}

async function deleteMail(db: Db, { accountId, id }: MailRow): Promise<void> {
  await db.delete(mails).where(matchesMail(accountId, id));
}

const matchesMail = (accountId: string, id: string) => and(eq(mails.accountId, accountId), eq(mails.id, id));
