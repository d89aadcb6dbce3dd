import { createHmac } from "node:crypto";

import { maxImageRecordReadsPerHour } from "@relicario/shared/api";
import { and, eq, lt, or, sql } from "drizzle-orm";

import type { Db, Tx } from "../db/database.ts";
import { rateLimits } from "../db/schema.ts";
import { deleteInBatches, type SweepContext } from "../resource/sweep-context.ts";
import { getAddressGroup } from "./address-group.ts";
import { Problem } from "./problem.ts";

export interface RateLimitRule {
  readonly name: string;
  readonly calls: number;
  readonly windowSeconds: number;
  /** Whose calls are counted together; `subject` is what the caller of `consume` names. */
  readonly per: "account" | "address" | "subject" | "global";
}

export const rateLimitRules = {
  exchange: { name: "exchange", calls: 300, windowSeconds: 60, per: "address" },
  /** The next two count tokens whose signature was verified, and no others. */
  exchangePerPerson: { name: "exchange_person", calls: 120, windowSeconds: 60, per: "subject" },
  exchangeGlobal: { name: "exchange_all", calls: 6_000, windowSeconds: 60, per: "global" },
  write: { name: "write", calls: 1_200, windowSeconds: 60, per: "account" },
  /** Names asked for, taken ones too: else one account lays many aside, or lists who is here. */
  rename: { name: "rename", calls: 20, windowSeconds: 24 * 3_600, per: "account" },
  /** Names asked about as they are typed. */
  validateName: { name: "validate_name", calls: 300, windowSeconds: 3_600, per: "account" },
  /** The provider counts wrong passwords by itself, too. */
  changePassword: { name: "change_password", calls: 20, windowSeconds: 3_600, per: "account" },
  passwordRules: { name: "password_rules", calls: 60, windowSeconds: 3_600, per: "account" },
  feedback: { name: "feedback", calls: 10, windowSeconds: 3_600, per: "account" },
  /** Mails to the operator. */
  feedbackMail: { name: "mail_of_feedback", calls: 50, windowSeconds: 24 * 3_600, per: "subject" },
  billing: { name: "billing", calls: 60, windowSeconds: 3_600, per: "account" },
  imageRecords: { name: "image_records", calls: maxImageRecordReadsPerHour, windowSeconds: 3_600, per: "account" },
  requestValidation: { name: "ask_address", calls: 5, windowSeconds: 3_600, per: "account" },
  requestValidationGlobal: { name: "ask_address_all", calls: 1_000, windowSeconds: 3_600, per: "global" },
  /** Mails to one mailbox that nobody has shown to be theirs, whoever asks for them. */
  validationPerRecipient: { name: "ask_recipient", calls: 5, windowSeconds: 24 * 3_600, per: "subject" },
  confirmAddress: { name: "answer_address", calls: 20, windowSeconds: 3_600, per: "account" },
  /** Each leads to mails. */
  resetAccount: { name: "start_anew", calls: 20, windowSeconds: 24 * 3_600, per: "account" },
  deleteAccount: { name: "delete_account", calls: 20, windowSeconds: 24 * 3_600, per: "account" },
  unsubscribe: { name: "unsubscribe", calls: 60, windowSeconds: 3_600, per: "address" },
  createShare: { name: "make_share", calls: 500, windowSeconds: 24 * 3_600, per: "account" },
  /** Of one account with one other: else it fills the other's list. */
  shareWithPerson: { name: "share_with_person", calls: 50, windowSeconds: 24 * 3_600, per: "subject" },
  /**
   * Looks and openings, of shares and requests. A link that went to a company is opened from one
   * address.
   */
  visit: { name: "visit", calls: 300, windowSeconds: 60, per: "address" },
  /** Of one share, by whoever proved that they may open it. */
  openShare: { name: "open_share", calls: 600, windowSeconds: 60, per: "subject" },
  downloadShared: { name: "download_shared", calls: 600, windowSeconds: 60, per: "address" },
  report: { name: "report", calls: 20, windowSeconds: 3_600, per: "address" },
  /** Kept ones, of one share. */
  reportsPerShare: { name: "reports_of_share", calls: 20, windowSeconds: 24 * 3_600, per: "subject" },
  /** The one that the operator is told of. */
  firstReport: { name: "first_report", calls: 1, windowSeconds: 24 * 3_600, per: "subject" },
  /** Measurements of pages; an office may have one address. */
  telemetry: { name: "telemetry", calls: 120, windowSeconds: 60, per: "address" },
  /** What all together may write; more is not counted. */
  telemetryGlobal: { name: "telemetry_all", calls: 6_000, windowSeconds: 60, per: "global" },
  policyReport: { name: "policy_report", calls: 60, windowSeconds: 60, per: "address" },
  createRequest: { name: "make_request", calls: 200, windowSeconds: 24 * 3_600, per: "account" },
  startAnswer: { name: "start_answer", calls: 60, windowSeconds: 3_600, per: "address" },
  /** Of one request, by whoever proved that they have its link. */
  answersPerRequest: { name: "answers_of_request", calls: 60, windowSeconds: 3_600, per: "subject" },
  answerPart: { name: "answer_part", calls: 600, windowSeconds: 60, per: "address" },
  /** Mails that others cause, for each of those who get them. */
  mailToRecipient: { name: "mail_to_recipient", calls: 5, windowSeconds: 24 * 3_600, per: "subject" },
  shareMail: { name: "mail_of_share", calls: 10, windowSeconds: 24 * 3_600, per: "subject" },
  reportMail: { name: "mail_of_reports", calls: 50, windowSeconds: 24 * 3_600, per: "subject" },
  fillDeviceLink: { name: "fill_device_link", calls: 20, windowSeconds: 3_600, per: "account" },
  /** Looks at mailboxes: a device that waits looks every two seconds. */
  readDeviceLink: { name: "read_device_link", calls: 240, windowSeconds: 60, per: "account" },
  keyDirectory: { name: "key_directory", calls: 120, windowSeconds: 3_600, per: "account" },
} as const satisfies Record<string, RateLimitRule>;

