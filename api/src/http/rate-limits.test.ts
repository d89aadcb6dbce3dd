import { eq } from "drizzle-orm";

import { openDatabase, type OpenDatabase } from "../db/database.ts";
import { rateLimits } from "../db/schema.ts";
import type { SweepContext } from "../resource/sweep-context.ts";
import { serviceDatabase, startService } from "../testing/service.ts";
import type { TestDatabase } from "@relicario/tooling/database/for-tests";
import { createRateLimiter, rateRules, type RateLimiter, type RateRule } from "./rate-limits.ts";

let database: TestDatabase;
const databases: OpenDatabase[] = [];
let clock: Date;
beforeEach(async () => {
  clock = new Date("2026-11-22T10:00:00Z");
  database = await serviceDatabase();
});
afterEach(async () => {
  for (const each of databases.splice(0)) await each.close();
  await database.drop();
});

/** As another process would have one: connections and memory of its own. */
const createLimiter = (overrides: Record<string, number> = {}): RateLimiter => {
  const processDatabase = openDatabase({ url: database.url, timeoutSeconds: 10 }, () => undefined);
  databases.push(processDatabase);
  return createRateLimiter(processDatabase.db, Buffer.alloc(32, 7), () => clock, overrides);
};

const tryConsume = async (
  limiter: RateLimiter,
  rule: RateRule,
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
const rowsOf = (rule: RateRule) => databases[0]?.db.select().from(rateLimits).where(eq(rateLimits.rule, rule.name));

describe("a limit that everybody shares", () => {
  const rule = rateRules.exchangeGlobal;

  it("lets exactly its number through, however many processes count", async () => {
    const processes = [createLimiter({ exchange_all: 500 }), createLimiter({ exchange_all: 500 })];
    const passed = await Promise.all(
      processes.flatMap((limiter) => Array.from({ length: 400 }, () => tryConsume(limiter, rule, anyCaller))),
    );
    expect(passed.filter(Boolean)).toHaveLength(500);
  });

  it("is no row that every call writes: a process takes a hundredth at a time", async () => {
    const limiter = createLimiter({ exchange_all: 500 });
    for (let call = 0; call < 5; call++) await limiter.consume(rule, anyCaller);
    expect(await rowsOf(rule)).toMatchObject([{ subject: "", calls: 5 }]);
    await limiter.consume(rule, anyCaller);
    expect(await rowsOf(rule)).toMatchObject([{ calls: 10 }]);
  });

  it("begins anew with the next window, and says until when a full one lasts", async () => {
    const limiter = createLimiter({ exchange_all: 2 });
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

describe("a limit of an account", () => {
  const ana = { accountId: "0193a5b2-0000-7000-8000-000000000001" };
  const rule = rateRules.write;

  it("lets exactly its number through, however many processes count", async () => {
    const processes = [createLimiter(), createLimiter()];
    const passed = await Promise.all(
      processes.flatMap((limiter) => Array.from({ length: 1_000 }, () => tryConsume(limiter, rule, ana))),
    );
    expect(passed.filter(Boolean)).toHaveLength(rule.calls);
  });

  it("is counted some calls at a time, so that a process that ends gives up no more than a dozen", async () => {
    const limiter = createLimiter({ write: 1_000_000 });
    for (let call = 0; call < 12; call++) await limiter.consume(rule, ana);
    expect(await rowsOf(rule)).toMatchObject([{ calls: 12 }]);
    await limiter.consume(rule, ana);
    expect(await rowsOf(rule)).toMatchObject([{ calls: 24 }]);
  });

  it("is counted call by call where the count goes with a transaction", async () => {
    const limiter = createLimiter();
    const db = databases[0]?.db;
    await db?.transaction((tx) => limiter.consume(rule, ana, tx));
    await expect(
      db?.transaction(async (tx) => {
        await limiter.consume(rule, ana, tx);
        throw new Error("undone");
      }),
    ).rejects.toThrow("undone");
    expect(await rowsOf(rule)).toMatchObject([{ calls: 1 }]);
  });
});

describe("a limit of an address", () => {
  it("that is reached is known without the database until its window ends", async () => {
    const limiter = createLimiter({ exchange: 2 });
    for (const passed of [true, true, false, false, false])
      expect(await tryConsume(limiter, rateRules.exchange, anyCaller)).toBe(passed);
    expect(await rowsOf(rateRules.exchange)).toMatchObject([{ calls: 3 }]);
    expect(await tryConsume(limiter, rateRules.exchange, { accountId: null, address: "192.0.2.2" })).toBe(true);
    clock = new Date(clock.getTime() + 60_000);
    expect(await tryConsume(limiter, rateRules.exchange, anyCaller)).toBe(true);
  });

  const countedTogether = async (firstAddress: string, secondAddress: string): Promise<boolean> => {
    const limiter = createLimiter({ exchange: 1 });
    clock = new Date(clock.getTime() + 60_000);
    await limiter.consume(rateRules.exchange, { accountId: null, address: firstAddress });
    return !(await tryConsume(limiter, rateRules.exchange, { accountId: null, address: secondAddress }));
  };

  it("is one of all addresses that a customer holds: a /64 of IPv6; an IPv4 address in IPv6's clothes is itself", async () => {
    expect(await countedTogether("2001:db8:1:2::1", "2001:db8:1:2:ffff::9")).toBe(true);
    expect(await countedTogether("2001:db8:1:2::1", "2001:db8:1:3::1")).toBe(false);
    expect(await countedTogether("::ffff:192.0.2.7", "192.0.2.7")).toBe(true);
    expect(await countedTogether("::ffff:192.0.2.7", "::ffff:192.0.2.8")).toBe(false);
  });
});

describe("sweep", () => {
  const createSweepContext = (): SweepContext => ({
    now: clock,
    signal: new AbortController().signal,
    attempt: () => Promise.resolve(true),
  });

  it("forgets windows that are over, and none that is not", async () => {
    const limiter = createLimiter();
    await limiter.consume(rateRules.exchange, anyCaller);
    await limiter.consume(rateRules.validationPerRecipient, { subject: "ana@example.org" });
    clock = new Date("2026-11-22T23:59:59Z");
    await limiter.sweep(createSweepContext());
    expect(await rowsOf(rateRules.exchange)).toEqual([]);
    expect(await rowsOf(rateRules.validationPerRecipient)).toHaveLength(1);
    clock = new Date("2026-11-23T00:00:01Z");
    await limiter.sweep(createSweepContext());
    expect(await rowsOf(rateRules.validationPerRecipient)).toEqual([]);
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
