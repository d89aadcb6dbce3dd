import { createHmac } from "node:crypto";

import { maxImageRecordReadsPerHour } from "@relicario/shared/api";
import { getClientNetwork } from "@relicario/tooling/http";
import { and, eq, lt, or, sql } from "drizzle-orm";

import type { Db, Tx } from "../db/database.ts";
import { findDatabaseFault, retryOnConnectionLoss } from "../db/faults.ts";
import { rateLimits } from "../db/schema.ts";
import { deleteInBatches, type SweepContext } from "../resource/sweep-context.ts";
import { Problem } from "./problem.ts";

export interface RateLimitRule {
  readonly name: string;
  readonly maxCalls: number;
  readonly windowSeconds: number;
  /** What calls are counted by; `subject` is chosen by the caller of `consume`. */
  readonly per: "account" | "address" | "subject" | "global";
}

export const rateLimitRules = {
  /** Refused token exchanges. */
  exchange: { name: "exchange", maxCalls: 300, windowSeconds: 60, per: "address" },
  /** Token exchanges with a valid token. */
  exchangePerPerson: { name: "exchange_person", maxCalls: 120, windowSeconds: 60, per: "subject" },
  /**
   * Sign-ins, not renewals. In an office of 25,000 people, half of whom sign in within ten minutes,
   * some 2,000 sign in during the busiest minute.
   */
  signIn: { name: "sign_in", maxCalls: 2_500, windowSeconds: 60, per: "address" },
  signInGlobal: { name: "sign_in_all", maxCalls: 6_000, windowSeconds: 60, per: "global" },
  write: { name: "write", maxCalls: 1_200, windowSeconds: 60, per: "account" },
  /**
   * Counts taken names too: otherwise one account could reserve many names, or probe who has an
   * account.
   */
  rename: { name: "rename", maxCalls: 20, windowSeconds: 24 * 3_600, per: "account" },
  /** Checks of a name while it is typed. */
  validateName: { name: "validate_name", maxCalls: 300, windowSeconds: 3_600, per: "account" },
  /** The provider counts wrong passwords too. */
  changePassword: { name: "change_password", maxCalls: 20, windowSeconds: 3_600, per: "account" },
  passwordRules: { name: "password_rules", maxCalls: 60, windowSeconds: 3_600, per: "account" },
  feedback: { name: "feedback", maxCalls: 10, windowSeconds: 3_600, per: "account" },
  /** Mails to the operator. */
  feedbackMail: { name: "mail_of_feedback", maxCalls: 50, windowSeconds: 24 * 3_600, per: "subject" },
  billing: { name: "billing", maxCalls: 60, windowSeconds: 3_600, per: "account" },
  imageRecords: { name: "image_records", maxCalls: maxImageRecordReadsPerHour, windowSeconds: 3_600, per: "account" },
  requestValidation: { name: "ask_address", maxCalls: 5, windowSeconds: 3_600, per: "account" },
  requestValidationGlobal: { name: "ask_address_all", maxCalls: 1_000, windowSeconds: 3_600, per: "global" },
  /** Validation mails to one unverified mailbox, from all accounts. */
  validationPerRecipient: { name: "ask_recipient", maxCalls: 5, windowSeconds: 24 * 3_600, per: "subject" },
  confirmAddress: { name: "answer_address", maxCalls: 20, windowSeconds: 3_600, per: "account" },
  /** Each call causes mails. */
  resetAccount: { name: "start_anew", maxCalls: 20, windowSeconds: 24 * 3_600, per: "account" },
  deleteAccount: { name: "delete_account", maxCalls: 20, windowSeconds: 24 * 3_600, per: "account" },
  unsubscribe: { name: "unsubscribe", maxCalls: 60, windowSeconds: 3_600, per: "address" },
  createShare: { name: "make_share", maxCalls: 500, windowSeconds: 24 * 3_600, per: "account" },
  /** Shares of one account with one recipient, which could otherwise fill the recipient's list. */
  shareWithPerson: { name: "share_with_person", maxCalls: 50, windowSeconds: 24 * 3_600, per: "subject" },
  /** Reading and opening shares and requests. A company may open many links from one address. */
  visit: { name: "visit", maxCalls: 300, windowSeconds: 60, per: "address" },
  /** Openings per share, counted only after the proof. */
  openShare: { name: "open_share", maxCalls: 600, windowSeconds: 60, per: "subject" },
  downloadShared: { name: "download_shared", maxCalls: 600, windowSeconds: 60, per: "address" },
  report: { name: "report", maxCalls: 20, windowSeconds: 3_600, per: "address" },
  /** Stored reports of one share. */
  reportsPerShare: { name: "reports_of_share", maxCalls: 20, windowSeconds: 24 * 3_600, per: "subject" },
  /** First report of a share per day, about which the operator gets a mail. */
  firstReport: { name: "first_report", maxCalls: 1, windowSeconds: 24 * 3_600, per: "subject" },
  /** Measurements of pages; an office may have one address. */
  telemetry: { name: "telemetry", maxCalls: 120, windowSeconds: 60, per: "address" },
  /** Calls of all callers; beyond the limit, measurements are not counted. */
  telemetryGlobal: { name: "telemetry_all", maxCalls: 6_000, windowSeconds: 60, per: "global" },
  policyReport: { name: "policy_report", maxCalls: 60, windowSeconds: 60, per: "address" },
  createRequest: { name: "make_request", maxCalls: 200, windowSeconds: 24 * 3_600, per: "account" },
  startAnswer: { name: "start_answer", maxCalls: 60, windowSeconds: 3_600, per: "address" },
  /** Answers per request, counted only after the proof. */
  answersPerRequest: { name: "answers_of_request", maxCalls: 60, windowSeconds: 3_600, per: "subject" },
  answerPart: { name: "answer_part", maxCalls: 600, windowSeconds: 60, per: "address" },
  /** Mails per recipient that other users cause. */
  mailToRecipient: { name: "mail_to_recipient", maxCalls: 5, windowSeconds: 24 * 3_600, per: "subject" },
  shareMail: { name: "mail_of_share", maxCalls: 10, windowSeconds: 24 * 3_600, per: "subject" },
  reportMail: { name: "mail_of_reports", maxCalls: 50, windowSeconds: 24 * 3_600, per: "subject" },
  fillDeviceLink: { name: "fill_device_link", maxCalls: 20, windowSeconds: 3_600, per: "account" },
  /** A waiting device polls every two seconds. */
  readDeviceLink: { name: "read_device_link", maxCalls: 240, windowSeconds: 60, per: "account" },
  keyDirectory: { name: "key_directory", maxCalls: 120, windowSeconds: 3_600, per: "account" },
} as const satisfies Record<string, RateLimitRule>;