export const rateLimitNames = Object.values(rateLimitRules).map(({ name }) => name);

/** Other numbers of calls than those above, by the rules' names. */
export type RateLimitOverrides = Readonly<Partial<Record<string, number>>>;

interface RateLimitCaller {
  readonly accountId?: string | null;
  readonly address?: string;
  /** Kept as a keyed digest. */
  readonly subject?: string;
}

export interface RateLimiter {
  /**
   * Counts one call.
   *
   * @param tx where the count is to be taken back together with what it counts; not for a
   *   `global` rule
   * @throws Problem `too_many_requests` with `Retry-After` when the window is full.
   */
  consume(rule: RateLimitRule, caller: RateLimitCaller, tx?: Tx): Promise<void>;
  /** Counts one call. @returns false when the window is full. */
  tryConsume(rule: RateLimitRule, caller: RateLimitCaller, tx?: Tx): Promise<boolean>;
  /** Forgets windows that are over. */
  sweep(context: SweepContext): Promise<void>;
}

/** What this process has taken of a window. */
interface Lease {
  /** Seconds since 1970. */
  readonly start: number;
  remaining: number;
  /** Nothing is left in the database. */
  readonly windowExhausted: boolean;
}

const leasesPerWindow = 100;
/**
 * The most that is taken at once for one account, address or subject: so many may be lost with a
 * process.
 */
const maxLeaseCalls = 12;
/** Leases that a process remembers. */
const maxLeases = 10_000;

/**
 * Fixed windows in the database, so that they hold across processes. Addresses are kept as keyed
 * digests only.
 *
 * A row is not written by every call: a process takes a hundredth of the window at a time and
 * counts that in memory. So never more pass than the rule says; a process that ends gives up what
 * it had not used.
 */
