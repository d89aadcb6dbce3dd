import type { MailTopic } from "@relicario/shared/api";
import { and, eq, isNotNull, isNull, lte, min } from "drizzle-orm";
import type { FastifyBaseLogger } from "fastify";
import { v7 as uuidv7 } from "uuid";

import type { Db, Tx } from "../db/database.ts";
import { whileLost } from "../db/faults.ts";
import { accounts, emailValidations, mails, secrets, startAnews } from "../db/schema.ts";
import { factsOf } from "../http/logging.ts";
import { dropTime } from "../secrets/trash-times.ts";
import type { Vendors } from "../vendors/vendors.ts";
import { nonceOf } from "./address-nonce.ts";
import type { Language } from "./language.ts";
import { isForOneClick, topicOf } from "./topics.ts";
import { writeLetter, type LetterFacts, type MailKind } from "./letter.ts";
import { sendSeconds, type Transport } from "./transport.ts";

/*
 * [Note: Mails]
 *
 * 1. `queue`, in the transaction of what the mail is about: a row says that one is due. No row, no
 *    mail; no change, no row.
 * 2. `deliver`, after the commit, when the next one is due, and by the sweep, in any process: rows
 *    are found, then each is claimed at its account by putting its time later than its sending can
 *    last, so that another process leaves it alone and a killed one does not lose it. As many are
 *    claimed as are sent at once: none waits while its claim runs out.
 * 3. The letter is written now, to the address that is verified now, and its row goes. A killed
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
  kick(): void;
  /**
   * Claims nothing any more. What is being delivered has a few seconds, then it is due again later.
   */
  stop(): Promise<void>;
}

export interface MailerParts {
  readonly db: Db;
  readonly vendors: Vendors;
  readonly transport: Transport;
  /** Where mails lead to whose vendor has no portal of its own. */
  readonly origin: string;
  /** RECORD_KEY: nonces are made of it. */
  readonly key: Buffer;
  /** The address by which an account gets no more mails about something (mail/unsubscribe.ts). */
  readonly unsubscribeLink: (accountId: string, about: MailTopic) => Promise<string>;
  readonly log: FastifyBaseLogger;
  readonly now: () => Date;
  /**
   * Calls `wake` once, after so many milliseconds, unless what it returns is called before; a seam
   * for tests.
   */
  readonly wakeAfter?: (milliseconds: number, wake: () => void) => () => void;
}

type MailRow = typeof mails.$inferSelect;

const atOnce = 5;
/** A claim outlasts a sending by far, and what goes before and after it at the database. */
export const claimSeconds = 5 * sendSeconds;
/** What is not taken so long after the process was told to stop is broken off. */
const stopSeconds = 5;
const firstPauseSeconds = 60;
/** The longest sleep; the sweep looks as often. */
const longestSleepSeconds = 600;
const giveUpDays = 3;