export const rateLimitNames = Object.values(rateLimitRules).map(({ name }) => name);

/** Numbers of calls, by rule name. */
export type RateLimitOverrides = Readonly<Partial<Record<string, number>>>;

interface RateLimitCaller {
  readonly accountId?: string | null;
  readonly address?: string;
  /** Stored as a keyed digest. */
  readonly subject?: string;
}

export interface RateLimiter {
  /**
   * Counts a call.
   *
   * @param tx to count in a transaction, which a rollback undoes; ignored for a `global` rule
   * @throws Problem `too_many_requests` with `Retry-After` when the window is full.
   */
  consume(rule: RateLimitRule, caller: RateLimitCaller, tx?: Tx): Promise<void>;
  /** Counts a call. @returns false when the window is full */
  tryConsume(rule: RateLimitRule, caller: RateLimitCaller, tx?: Tx): Promise<boolean>;
  deleteExpiredWindows(context: SweepContext): Promise<void>;
}

/** Calls of a window that this process may admit without the database. */
interface Lease {
  /** Seconds since 1970. */
  readonly startSeconds: number;
  remaining: number;
  /** The database has no further calls for this window. */
  readonly windowExhausted: boolean;
}

const leasesPerWindow = 100;
/**
 * Maximum calls leased at once for an account, IP address or subject; a process that ends loses up
 * to as many.
 */
const maxLeaseCalls = 12;
/** Cached leases per process. */
const maxLeases = 10_000;

/**
 * Counts calls in fixed windows, across processes, in the database. IP addresses are stored only as
 * keyed digests.
 *
 * A process leases a hundredth of a window at a time and counts it in memory, which saves writes.
 * No more calls pass than the rule allows; a process that ends loses the rest of its leases. While
 * a window's row cannot be written, each process admits the rule's number by itself.
 */
