import { eq } from "drizzle-orm";

import { openDatabase, type Database } from "../db/database.ts";
import { rateLimits } from "../db/schema.ts";
import type { SweepContext } from "../resource/sweep-context.ts";
import { createServiceDatabase, startService } from "../testing/service.ts";
import type { TestDatabase } from "@relicario/tooling/database/test-database";
import { createRateLimiter, rateLimitRules, type RateLimiter, type RateLimitRule } from "./rate-limits.ts";

let database: TestDatabase;
const databases: Database[] = [];
let clock: Date;
beforeEach(async () => {
  clock = new Date("2026-11-22T10:00:00Z");
  database = await createServiceDatabase();
});
afterEach(async () => {
  for (const openedDatabase of databases.splice(0)) await openedDatabase.close();
  await database.drop();
});

/** A limiter of another process: with its own connections and memory. */
const createLimiter = (overrides: Record<string, number> = {}): RateLimiter => {
  const processDatabase = openDatabase({ url: database.serviceUrl, timeoutSeconds: 10 }, () => undefined);
  databases.push(processDatabase);
  return createRateLimiter(processDatabase.db, Buffer.alloc(32, 7), () => clock, overrides);
};

const tryConsume = async (
  limiter: RateLimiter,
  rule: RateLimitRule,
  caller: Parameters<RateLimiter["consume"]>[1],
): Promise<boolean> => {
  try {
    await limiter.consume(rule, caller);
    return true;
  } catch (error) {
    expect(error).toMatchObject({ code: "too_many_requests" });
    return false;
  }
};

const anyCaller = { accountId: null, address: "192.0.2.1" };
const readRateLimitRows = (rule: RateLimitRule) =>
  databases[0]?.db.select().from(rateLimits).where(eq(rateLimits.rule, rule.name));

describe("a global limit", () => {
  const rule = rateLimitRules.signInGlobal;

  it("admits exactly its number of calls across processes", async () => {
    const limiters = [createLimiter({ sign_in_all: 500 }), createLimiter({ sign_in_all: 500 })];
    const consumeResults = await Promise.all(
      limiters.flatMap((limiter) => Array.from({ length: 400 }, () => tryConsume(limiter, rule, anyCaller))),
    );
    expect(consumeResults.filter(Boolean)).toHaveLength(500);
  });

  it("does not write a row per call: a process leases a hundredth at a time", async () => {
    const limiter = createLimiter({ sign_in_all: 500 });
    for (let call = 0; call < 5; call++) await limiter.consume(rule, anyCaller);
    expect(await readRateLimitRows(rule)).toMatchObject([{ subject: "", calls: 5 }]);
    await limiter.consume(rule, anyCaller);
    expect(await readRateLimitRows(rule)).toMatchObject([{ calls: 10 }]);
  });

  it("starts again with the next window, and says when a full window ends", async () => {
    const limiter = createLimiter({ sign_in_all: 2 });
    clock = new Date("2026-11-22T10:00:15Z");
    expect([
      await tryConsume(limiter, rule, anyCaller),
      await tryConsume(limiter, rule, anyCaller),
      await tryConsume(limiter, rule, anyCaller),
    ]).toEqual([true, true, false]);
    await expect(limiter.consume(rule, anyCaller)).rejects.toMatchObject({
      options: { headers: { "retry-after": "45" } },
    });
    clock = new Date("2026-11-22T10:01:00Z");
    expect(await tryConsume(limiter, rule, anyCaller)).toBe(true);
  });
});

describe("an account's limit", () => {
  const anaCaller = { accountId: "0193a5b2-0000-7000-8000-000000000001" };
  const rule = rateLimitRules.write;

  it("admits exactly its number of calls across processes", async () => {
    const limiters = [createLimiter(), createLimiter()];
    const consumeResults = await Promise.all(
      limiters.flatMap((limiter) => Array.from({ length: 1_000 }, () => tryConsume(limiter, rule, anaCaller))),
    );
    expect(consumeResults.filter(Boolean)).toHaveLength(rule.maxCalls);
  });

  it("is leased in small numbers, so that a process that ends loses at most a dozen calls", async () => {
    const limiter = createLimiter({ write: 1_000_000 });
    for (let call = 0; call < 12; call++) await limiter.consume(rule, anaCaller);
    expect(await readRateLimitRows(rule)).toMatchObject([{ calls: 12 }]);
    await limiter.consume(rule, anaCaller);
    expect(await readRateLimitRows(rule)).toMatchObject([{ calls: 24 }]);
  });

  it("is counted per call when the count belongs to a transaction", async () => {
    const limiter = createLimiter();
    const db = databases[0]?.db;
    await db?.transaction((tx) => limiter.consume(rule, anaCaller, tx));
    await expect(
      db?.transaction(async (tx) => {
        await limiter.consume(rule, anaCaller, tx);
        throw new Error("undone");
      }),
    ).rejects.toThrow("undone");
    expect(await readRateLimitRows(rule)).toMatchObject([{ calls: 1 }]);
  });
});

