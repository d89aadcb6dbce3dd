import { eq } from "drizzle-orm";

import { openDatabase, type OpenDatabase } from "../db/database.ts";
import type { Sweeping } from "../operations/sweeping.ts";
import { rateLimits } from "../db/schema.ts";
import { serviceDatabase, startService } from "../testing/service.ts";
import type { TestDatabase } from "@relicario/tooling/database/for-tests";
import { createRateLimiter, rateRules, type RateLimiter, type RateRule } from "./rate-limits.ts";

let database: TestDatabase;
const opened: OpenDatabase[] = [];
let clock: Date;
beforeEach(async () => {
  clock = new Date("2026-11-22T10:00:00Z");
  database = await serviceDatabase();
});
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
  await database.drop();
});

/** As another process would have one: connections and memory of its own. */
const limiterOf = (overrides: Record<string, number> = {}): RateLimiter => {
  const process = openDatabase({ url: database.url, seconds: 10 }, () => undefined);
  opened.push(process);
  return createRateLimiter(process.db, Buffer.alloc(32, 7), () => clock, overrides);
};

const passes = async (
  limiter: RateLimiter,
  rule: RateRule,
  caller: Parameters<RateLimiter["count"]>[1],
): Promise<boolean> => {
  try {
    await limiter.count(rule, caller);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: "too_many_requests" });
    return false;
  }
};

const anybody = { accountId: null, address: "192.0.2.1" };
const rowsOf = (rule: RateRule) => opened[0]?.db.select().from(rateLimits).where(eq(rateLimits.rule, rule.name));

describe("a limit that everybody shares", () => {
  const rule = rateRules.exchangeOfAll;

  it("lets exactly its number through, however many processes count", async () => {
    const processes = [limiterOf({ exchange_all: 500 }), limiterOf({ exchange_all: 500 })];
    const passed = await Promise.all(
      processes.flatMap((limiter) => Array.from({ length: 400 }, () => passes(limiter, rule, anybody))),
    );
    expect(passed.filter(Boolean)).toHaveLength(500);
  });

  it("is no row that every call writes: a process takes a hundredth at a time", async () => {
    const limiter = limiterOf({ exchange_all: 500 });
    for (let call = 0; call < 5; call++) await limiter.count(rule, anybody);
    expect(await rowsOf(rule)).toMatchObject([{ subject: "", calls: 5 }]);
    await limiter.count(rule, anybody);
    expect(await rowsOf(rule)).toMatchObject([{ calls: 10 }]);
  });

  it("begins anew with the next window, and says until when a full one lasts", async () => {
    const limiter = limiterOf({ exchange_all: 2 });
    clock = new Date("2026-11-22T10:00:15Z");
    expect([
      await passes(limiter, rule, anybody),
      await passes(limiter, rule, anybody),
      await passes(limiter, rule, anybody),
    ]).toEqual([true, true, false]);
    await expect(limiter.count(rule, anybody)).rejects.toMatchObject({ options: { headers: { "retry-after": "45" } } });
    clock = new Date("2026-11-22T10:01:00Z");
    expect(await passes(limiter, rule, anybody)).toBe(true);
  });
});

describe("a limit of an account", () => {
  const ana = { accountId: "0193a5b2-0000-7000-8000-000000000001" };
  const rule = rateRules.write;

  it("lets exactly its number through, however many processes count", async () => {
    const processes = [limiterOf(), limiterOf()];
    const passed = await Promise.all(
      processes.flatMap((limiter) => Array.from({ length: 1_000 }, () => passes(limiter, rule, ana))),
    );
    expect(passed.filter(Boolean)).toHaveLength(rule.calls);
  });

  it("is counted some calls at a time, so that a process that ends gives up no more than a dozen", async () => {
    const limiter = limiterOf({ write: 1_000_000 });
    for (let call = 0; call < 12; call++) await limiter.count(rule, ana);
    expect(await rowsOf(rule)).toMatchObject([{ calls: 12 }]);
    await limiter.count(rule, ana);
    expect(await rowsOf(rule)).toMatchObject([{ calls: 24 }]);
  });

  it("is counted call by call where the count goes with a transaction", async () => {
    const limiter = limiterOf();
    const db = opened[0]?.db;
    await db?.transaction((tx) => limiter.count(rule, ana, tx));
    await expect(
      db?.transaction(async (tx) => {
        await limiter.count(rule, ana, tx);
        throw new Error("undone");
      }),
    ).rejects.toThrow("undone");
    expect(await rowsOf(rule)).toMatchObject([{ calls: 1 }]);
  });
});