export function createRateLimiter(
  db: Db,
  hmacKey: Buffer,
  now: () => Date = () => new Date(),
  overrides: RateLimitOverrides = {},
): RateLimiter {
  /** Leases by rule and subject; a lease without calls marks a full window. */
  const leases = new Map<string, Lease>();
  const pendingLeases = new Map<string, Promise<void>>();

  /** Adds calls to a window. @returns the window's total */
  async function addCalls(
    executor: Db | Tx,
    rule: RateLimitRule,
    subject: string,
    startSeconds: number,
    calls: number,
  ): Promise<number> {
    const [row] = await executor
      .insert(rateLimits)
      .values({ subject, rule: rule.name, windowStart: new Date(startSeconds * 1_000), calls })
      .onConflictDoUpdate({
        target: [rateLimits.subject, rateLimits.rule, rateLimits.windowStart],
        set: { calls: sql`${rateLimits.calls} + ${calls}` },
      })
      .returning({ calls: rateLimits.calls });
    return row?.calls ?? calls;
  }

  /** Refuses calls of a full window without asking the database. */
  async function consumeFromLease(
    rule: RateLimitRule,
    subject: string,
    limit: number,
    startSeconds: number,
  ): Promise<boolean> {
    const leaseKey = `${rule.name} ${subject}`;
    for (;;) {
      const lease = leases.get(leaseKey);
      if (lease !== undefined && lease.startSeconds >= startSeconds) {
        if (lease.remaining > 0) {
          lease.remaining -= 1;
          return true;
        }
        if (lease.windowExhausted) return false;
      }
      // One caller leases, the others wait for it.
      if (!pendingLeases.has(leaseKey))
        pendingLeases.set(
          leaseKey,
          takeLease(rule, subject, limit, startSeconds).finally(() => pendingLeases.delete(leaseKey)),
        );
      await pendingLeases.get(leaseKey);
    }
  }

  async function takeLease(rule: RateLimitRule, subject: string, limit: number, startSeconds: number): Promise<void> {
    const defaultLeaseCalls = Math.ceil(limit / leasesPerWindow);
    const leaseCalls = rule.per === "global" ? defaultLeaseCalls : Math.min(defaultLeaseCalls, maxLeaseCalls);
    const lease = await addCallsUnlessLost();
    if (leases.size >= maxLeases) leases.clear(); // a full window will be found full again
    leases.set(`${rule.name} ${subject}`, lease);

    /** While its row's shard is lost, this process counts the window alone. */
    async function addCallsUnlessLost(): Promise<Lease> {
      try {
        // a retry may count a call twice
        const total = await retryOnConnectionLoss(() => addCalls(db, rule, subject, startSeconds, leaseCalls));
        const remaining = Math.max(0, leaseCalls - Math.max(0, total - limit));
        return { startSeconds, remaining, windowExhausted: remaining < leaseCalls };
      } catch (error) {
        const fault = findDatabaseFault(error);
        if (fault === null || fault === "unreachable") throw error;
        return { startSeconds, remaining: limit, windowExhausted: true };
      }
    }
  }

  function getCurrentWindow({ windowSeconds }: RateLimitRule): { startSeconds: number; secondsLeft: number } {
    const seconds = Math.floor(now().getTime() / 1_000);
    const startSeconds = seconds - (seconds % windowSeconds);
    return { startSeconds, secondsLeft: startSeconds + windowSeconds - seconds };
  }

  async function tryConsume(rule: RateLimitRule, caller: RateLimitCaller, tx?: Tx): Promise<boolean> {
    const limit = overrides[rule.name] ?? rule.maxCalls;
    const { startSeconds } = getCurrentWindow(rule);
    const subject = rule.per === "global" ? "" : deriveSubject(hmacKey, rule, caller);
    return tx === undefined || rule.per === "global"
      ? consumeFromLease(rule, subject, limit, startSeconds)
      : (await addCalls(tx, rule, subject, startSeconds, 1)) <= limit;
  }

  return {
    tryConsume,
    async consume(rule, caller, tx) {
      const { secondsLeft } = getCurrentWindow(rule);
      if (!(await tryConsume(rule, caller, tx)))
        throw new Problem("too_many_requests", { headers: { "retry-after": String(secondsLeft) } });
    },
    async deleteExpiredWindows(context) {
      const { subject, rule, windowStart } = rateLimits;
      const rules = Object.values(rateLimitRules);
      const whereStartedBefore = (windowSeconds: number) =>
        lt(windowStart, new Date(context.now.getTime() - windowSeconds * 1_000));
      // also covers rules that no longer exist
      const longestWindowSeconds = Math.max(...rules.map(({ windowSeconds }) => windowSeconds));
      const expiredCondition = or(
        whereStartedBefore(longestWindowSeconds),
        ...rules.map(({ name, windowSeconds }) => and(eq(rule, name), whereStartedBefore(windowSeconds))),
      );
      await deleteInBatches(context, (batchSize) => {
        const batch = db
          .select({ subject, rule, windowStart })
          .from(rateLimits)
          .where(expiredCondition)
          .orderBy(windowStart) // by its index, past no rows that were deleted before
          .limit(batchSize);
        return db.delete(rateLimits).where(sql`(${subject}, ${rule}, ${windowStart}) in ${batch}`);
      });
    },
  };
}

function deriveSubject(
  hmacKey: Buffer,
  { name, per }: RateLimitRule,
  { accountId, address, subject }: RateLimitCaller,
): string {
  if (per === "account" && accountId != null) return accountId;
  const subjectText = per === "subject" ? subject : address && getClientNetwork(address);
  if (subjectText === undefined) throw new Error(`no subject for ${name}`);
  return createHmac("sha256", hmacKey).update(`relicario/rate\n${subjectText}`).digest("base64url");
}