export function createMailer(parts: MailerParts): Mailer {
  const { db, log, now, wakeAfter = byTimer } = parts;
  let queued = 0;
  let delivering: Promise<number> | null = null;
  let asked = 0;
  let stopped = false;
  let cancelWaking = (): void => undefined;

  async function deliverAll(): Promise<number> {
    for (let sent = 0; ;) {
      if (stopped) return sent;
      const due = await findDue(db, now());
      const claims = await Promise.all(due.map(async (row) => ({ row, claimed: await claim(db, row, now()) })));
      const claimed = claims.flatMap(({ row, claimed }) => (claimed ? [row] : []));
      queued = Math.max(0, queued - claimed.length);
      sent += (await Promise.all(claimed.map(deliverOne))).filter(Boolean).length;
      if (due.length < atOnce) return sent;
    }
  }

  async function deliverOne(row: MailRow): Promise<boolean> {
    let sent = false;
    try {
      const { to, language, facts } = (await addressed(parts, row)) ?? {};
      if (to !== undefined && language !== undefined && facts !== undefined) {
        await parts.transport.send(to, writeLetter(row.kind, language, facts));
        log.info({ mail: row.kind }, "mailed");
        sent = true;
      }
      await whileLost(() => forget(db, row));
      return sent;
    } catch (error) {
      if (sent) throw error; // the letter is with its reader: it is not put off, its claim runs out
      const late = now().getTime() - row.createdAt.getTime() > giveUpDays * 86_400_000;
      log.error(
        { mail: row.kind, attempts: row.attempts, given_up: late, failure: factsOf(error) },
        "a mail could not be sent",
      );
      await (late ? forget(db, row) : postpone(db, row, now()));
      return false;
    }
  }

  /**
   * One at a time. Who asks meanwhile may have queued what the run under way did not see: it looks
   * once more.
   */
  const deliver = (): Promise<number> => {
    if (stopped) return Promise.resolve(0);
    asked += 1;
    delivering ??= deliverUntilNobodyAsks();
    return delivering;
  };

  async function deliverUntilNobodyAsks(): Promise<number> {
    try {
      let sent = 0;
      for (let before = -1; before !== asked;) {
        before = asked;
        sent += await deliverAll();
      }
      await sleepUntilDue();
      return sent;
    } finally {
      delivering = null;
    }
  }

  /** For whatever is due next, whoever queued or failed to send it. */
  async function sleepUntilDue(): Promise<void> {
    const [next] = await db.select({ dueAt: min(mails.dueAt) }).from(mails);
    cancelWaking();
    if (stopped || next?.dueAt == null) return;
    const milliseconds = next.dueAt.getTime() - now().getTime();
    cancelWaking = wakeAfter(Math.min(Math.max(milliseconds, 1_000), longestSleepSeconds * 1_000), inBackground);
  }

  const inBackground = (): void => {
    deliver().catch((error: unknown) => {
      log.error({ failure: factsOf(error) }, "mails could not be looked for"); // they are due again by the sweep
    });
  };

  return {
    async queue(tx, accountId, kind, options) {
      await queueMail(tx, accountId, kind, options);
      queued += 1;
    },
    deliver,
    kick() {
      if (queued > 0) inBackground();
    },
    async stop() {
      stopped = true;
      cancelWaking();
      const cancelCut = wakeAfter(stopSeconds * 1_000, () => {
        parts.transport.close();
      });
      await delivering?.catch(() => 0); // said above
      cancelCut();
      parts.transport.close();
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
function findDue(db: Db, now: Date): Promise<MailRow[]> {
  return db.select().from(mails).where(lte(mails.dueAt, now)).orderBy(mails.dueAt).limit(atOnce);
}

/** @returns false when another process was before. */
async function claim(db: Db, { accountId, id, attempts }: MailRow, now: Date): Promise<boolean> {
  const dueAt = new Date(now.getTime() + claimSeconds * 1_000);
  const claimed = await db
    .update(mails)
    .set({ attempts: attempts + 1, dueAt })
    .where(and(isThat(accountId, id), eq(mails.attempts, attempts), lte(mails.dueAt, now)))
    .returning({ id: mails.id });
  return claimed.length === 1;
}

/**
 * A minute after the first failure, twice as long after each further one; unless another process
 * has claimed it since.
 */
async function postpone(db: Db, { accountId, id, attempts }: MailRow, now: Date): Promise<void> {
  const dueAt = new Date(now.getTime() + firstPauseSeconds * 1_000 * 2 ** Math.min(attempts, 8));
  await db
    .update(mails)
    .set({ dueAt })
    .where(and(isThat(accountId, id), eq(mails.attempts, attempts + 1)));
}

function byTimer(milliseconds: number, wake: () => void): () => void {
  const timer = setTimeout(wake, milliseconds).unref();
  return () => {
    clearTimeout(timer);
  };
}

interface Addressed {
  readonly to: string;
  readonly language: Language;
  readonly facts: LetterFacts;
}

/** Whom it goes to and what it may say; null when nobody is to be told any more. */
async function addressed(
  { db, vendors, origin: publicOrigin, key, unsubscribeLink }: MailerParts,
  { accountId, kind, address, shareId, createdAt }: MailRow,
): Promise<Addressed | null> {
  const [account] = await db.select().from(accounts).where(eq(accounts.id, accountId));
  const vendor = account === undefined ? null : vendors.find(account.vendorId);
  if (account === undefined || vendor === null) return null;
  const origin = vendor.origin ?? publicOrigin;
  const language = account.language ?? "en";
  const topic = topicOf(kind);
  if (topic !== null && account.mailsOff.includes(topic)) return null;
  const unsubscribe =
    topic !== null && isForOneClick(topic) ? { unsubscribe: await unsubscribeLink(accountId, topic) } : {};
  const facts: LetterFacts = { product: vendor.name, link: origin, at: createdAt, ...unsubscribe };

  if (kind === "validate_email") {
    const [question] = await db.select().from(emailValidations).where(eq(emailValidations.accountId, accountId));
    if (question?.address !== address) return null; // another address is asked by now, with a mail of its own
    const query = new URLSearchParams({ value: question.address, nonce: nonceOf(key, question) });
    return {
      to: question.address,
      language,
      facts: { ...facts, validation: `${origin}/validate-email#${query.toString()}` },
    };
  }
  if (kind === "share_reported")
    // the operator's, not the account's
    return address === null || shareId === null ? null : { to: address, language: "en", facts: { ...facts, shareId } };
  if (kind === "feedback") return address === null ? null : { to: address, language: "en", facts };
  const to = address ?? (account.contactEmailVerified ? account.contactEmail : null);
  if (to === null) return null;
  // a device said since that it is not
  if (kind === "rehearsal_due" && (account.rehearsalDueAt === null || account.rehearsalDueAt > createdAt)) return null;
  if (kind === "anew_asked") {
    const [waiting] = await db
      .select({ readyAt: startAnews.readyAt })
      .from(startAnews)
      .where(and(eq(startAnews.accountId, accountId), isNull(startAnews.endedAt)));
    return waiting === undefined ? null : { to, language, facts: { ...facts, dropAt: waiting.readyAt } };
  }
  if (kind === "deletion_asked")
    return account.deletionDueAt === null ? null : { to, language, facts: { ...facts, dropAt: account.deletionDueAt } };
  if (kind !== "drop_warning") return { to, language, facts };
  const [oldest] = await db
    .select({ deletedAt: min(secrets.deletedAt), warnedAt: min(secrets.dropWarnedAt) })
    .from(secrets)
    .where(and(eq(secrets.accountId, accountId), isNotNull(secrets.dropWarnedAt), isNull(secrets.droppedAt)));
  if (oldest?.deletedAt == null || oldest.warnedAt == null) return null; // all of it was taken out of the trash
  return { to, language, facts: { ...facts, dropAt: dropTime(oldest.deletedAt, oldest.warnedAt) } };
}

async function forget(db: Db, { accountId, id }: MailRow): Promise<void> {
  await db.delete(mails).where(isThat(accountId, id));
}

const isThat = (accountId: string, id: string) => and(eq(mails.accountId, accountId), eq(mails.id, id));
