import { randomBytes } from "node:crypto";

import { freshDatabase, type TestDatabase } from "@relicario/tooling/database/for-tests";
import { Pool } from "pg";

import { Accounts } from "./accounts.ts";
import { attemptLimits, Attempts, TooManyAttempts } from "./attempts.ts";
import { migrate } from "./database.ts";

let database: TestDatabase;
let pool: Pool;
let attempts: Attempts;
let accounts: Accounts;
beforeEach(async () => {
  database = await freshDatabase("identity_empty", () => Promise.resolve());
  pool = new Pool({ connectionString: database.url });
  await migrate(pool);
  attempts = new Attempts(pool, "a key of the test");
  accounts = new Accounts(pool, attempts);
});
afterEach(async () => {
  await pool.end();
  await database.drop();
});

const somebody = () => {
  const username = `ana-${randomBytes(4).toString("hex")}`;
  return { username, email: `${username}@example.org`, password: "llueve sobre mojado" };
};

describe("signUp", () => {
  it("is limited for an address, a /64 of IPv6 being one, and counts new accounts alone", async () => {
    const address = "2001:db8:1:2::1";
    for (let made = 1; made < attemptLimits.signUp.most; made++)
      await attempts.take(attemptLimits.signUp, "2001:db8:1:2");
    expect(await accounts.signUp({ ...somebody(), password: "short" }, address)).toHaveProperty("problems");
    expect(await accounts.signUp(somebody(), address)).toHaveProperty("account");
    await expect(accounts.signUp(somebody(), "2001:db8:1:2:ffff::9")).rejects.toThrow(TooManyAttempts);
    expect(await accounts.signUp(somebody(), "2001:db8:1:3::1")).toHaveProperty("account");
    expect((await pool.query("select count(*)::int as count from accounts")).rows).toEqual([{ count: 2 }]);
  });

  it("is limited for all, which a full address does not fill", async () => {
    for (let made = 0; made < attemptLimits.signUp.most; made++)
      await attempts.take(attemptLimits.signUp, "203.0.113.1");
    for (let made = 1; made < attemptLimits.signUpOfAll.most; made++)
      await attempts.take(attemptLimits.signUpOfAll, "");
    await expect(accounts.signUp(somebody(), "203.0.113.1")).rejects.toThrow(TooManyAttempts);
    expect(await accounts.signUp(somebody(), "203.0.113.2")).toHaveProperty("account");
    await expect(accounts.signUp(somebody(), "203.0.113.3")).rejects.toThrow(TooManyAttempts);
  });
});
