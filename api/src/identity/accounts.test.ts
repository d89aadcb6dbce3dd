import { randomBytes } from "node:crypto";

import { createTestDatabase, type TestDatabase } from "@relicario/tooling/database/test-database";
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
  it("limits new accounts per IP address or IPv6 /64, and counts only accounts that are created", async () => {
    const address = "2001:db8:1:2::1";
    for (let count = 1; count < attemptLimits.signUp.maxAttempts; count++)
      await attemptLimiter.consume(attemptLimits.signUp, "2001:db8:1:2::/64");
    expect(await accounts.signUp({ ...buildNewAccount(), password: "short" }, address)).toHaveProperty("problems");
    expect(await accounts.signUp(buildNewAccount(), address)).toHaveProperty("account");
    await expect(accounts.signUp(buildNewAccount(), "2001:db8:1:2:ffff::9")).rejects.toThrow(TooManyAttempts);
    expect(await accounts.signUp(buildNewAccount(), "2001:db8:1:3::1")).toHaveProperty("account");
    expect((await pool.query("select count(*)::int as count from accounts")).rows).toEqual([{ count: 2 }]);
  });

  it("limits new accounts in total, without counting those refused for their IP address", async () => {
    for (let count = 0; count < attemptLimits.signUp.maxAttempts; count++)
      await attemptLimiter.consume(attemptLimits.signUp, "203.0.113.1");
    for (let count = 1; count < attemptLimits.signUpGlobal.maxAttempts; count++)
      await attemptLimiter.consume(attemptLimits.signUpGlobal, "");
    await expect(accounts.signUp(buildNewAccount(), "203.0.113.1")).rejects.toThrow(TooManyAttempts);
    expect(await accounts.signUp(buildNewAccount(), "203.0.113.2")).toHaveProperty("account");
    await expect(accounts.signUp(buildNewAccount(), "203.0.113.3")).rejects.toThrow(TooManyAttempts);
  });
});

describe("signIn", () => {
  const stranger = "203.0.113.1";
  const home = "198.51.100.7";
  const signIn = (
    login: string,
    password: string,
    {
      address = home,
      otherName = "",
      browser = null,
    }: { address?: string; otherName?: string; browser?: string | null } = {},
  ) => accounts.signIn({ login, otherName, password, address, findKnownBrowser: () => browser });

  it("slows down only the guessing IP address, and only for that account", async () => {
    const [ana, eva] = [buildNewAccount(), buildNewAccount()];
    for (const person of [ana, eva]) await accounts.signUp(person, home);
    for (let attempt = 0; attempt < attemptLimits.pair.maxAttempts; attempt++)
      expect(await signIn(ana.username, "not it", { address: stranger })).toBe("wrong");
    await expect(signIn(ana.email, ana.password, { address: stranger })).rejects.toThrow(TooManyAttempts);
    expect(await signIn(ana.username, ana.password)).toHaveProperty("id");
    expect(await signIn(eva.username, eva.password, { address: stranger })).toHaveProperty("id");
    await pool.query("update attempts set next_at = now()"); // seconds later
    expect(await signIn(ana.email, ana.password, { address: stranger })).toHaveProperty("id");
  });

  it("asks unknown browsers for both user name and e-mail when strangers try an account from everywhere", async () => {
    const ana = buildNewAccount();
    await accounts.signUp(ana, home);
    for (let attempt = 0; attempt < attemptLimits.account.maxAttempts; attempt++)
      expect(await signIn(ana.username, "not it", { address: `203.0.113.${String(attempt)}` })).toBe("wrong");
    expect(await signIn(ana.username, ana.password)).toBe("other_name_missing");
    expect(await signIn(ana.username, ana.password, { otherName: ana.username })).toBe("wrong");
    expect(await signIn(ana.username, "not it", { otherName: ana.email })).toBe("wrong");
    expect(await signIn(ana.username, ana.password, { otherName: ana.email.toUpperCase() })).toHaveProperty("id");
    expect(await signIn(ana.email, ana.password, { otherName: ana.username })).toHaveProperty("id");
    expect(await signIn(ana.username, ana.password, { browser: "known" })).toHaveProperty("id");
  });

  it("asks for both user name and e-mail at an IP address that tries many accounts, existing or not", async () => {
    const ana = buildNewAccount();
    await accounts.signUp(ana, home);
    for (let attempt = 0; attempt < attemptLimits.address.maxAttempts; attempt++)
      expect(await signIn(`nobody-${String(attempt)}`, "not it", { address: stranger })).toBe("wrong");
    expect(await signIn(ana.username, ana.password, { address: stranger })).toBe("other_name_missing");
    expect(await signIn("nobody-at-all", "not it", { address: stranger })).toBe("other_name_missing");
    expect(await signIn("nobody-at-all", "not it", { address: stranger, otherName: "a@example.org" })).toBe("wrong");
    expect(await signIn(ana.username, ana.password)).toHaveProperty("id");
  });

  it("counts a known browser separately from its IP address", async () => {
    const ana = buildNewAccount();
    await accounts.signUp(ana, home);
    for (let attempt = 0; attempt < attemptLimits.pair.maxAttempts; attempt++) await signIn(ana.username, "not it");
    expect(await signIn(ana.username, ana.password, { browser: "known" })).toHaveProperty("id");
    for (let attempt = 0; attempt < attemptLimits.pair.maxAttempts; attempt++)
      await signIn(ana.username, "not it", { browser: "stolen" });
    await expect(signIn(ana.username, ana.password, { browser: "stolen" })).rejects.toThrow(TooManyAttempts);
  });
});