describe("the limit of an IP address", () => {
  it("is enforced without the database from when the limit is reached until the window ends", async () => {
    const limiter = createLimiter({ exchange: 2 });
    for (const expectedResult of [true, true, false, false, false])
      expect(await tryConsume(limiter, rateLimitRules.exchange, anyCaller)).toBe(expectedResult);
    expect(await readRateLimitRows(rateLimitRules.exchange)).toMatchObject([{ calls: 3 }]);
    expect(await tryConsume(limiter, rateLimitRules.exchange, { accountId: null, address: "192.0.2.2" })).toBe(true);
    clock = new Date(clock.getTime() + 60_000);
    expect(await tryConsume(limiter, rateLimitRules.exchange, anyCaller)).toBe(true);
  });

  const areCountedTogether = async (firstAddress: string, secondAddress: string): Promise<boolean> => {
    const limiter = createLimiter({ exchange: 1 });
    clock = new Date(clock.getTime() + 60_000);
    await limiter.consume(rateLimitRules.exchange, { accountId: null, address: firstAddress });
    return !(await tryConsume(limiter, rateLimitRules.exchange, { accountId: null, address: secondAddress }));
  };

  it("counts an IPv6 /64 as one IP address, and a mapped IPv4 address as IPv4", async () => {
    expect(await areCountedTogether("2001:db8:1:2::1", "2001:db8:1:2:ffff::9")).toBe(true);
    expect(await areCountedTogether("2001:db8:1:2::1", "2001:db8:1:3::1")).toBe(false);
    expect(await areCountedTogether("::ffff:192.0.2.7", "192.0.2.7")).toBe(true);
    expect(await areCountedTogether("::ffff:192.0.2.7", "::ffff:192.0.2.8")).toBe(false);
  });
});

describe("deleteExpiredWindows", () => {
  const createSweepContext = (): SweepContext => ({
    now: clock,
    signal: new AbortController().signal,
    attempt: () => Promise.resolve(true),
  });

  it("deletes expired windows only", async () => {
    const limiter = createLimiter();
    await limiter.consume(rateLimitRules.exchange, anyCaller);
    await limiter.consume(rateLimitRules.validationPerRecipient, { subject: "ana@example.org" });
    clock = new Date("2026-11-22T23:59:59Z");
    await limiter.deleteExpiredWindows(createSweepContext());
    expect(await readRateLimitRows(rateLimitRules.exchange)).toEqual([]);
    expect(await readRateLimitRows(rateLimitRules.validationPerRecipient)).toHaveLength(1);
    clock = new Date("2026-11-23T00:00:01Z");
    await limiter.deleteExpiredWindows(createSweepContext());
    expect(await readRateLimitRows(rateLimitRules.validationPerRecipient)).toEqual([]);
  });
});

describe("the client address", () => {
  it.each<[string, string, string]>([
    ["the gateway's word", "loopback", "203.0.113.9"],
    ["behind the gateway and a TLS proxy", "loopback, 192.0.2.0/24", "203.0.113.9, 192.0.2.5"],
    ["whatever the caller made up before it", "loopback, 192.0.2.0/24", "198.51.100.1, 203.0.113.9, 192.0.2.5"],
  ])("is that of the caller: %s", async (_, proxies, forwarded) => {
    const service = await startService({ TRUSTED_PROXIES: proxies, RATE_LIMITS: '{"exchange":1}' }, () => clock);
    try {
      const callFrom = async (remoteAddress: string, headers: Record<string, string>) =>
        (
          await service.call("POST", "/auth/token?app_vendor_id=relicario", null, {
            body: { token: "noise" },
            remoteAddress,
            headers,
          })
        ).status;
      // not a trusted proxy, so this is its own address
      expect(await callFrom("203.0.113.9", {})).toBe(401);
      expect(await callFrom("127.0.0.1", { "x-forwarded-for": forwarded })).toBe(429);
      expect(await callFrom("127.0.0.1", { "x-forwarded-for": "203.0.113.10" })).toBe(401);
    } finally {
      await service.stop();
    }
  });
});
