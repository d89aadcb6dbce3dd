import { randomBytes } from "node:crypto";

import { createTestDatabase, type TestDatabase } from "@relicario/tooling/database/for-tests";
import { Pool } from "pg";

import { Accounts } from "./accounts.ts";
import { attemptLimits, AttemptLimiter, TooManyAttempts } from "./attempts.ts";
import { migrate } from "./database.ts";

let database: TestDatabase;
let pool: Pool;
let attemptLimiter: AttemptLimiter;
let accounts: Accounts;
beforeEach(async () => {
  database = await createTestDatabase("identity_empty", () => Promise.resolve());
  pool = new Pool({ connectionString: database.url });
  await migrate(pool);
  attemptLimiter = new AttemptLimiter(pool, "a key of the test");
  accounts = new Accounts(pool, attemptLimiter);
});
afterEach(async () => {
  await pool.end();
  await database.drop();
});

const buildNewAccount = () => {
  const username = `ana-${randomBytes(4).toString("hex")}`;
  return { username, email: `${username}@example.org`, password: "llueve sobre mojado" };
};

describe("signUp", () => {
  it("is limited for an address, a /64 of IPv6 being one, and counts new accounts alone", async () => {
    const address = "2001:db8:1:2::1";
    for (let count = 1; count < attemptLimits.signUp.max; count++)
      await attemptLimiter.consume(attemptLimits.signUp, "2001:db8:1:2");
    expect(await accounts.signUp({ ...buildNewAccount(), password: "short" }, address)).toHaveProperty("problems");
    expect(await accounts.signUp(buildNewAccount(), address)).toHaveProperty("account");
    await expect(accounts.signUp(buildNewAccount(), "2001:db8:1:2:ffff::9")).rejects.toThrow(TooManyAttempts);
    expect(await accounts.signUp(buildNewAccount(), "2001:db8:1:3::1")).toHaveProperty("account");
    expect((await pool.query("select count(*)::int as count from accounts")).rows).toEqual([{ count: 2 }]);
  });

  it("is limited for all, which a full address does not fill", async () => {
    for (let count = 0; count < attemptLimits.signUp.max; count++)
      await attemptLimiter.consume(attemptLimits.signUp, "203.0.113.1");
    for (let count = 1; count < attemptLimits.signUpGlobal.max; count++)
      await attemptLimiter.consume(attemptLimits.signUpGlobal, "");
    await expect(accounts.signUp(buildNewAccount(), "203.0.113.1")).rejects.toThrow(TooManyAttempts);
    expect(await accounts.signUp(buildNewAccount(), "203.0.113.2")).toHaveProperty("account");
    await expect(accounts.signUp(buildNewAccount(), "203.0.113.3")).rejects.toThrow(TooManyAttempts);
  });
});