export function createRateLimiter(
  db: Db,
  hmacKey: Buffer,
  now: () => Date = () => new Date(),
  overrides: RateLimitOverrides = {},
): RateLimiter {
  /** By rule and subject; empty ones stand for windows that are full. */
  const leases = new Map<string, Lease>();
  const pendingLeases = new Map<string, Promise<void>>();

  /** @returns the calls of this window so far, these included. */
  async function addCalls(
    executor: Db | Tx,
    rule: RateLimitRule,
    subject: string,
    start: number,
    calls: number,
  ): Promise<number> {
    const [row] = await executor
      .insert(rateLimits)
      .values({ subject, rule: rule.name, windowStart: new Date(start * 1_000), calls })
      .onConflictDoUpdate({
        target: [rateLimits.subject, rateLimits.rule, rateLimits.windowStart],
        set: { calls: sql`${rateLimits.calls} + ${calls}` },
      })
      .returning({ calls: rateLimits.calls });
    return row?.calls ?? calls;
  }

  /**
   * A window that is full stays so until it ends: what comes then is refused without the database.
   */
  async function consumeFromLease(
    rule: RateLimitRule,
    subject: string,
    limit: number,
    start: number,
  ): Promise<boolean> {
    const leaseKey = `${rule.name} ${subject}`;
    for (;;) {
      const lease = leases.get(leaseKey);
      if (lease !== undefined && lease.start >= start) {
        if (lease.remaining > 0) {
          lease.remaining -= 1;
          return true;
        }
        if (lease.windowExhausted) return false;
      }
      // One asks, the others wait for the answer.
      if (!pendingLeases.has(leaseKey))
        pendingLeases.set(
          leaseKey,
          takeLease(rule, subject, limit, start).finally(() => pendingLeases.delete(leaseKey)),
        );
      await pendingLeases.get(leaseKey);
    }
  }

  async function takeLease(rule: RateLimitRule, subject: string, limit: number, start: number): Promise<void> {
    const defaultLeaseCalls = Math.ceil(limit / leasesPerWindow);
    const leaseCalls = rule.per === "global" ? defaultLeaseCalls : Math.min(defaultLeaseCalls, maxLeaseCalls);
    const remaining = Math.max(
      0,
      leaseCalls - Math.max(0, (await addCalls(db, rule, subject, start, leaseCalls)) - limit),
    );
    if (leases.size >= maxLeases) leases.clear(); // those that are full are found so again
    leases.set(`${rule.name} ${subject}`, { start, remaining, windowExhausted: remaining < leaseCalls });
  }

  function getCurrentWindow({ windowSeconds }: RateLimitRule): { start: number; secondsLeft: number } {
    const seconds = Math.floor(now().getTime() / 1_000);
    const start = seconds - (seconds % windowSeconds);
    return { start, secondsLeft: start + windowSeconds - seconds };
  }

  async function tryConsume(rule: RateLimitRule, caller: RateLimitCaller, tx?: Tx): Promise<boolean> {
    const limit = overrides[rule.name] ?? rule.calls;
    const { start } = getCurrentWindow(rule);
    const subject = rule.per === "global" ? "" : deriveSubject(hmacKey, rule, caller);
    return tx === undefined || rule.per === "global"
      ? consumeFromLease(rule, subject, limit, start)
      : (await addCalls(tx, rule, subject, start, 1)) <= limit;
  }

  return {
    tryConsume,
    async consume(rule, caller, tx) {
      const { secondsLeft } = getCurrentWindow(rule);
      if (!(await tryConsume(rule, caller, tx)))
        throw new Problem("too_many_requests", { headers: { "retry-after": String(secondsLeft) } });
    },
    async sweep(context) {
      const { subject, rule, windowStart } = rateLimits;
      const rules = Object.values(rateLimitRules);
      const isStartedBefore = (windowSeconds: number) =>
        lt(windowStart, new Date(context.now.getTime() - windowSeconds * 1_000));
      // of rules that there are no more, too
      const longestWindowSeconds = Math.max(...rules.map(({ windowSeconds }) => windowSeconds));
      const isExpired = or(
        isStartedBefore(longestWindowSeconds),
        ...rules.map(({ name, windowSeconds }) => and(eq(rule, name), isStartedBefore(windowSeconds))),
      );
      await deleteInBatches(context, (batchSize) => {
        const batch = db.select({ subject, rule, windowStart }).from(rateLimits).where(isExpired).limit(batchSize);
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
  const subjectText = per === "subject" ? subject : address && getAddressGroup(address);
  if (subjectText === undefined) throw new Error(`nobody to count for ${name}`);
  return createHmac("sha256", hmacKey).update(`relicario/rate\n${subjectText}`).digest("base64url");
}
