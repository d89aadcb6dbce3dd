import { Pool } from "pg";

import { createTestDatabase, type TestDatabase } from "@relicario/tooling/database/for-tests";
import { AttemptLimiter, TooManyAttempts } from "./attempts.ts";
import { migrate, deleteExpiredRows } from "./database.ts";

let database: TestDatabase;
let pool: Pool;
let attemptLimiter: AttemptLimiter;
const limit = { name: "tries", max: 5, windowSeconds: 600 };

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

describe("Attempts", () => {
  it("lets exactly as many through as it may when many come at once", async () => {
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => attemptLimiter.consume(limit, "crowd")));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(5);
    for (const result of results)
      if (result.status === "rejected") expect(result.reason).toBeInstanceOf(TooManyAttempts);
  });

  it("says how long to wait, and being refused lengthens nothing", async () => {
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

  it("begins anew when the window has ended", async () => {
    for (let attempt = 0; attempt < 5; attempt++) await attemptLimiter.consume(limit, "returns");
    await expect(attemptLimiter.requireRemaining(limit, "returns")).rejects.toThrow(TooManyAttempts);
    await pool.query("update attempts set ends_at = now()");
    await attemptLimiter.requireRemaining(limit, "returns");
    for (let attempt = 0; attempt < 5; attempt++) await attemptLimiter.consume(limit, "returns");
    await expect(attemptLimiter.consume(limit, "returns")).rejects.toThrow(TooManyAttempts);
  });

  it("takes back what did not go wrong, and forgets", async () => {
    for (let attempt = 0; attempt < 12; attempt++) {
      await attemptLimiter.consume(limit, "careful");
      await attemptLimiter.refund(limit, "careful");
    }
    for (let attempt = 0; attempt < 5; attempt++) await attemptLimiter.consume(limit, "careful");
    await attemptLimiter.reset(limit, "careful");
    await attemptLimiter.consume(limit, "careful");
  });

  it("counts subjects and limits apart, and stores no name", async () => {
    for (let attempt = 0; attempt < 5; attempt++) await attemptLimiter.consume(limit, "somebody-known");
    await attemptLimiter.consume(limit, "somebody-else");
    await attemptLimiter.consume({ ...limit, name: "others" }, "somebody-known");
    const { rows } = await pool.query("select * from attempts");
    expect(JSON.stringify(rows)).not.toContain("somebody");
  });
});

describe("removeExpired", () => {
  it("removes windows that ended and records that expired long ago, and nothing else", async () => {
    await pool.query("delete from attempts");
    await attemptLimiter.consume(limit, "stays");
    await attemptLimiter.consume({ ...limit, windowSeconds: 0 }, "goes");
    await pool.query(`insert into provider_records (model, id, payload, expires_at) values
      ('Session', 'old', '{}', now() - interval '2 hours'), ('Session', 'new', '{}', now() + interval '1 hour'), ('Grant', 'for good', '{}', null)`);
    await deleteExpiredRows(pool);
    expect((await pool.query("select id from provider_records order by id")).rows).toEqual([
      { id: "for good" },
      { id: "new" },
    ]);
    expect((await pool.query("select count(*)::int as count from attempts")).rows).toEqual([{ count: 1 }]);
  });
});
