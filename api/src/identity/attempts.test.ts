import { Pool } from "pg";

import { createTestDatabase, type TestDatabase } from "@relicario/tooling/database/test-database";
import { openFaultInjector } from "../testing/database-faults.ts";
import { AttemptLimiter, TooManyAttempts } from "./attempts.ts";
import { migrate, deleteExpiredRows } from "./database.ts";

let database: TestDatabase;
let pool: Pool;
let attemptLimiter: AttemptLimiter;
const limit = { name: "tries", maxAttempts: 5, windowSeconds: 600 };

beforeAll(async () => {
  database = await createTestDatabase("identity_empty", () => Promise.resolve());
  pool = new Pool({ connectionString: database.url });
  await migrate(pool);
  attemptLimiter = new AttemptLimiter(pool, "a key of the test");
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

describe("AttemptLimiter", () => {
  it("admits exactly the limit of concurrent attempts", async () => {
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => attemptLimiter.consume(limit, "crowd")));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(5);
    for (const result of results)
      if (result.status === "rejected") expect(result.reason).toBeInstanceOf(TooManyAttempts);
  });

  it("says how long to wait, and a refused attempt does not extend the wait", async () => {
    for (let attempt = 0; attempt < 5; attempt++) await attemptLimiter.consume(limit, "patient");
    await pool.query("update attempts set ends_at = now() + interval '90 seconds' where count = 5");
    const refusals = await Promise.all(
      [1, 2, 3].map(() => attemptLimiter.consume(limit, "patient").catch((error: unknown) => error)),
    );
    for (const refusal of refusals) expect(refusal).toMatchObject({ retryAfterSeconds: expect.any(Number) as number });
    expect(
      Math.max(
        ...refusals.map((refusal) => (refusal instanceof TooManyAttempts ? refusal.retryAfterSeconds : Infinity)),
      ),
    ).toBeLessThanOrEqual(90);
  });

  it("starts again when the window has ended", async () => {
    for (let attempt = 0; attempt < 5; attempt++) await attemptLimiter.consume(limit, "returns");
    await expect(attemptLimiter.requireRemaining(limit, "returns")).rejects.toThrow(TooManyAttempts);
    await pool.query("update attempts set ends_at = now()");
    await attemptLimiter.requireRemaining(limit, "returns");
    for (let attempt = 0; attempt < 5; attempt++) await attemptLimiter.consume(limit, "returns");
    await expect(attemptLimiter.consume(limit, "returns")).rejects.toThrow(TooManyAttempts);
  });

  it("lets attempts wait longer and longer from the limit on, up to a minute", async () => {
    await pool.query("delete from attempts");
    await Promise.all(Array.from({ length: 5 }, () => attemptLimiter.slowDown(limit, "many")));
    const waits: unknown[] = [];
    for (let attempt = 0; attempt < 8; attempt++) {
      // An attempt sets both times by the same clock reading.
      const { rows } = await pool.query<{ wait: number }>(
        "select extract(epoch from next_at - ends_at)::int + $1::int as wait from attempts",
        [limit.windowSeconds],
      );
      waits.push(rows[0]?.wait);
      await pool.query("update attempts set next_at = now()");
      await attemptLimiter.slowDown(limit, "many");
    }
    expect(waits).toEqual([2, 4, 8, 16, 32, 60, 60, 60]);
    await pool.query("update attempts set next_at = now()");
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => attemptLimiter.slowDown(limit, "many")));
    const refusals = results.flatMap((result) => (result.status === "rejected" ? [result.reason as unknown] : []));
    expect(refusals).toHaveLength(19);
    for (const refusal of refusals) {
      expect(refusal).toBeInstanceOf(TooManyAttempts);
      expect((refusal as TooManyAttempts).retryAfterSeconds).toBeGreaterThan(30);
    }
    await pool.query("update attempts set ends_at = now()");
    await attemptLimiter.slowDown(limit, "many");
    await attemptLimiter.slowDown(limit, "many"); // the count starts at one again
  });

  it("admits an attempt that started before the one it waited for", async () => {
    await pool.query("delete from attempts");
    await attemptLimiter.slowDown(limit, "overtaken");
    const overtaking = await openFaultInjector(database.url);
    try {
      await overtaking.query("begin");
      await overtaking.query("update attempts set count = count + 1");
      const overtaken = attemptLimiter.slowDown(limit, "overtaken");
      await overtaking.waitForBlocked(1);
      await overtaking.query("update attempts set next_at = clock_timestamp()");
      await overtaking.query("commit");
      await overtaken;
    } finally {
      await overtaking.close();
    }
  });

  it("records without refusing, and says when the limit is reached", async () => {
    for (let attempt = 0; attempt < 5; attempt++) {
      expect(await attemptLimiter.isReached(limit, "watched")).toBe(false);
      await attemptLimiter.record(limit, "watched");
    }
    await attemptLimiter.record(limit, "watched");
    expect(await attemptLimiter.isReached(limit, "watched")).toBe(true);
  });

  it("admits attempts again after a reset", async () => {
    for (let attempt = 0; attempt < 5; attempt++) await attemptLimiter.consume(limit, "careful");
    await attemptLimiter.reset(limit, "careful");
    await attemptLimiter.consume(limit, "careful");
  });

  it("counts subjects and limits separately, and stores no name", async () => {
    for (let attempt = 0; attempt < 5; attempt++) await attemptLimiter.consume(limit, "somebody-known");
    await attemptLimiter.consume(limit, "somebody-else");
    await attemptLimiter.consume({ ...limit, name: "others" }, "somebody-known");
    const { rows } = await pool.query("select * from attempts");
    expect(JSON.stringify(rows)).not.toContain("somebody");
  });
});

describe("deleteExpiredRows", () => {
  it("deletes only windows that ended and records that expired long ago", async () => {
    await pool.query("delete from attempts");
    await attemptLimiter.consume(limit, "stays");
    await attemptLimiter.consume({ ...limit, windowSeconds: 0 }, "goes");
    await pool.query(`insert into provider_records (model, id, payload, expires_at) values
      ('Interaction', 'old', '{}', now() - interval '1 second'), ('Session', 'old', '{}', now() - interval '61 minutes'),
      ('Session', 'ended', '{}', now() - interval '59 minutes'), ('Session', 'new', '{}', now() + interval '1 hour'), ('Grant', 'for good', '{}', null),
      ('AuthorizationCode', 'used', '{}', now() - interval '59 minutes'), ('AuthorizationCode', 'old', '{}', now() - interval '61 minutes')`);
    await deleteExpiredRows(pool);
    expect((await pool.query("select id from provider_records order by id")).rows).toEqual([
      { id: "ended" },
      { id: "for good" },
      { id: "new" },
      { id: "used" },
    ]);
    expect((await pool.query("select count(*)::int as count from attempts")).rows).toEqual([{ count: 1 }]);
  });

  it("deletes in batches, each by the index", async () => {
    await pool.query(`insert into provider_records (model, id, payload, expires_at)
      select 'Interaction', 'i' || n, '{}', now() - interval '1 minute' from generate_series(1, 12000) n`);
    const statements: string[] = [];
    const watchedPool = {
      query: (text: string, values: unknown[]) => (statements.push(text), pool.query(text, values)),
    };
    await deleteExpiredRows(watchedPool as unknown as Pool);
    expect(statements.filter((text) => text.includes("provider_records"))).toHaveLength(3);
    expect((await pool.query("select 1 from provider_records where model = 'Interaction'")).rowCount).toBe(0);
  });
});