describe("a limit of an address", () => {
  it("that is reached is known without the database until its window ends", async () => {
    const limiter = limiterOf({ exchange: 2 });
    for (const passed of [true, true, false, false, false])
      expect(await passes(limiter, rateRules.exchange, anybody)).toBe(passed);
    expect(await rowsOf(rateRules.exchange)).toMatchObject([{ calls: 3 }]);
    expect(await passes(limiter, rateRules.exchange, { accountId: null, address: "192.0.2.2" })).toBe(true);
    clock = new Date(clock.getTime() + 60_000);
    expect(await passes(limiter, rateRules.exchange, anybody)).toBe(true);
  });

  const countedTogether = async (one: string, other: string): Promise<boolean> => {
    const limiter = limiterOf({ exchange: 1 });
    clock = new Date(clock.getTime() + 60_000);
    await limiter.count(rateRules.exchange, { accountId: null, address: one });
    return !(await passes(limiter, rateRules.exchange, { accountId: null, address: other }));
  };

  it("is one of all addresses that a customer holds: a /64 of IPv6; an IPv4 address in IPv6's clothes is itself", async () => {
    expect(await countedTogether("2001:db8:1:2::1", "2001:db8:1:2:ffff::9")).toBe(true);
    expect(await countedTogether("2001:db8:1:2::1", "2001:db8:1:3::1")).toBe(false);
    expect(await countedTogether("::ffff:192.0.2.7", "192.0.2.7")).toBe(true);
    expect(await countedTogether("::ffff:192.0.2.7", "::ffff:192.0.2.8")).toBe(false);
  });
});

describe("sweep", () => {
  const sweeping = (): Sweeping => ({
    now: clock,
    signal: new AbortController().signal,
    attempt: () => Promise.resolve(true),
  });

  it("forgets windows that are over, and none that is not", async () => {
    const limiter = limiterOf();
    await limiter.count(rateRules.exchange, anybody);
    await limiter.count(rateRules.askRecipient, { subject: "ana@example.org" });
    clock = new Date("2026-11-22T23:59:59Z");
    await limiter.sweep(sweeping());
    expect(await rowsOf(rateRules.exchange)).toEqual([]);
    expect(await rowsOf(rateRules.askRecipient)).toHaveLength(1);
    clock = new Date("2026-11-23T00:00:01Z");
    await limiter.sweep(sweeping());
    expect(await rowsOf(rateRules.askRecipient)).toEqual([]);
  });
});

describe("the address of a call", () => {
  it.each<[string, string, string]>([
    ["the gateway's word", "loopback", "203.0.113.9"],
    ["behind the gateway and a TLS proxy", "loopback, 192.0.2.0/24", "203.0.113.9, 192.0.2.5"],
    ["whatever the caller made up before it", "loopback, 192.0.2.0/24", "198.51.100.1, 203.0.113.9, 192.0.2.5"],
  ])("is the caller's: %s", async (_, proxies, forwarded) => {
    const service = await startService({ TRUSTED_PROXIES: proxies, RATE_LIMITS: '{"exchange":1}' });
    try {
      const ask = async (remoteAddress: string, headers: Record<string, string>) =>
        (
          await service.call("POST", "/auth/token?app_vendor_id=relicario", null, {
            body: { token: "noise" },
            remoteAddress,
            headers,
          })
        ).status;
      // nobody trusts what this one forwards, so this is its own address
      expect(await ask("203.0.113.9", {})).toBe(401);
      expect(await ask("127.0.0.1", { "x-forwarded-for": forwarded })).toBe(429);
      expect(await ask("127.0.0.1", { "x-forwarded-for": "203.0.113.10" })).toBe(401);
    } finally {
      await service.stop();
    }
  });
});
