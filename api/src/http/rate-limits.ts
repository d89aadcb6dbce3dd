import { createHmac } from "node:crypto";

import { imageRecordReadsAnHour } from "@relicario/shared/api";
import { lt, sql } from "drizzle-orm";

import type { Db } from "../db/database.ts";
import { rateLimits } from "../db/schema.ts";
import { deleteInBatches, type Sweeping } from "../operations/sweeping.ts";
import { Problem } from "./problem.ts";

export interface RateRule {
  readonly name: string;
  readonly calls: number;
  readonly windowSeconds: number;
  /** Whose calls are counted together. */
  readonly per: "account" | "address" | "everybody";
}

export const rateRules = {
  exchange: { name: "exchange", calls: 300, windowSeconds: 60, per: "address" },
  exchangeOfAll: { name: "exchange_all", calls: 6_000, windowSeconds: 60, per: "everybody" },
  write: { name: "write", calls: 1_200, windowSeconds: 60, per: "account" },
  imageRecords: { name: "image_records", calls: imageRecordReadsAnHour, windowSeconds: 3_600, per: "account" },
  askAddress: { name: "ask_address", calls: 5, windowSeconds: 3_600, per: "account" },
  askAddressOfAll: { name: "ask_address_all", calls: 1_000, windowSeconds: 3_600, per: "everybody" },
  answerAddress: { name: "answer_address", calls: 20, windowSeconds: 3_600, per: "account" },
  keyDirectory: { name: "key_directory", calls: 120, windowSeconds: 3_600, per: "account" },
} as const satisfies Record<string, RateRule>;

export const rateNames = Object.values(rateRules).map(({ name }) => name);

/** Other numbers of calls than those above, by the rules' names. */
export type RateOverrides = Readonly<Partial<Record<string, number>>>;

export interface Caller {
  readonly accountId: string | null;
  readonly address: string;
}

export interface RateLimiter {
  /** Counts one call. @throws Problem `too_many_requests` with `Retry-After` when the window is full. */
  count(rule: RateRule, caller: Caller): Promise<void>;
  /** Forgets windows that are over. */
  sweep(sweeping: Sweeping): Promise<void>;
}

/** Fixed windows in the database, so that they hold across processes. Addresses are kept as keyed digests only. */
export function createRateLimiter(db: Db, key: Buffer, now: () => Date = () => new Date(), overrides: RateOverrides = {}): RateLimiter {
  const subjectOf = (rule: RateRule, caller: Caller): string => {
    if (rule.per === "everybody") return "";
    if (rule.per === "account" && caller.accountId !== null) return caller.accountId;
    return createHmac("sha256", key).update(`relicario/rate\n${caller.address}`).digest("base64url");
  };
  return {
    async count(rule, caller) {
      const seconds = Math.floor(now().getTime() / 1_000);
      const start = seconds - (seconds % rule.windowSeconds);
      const [row] = await db
        .insert(rateLimits)
        .values({ subject: subjectOf(rule, caller), rule: rule.name, windowStart: new Date(start * 1_000), calls: 1 })
        .onConflictDoUpdate({
          target: [rateLimits.subject, rateLimits.rule, rateLimits.windowStart],
          set: { calls: sql`${rateLimits.calls} + 1` },
        })
        .returning({ calls: rateLimits.calls });
      if (row === undefined || row.calls <= (overrides[rule.name] ?? rule.calls)) return;
      throw new Problem("too_many_requests", { headers: { "retry-after": String(start + rule.windowSeconds - seconds) } });
    },
    async sweep(sweeping) {
      const { subject, rule, windowStart } = rateLimits;
      const over = lt(windowStart, new Date(sweeping.now.getTime() - 2 * 3_600_000));
      await deleteInBatches(sweeping, (rows) => {
        const some = db.select({ subject, rule, windowStart }).from(rateLimits).where(over).limit(rows);
        return db.delete(rateLimits).where(sql`(${subject}, ${rule}, ${windowStart}) in ${some}`);
      });
    },
  };
}
