/** Many people behind few addresses: what the provider's limits let through. */
import { createTestDatabase, type TestDatabase } from "@relicario/tooling/database/test-database";
import { findFullestMinute, generateArrivals, simulatePeak } from "@relicario/tooling/testing/office";
import { Pool } from "pg";

import { AttemptLimiter, createSignInPageLimit, TooManyAttempts } from "./attempts.ts";
import { migrate } from "./database.ts";
import { IdentityLimits } from "./env.ts";
import { createEnvironment, findFreePort, SignInRequest, startProcess } from "./test-support.ts";

/** What a sign-in calls: the request, its page, the password, the way back, the token. */
const signInCalls = [10, 10, 60, 15, 15].map((milliseconds) => ({ queue: "provider", milliseconds }));
const people = 50_000;
const morningSeconds = 1_800;

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase("identity_empty", () => Promise.resolve());
});
afterEach(() => database.drop());

/**
 * A connection whose `now()` says what `setTime` was given: a function of another schema hides
 * PostgreSQL's own.
 */
async function openAtFakeTime(): Promise<{ pool: Pool; setTime: (seconds: number) => Promise<unknown> }> {
  const pool = new Pool({ connectionString: database.url, max: 1, options: "-c search_path=fake,public,pg_catalog" });
  await pool.query("create schema fake");
  await pool.query(
    "create function fake.now() returns timestamptz language sql stable as $$ select to_timestamp(pg_catalog.current_setting('fake.seconds')::float8) $$",
  );
  const setTime = (seconds: number): Promise<unknown> =>
    pool.query("select set_config('fake.seconds', $1, false)", [String(seconds)]);
  return { pool, setTime };
}

/** In the fullest minute and those around it. */
async function countRefusedPages(arrivals: readonly number[], maxPages: number): Promise<number> {
  const { pool, setTime } = await openAtFakeTime();
  await setTime(0);
  await migrate(pool);
  const attempts = new AttemptLimiter(pool, "a key of the test");
  const limit = createSignInPageLimit(maxPages);
  const [first = 0] = findFullestMinute(arrivals);
  let [refusals, second] = [0, -1];
  for (const arrival of arrivals.filter((at) => at > first - 45 && at < first + 105)) {
    if (Math.floor(arrival) > second) await setTime((second = Math.floor(arrival)));
    await attempts.consume(limit, "office").catch((error: unknown) => {
      if (!(error instanceof TooManyAttempts)) throw error;
      refusals += 1;
    });
  }
  await pool.end();
  return refusals;
}

describe("50,000 people who sign in within half an hour", () => {
  // the table of docs/operations.md
  it.each([
    [4, { signInPagesOfAddress: 1_500 }],
    [2, { signInPagesOfAddress: 2_500, turnsOfAddress: 8 }],
    [1, { signInPagesOfAddress: 5_000, turnsOfAddress: 16 }],
  ])(
    "all get their page behind %i addresses, with the limits %j, and wait for no one",
    async (addresses, settings) => {
      const limits = IdentityLimits.parse(settings);
      const arrivals = generateArrivals(people / addresses, morningSeconds);
      const { refusedCalls, longestWaitMs } = simulatePeak({
        ...{ arrivals, calls: signInCalls, lanes: 1, networkMilliseconds: 50, limits },
      });
      expect(refusedCalls).toBe(0);
      expect(longestWaitMs).toBeLessThan(500);

      expect(await countRefusedPages(arrivals, limits.signInPagesOfAddress)).toBe(0);
    },
    240_000,
  );

  it("are refused pages behind four addresses with the usual limit", async () => {
    const arrivals = generateArrivals(people / 4, morningSeconds);
    expect(await countRefusedPages(arrivals, IdentityLimits.parse({}).signInPagesOfAddress)).toBeGreaterThan(0);
  }, 240_000);
});

describe("500 people behind one address", () => {
  it("all get their page, and no one more than the setting says", async () => {
    const environment = await createEnvironment(database.url, await findFreePort());
    const identityProcess = await startProcess({
      ...environment,
      IDENTITY_LIMITS: JSON.stringify({ signInPagesOfAddress: 500 }),
    });
    const requestPage = async (): Promise<number> => {
      const url = new SignInRequest(environment["IDENTITY_ISSUER"] ?? "").buildUrl();
      return (await fetch(url, { redirect: "manual" })).status;
    };
    try {
      const statuses = await Promise.all(Array.from({ length: 500 }, requestPage));
      expect(new Set(statuses)).toEqual(new Set([303]));
      expect([303, 429]).toContain(await requestPage()); // the minute may have ended meanwhile
    } finally {
      await identityProcess.stop();
    }
  }, 120_000);
});
