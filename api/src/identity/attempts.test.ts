import { Pool } from "pg";

import { freshDatabase, type TestDatabase } from "@relicario/tooling/database/for-tests";
import { Attempts, TooManyAttempts } from "./attempts.ts";
import { migrate, removeExpired } from "./database.ts";

let database: TestDatabase;
let pool: Pool;
let attempts: Attempts;
const limit = { name: "tries", most: 5, windowSeconds: 600 };

beforeAll(async () => {
  database = await freshDatabase("identity_empty", () => Promise.resolve());
  pool = new Pool({ connectionString: database.url });
  await migrate(pool);
  attempts = new Attempts(pool, "a key of the test");
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

describe("Attempts", () => {
  it("lets exactly as many through as it may when many come at once", async () => {
    const results = await Promise.allSettled(Array.from({ length: 20 }, () => attempts.take(limit, "crowd")));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(5);
    for (const result of results)
      if (result.status === "rejected") expect(result.reason).toBeInstanceOf(TooManyAttempts);
  });

  it("says how long to wait, and being refused lengthens nothing", async () => {
    for (let tries = 0; tries < 5; tries++) await attempts.take(limit, "patient");
    await pool.query("update attempts set ends_at = now() + interval '90 seconds' where count = 5");
    const refusals = await Promise.all(
      [1, 2, 3].map(() => attempts.take(limit, "patient").catch((error: unknown) => error)),
    );
    for (const refusal of refusals) expect(refusal).toMatchObject({ retryAfterSeconds: expect.any(Number) as number });
    expect(
      Math.max(
        ...refusals.map((refusal) => (refusal instanceof TooManyAttempts ? refusal.retryAfterSeconds : Infinity)),
      ),
    ).toBeLessThanOrEqual(90);
  });

  it("begins anew when the window has ended", async () => {
    for (let tries = 0; tries < 5; tries++) await attempts.take(limit, "returns");
    await expect(attempts.require(limit, "returns")).rejects.toThrow(TooManyAttempts);
    await pool.query("update attempts set ends_at = now()");
    await attempts.require(limit, "returns");
    for (let tries = 0; tries < 5; tries++) await attempts.take(limit, "returns");
    await expect(attempts.take(limit, "returns")).rejects.toThrow(TooManyAttempts);
  });

  it("takes back what did not go wrong, and forgets", async () => {
    for (let tries = 0; tries < 12; tries++) {
      await attempts.take(limit, "careful");
      await attempts.giveBack(limit, "careful");
    }
    for (let tries = 0; tries < 5; tries++) await attempts.take(limit, "careful");
    await attempts.forget(limit, "careful");
    await attempts.take(limit, "careful");
  });

  it("counts subjects and limits apart, and stores no name", async () => {
    for (let tries = 0; tries < 5; tries++) await attempts.take(limit, "somebody-known");
    await attempts.take(limit, "somebody-else");
    await attempts.take({ ...limit, name: "others" }, "somebody-known");
    const { rows } = await pool.query("select * from attempts");
    expect(JSON.stringify(rows)).not.toContain("somebody");
  });
});

describe("removeExpired", () => {
  it("removes windows that ended and records that expired long ago, and nothing else", async () => {
    await pool.query("delete from attempts");
    await attempts.take(limit, "stays");
    await attempts.take({ ...limit, windowSeconds: 0 }, "goes");
    await pool.query(`insert into provider_records (model, id, payload, expires_at) values
      ('Session', 'old', '{}', now() - interval '2 hours'), ('Session', 'new', '{}', now() + interval '1 hour'), ('Grant', 'for good', '{}', null)`);
    await removeExpired(pool);
    expect((await pool.query("select id from provider_records order by id")).rows).toEqual([
      { id: "for good" },
      { id: "new" },
    ]);
    expect((await pool.query("select count(*)::int as count from attempts")).rows).toEqual([{ count: 1 }]);
  });
});
