import { Pool } from "pg";

import { createTestDatabase, type TestDatabase } from "@relicario/tooling/database/test-database";
import { openFaultInjector } from "../testing/database-faults.ts";
import { PostgresAdapter } from "./adapter.ts";
import { deleteExpiredRows, migrate } from "./database.ts";

let database: TestDatabase;
let pool: Pool;
let authorizationCodes: PostgresAdapter;
let sessions: PostgresAdapter;

beforeAll(async () => {
  database = await createTestDatabase("identity_empty", () => Promise.resolve());
  pool = new Pool({ connectionString: database.url });
  await migrate(pool);
  authorizationCodes = new PostgresAdapter(pool, "AuthorizationCode");
  sessions = new PostgresAdapter(pool, "Session");
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const expireRecord = (id: string) => pool.query("update provider_records set expires_at = now() where id = $1", [id]);

describe("PostgresAdapter", () => {
  it("finds the last payload that was stored under the same model", async () => {
    await authorizationCodes.upsert("one", { jti: "one", accountId: "first" }, 60);
    await authorizationCodes.upsert("one", { jti: "one", accountId: "second" }, 60);
    expect(await authorizationCodes.find("one")).toEqual({ jti: "one", accountId: "second" });
    expect(await sessions.find("one")).toBeUndefined();
    expect(await authorizationCodes.find("one\0")).toBeUndefined();
  });

  it("finds nothing expired or destroyed", async () => {
    await sessions.upsert("late", { uid: "late-uid" }, 60);
    expect(await sessions.findByUid("late-uid")).toEqual({ uid: "late-uid" });
    await expireRecord("late");
    expect([await sessions.find("late"), await sessions.findByUid("late-uid")]).toEqual([undefined, undefined]);
    await sessions.upsert("gone", {}, 60);
    await sessions.destroy("gone");
    expect(await sessions.find("gone")).toBeUndefined();
  });

  it("keeps the newest question about signing out when an older copy of the session is saved after it", async () => {
    const session = { uid: "u1", accountId: "a" };
    const ask = (secret: string, at: number) => ({ ...session, state: { secret, at } });
    await sessions.upsert("at once", session, 60);
    await sessions.upsert("at once", ask("first", 1), 60);
    await sessions.upsert("at once", session, 60);
    expect(await sessions.find("at once")).toEqual(ask("first", 1));
    await sessions.upsert("at once", ask("second", 2), 60);
    await sessions.upsert("at once", { ...ask("first", 1), loginTs: 3 }, 60);
    expect(await sessions.find("at once")).toEqual({ ...ask("second", 2), loginTs: 3 });
  });

  it("lets no late save bring back an ended session, not even one that waited for the end", async () => {
    await sessions.upsert("ended", { uid: "u2", accountId: "a" }, 60);
    const faults = await openFaultInjector(database.url);
    try {
      await faults.query("begin");
      await faults.query("select 1 from provider_records where id = 'ended' for update");
      const ended = sessions.destroy("ended");
      await faults.waitForBlocked(1);
      const saved = sessions.upsert("ended", { uid: "u2", accountId: "a" }, 60);
      await faults.waitForBlocked(2);
      await faults.release();
      await Promise.all([ended, saved]);
    } finally {
      await faults.close();
    }
    await sessions.upsert("ended", { uid: "u2", accountId: "a" }, 60);
    expect([await sessions.find("ended"), await sessions.findByUid("u2")]).toEqual([undefined, undefined]);
    expect((await pool.query("select payload from provider_records where id = 'ended'")).rows).toEqual([
      { payload: {} },
    ]);
    await deleteExpiredRows(pool);
    await sessions.upsert("ended", { uid: "u2", accountId: "a" }, 60);
    expect(await sessions.find("ended")).toBeUndefined();
  });

  it("keeps records without expiry", async () => {
    await sessions.upsert("for good", { uid: "x" });
    expect(await sessions.find("for good")).toEqual({ uid: "x" });
  });

  it("finds a record by user code", async () => {
    await authorizationCodes.upsert("device", { userCode: "ABCD" }, 60);
    expect(await authorizationCodes.findByUserCode("ABCD")).toEqual({ userCode: "ABCD" });
  });

  it("lets only one of many concurrent calls consume a record, and returns a consumed record after its expiry", async () => {
    await authorizationCodes.upsert("used", { grantId: "g1" }, 60);
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => authorizationCodes.consume("used")));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(results.find(({ status }) => status === "rejected")).toMatchObject({ reason: { error: "invalid_grant" } });
    await expireRecord("used");
    expect(await authorizationCodes.find("used")).toEqual({ grantId: "g1", consumed: expect.any(Number) as number });
  });

  it("revokes the records of one grant only", async () => {
    await authorizationCodes.upsert("of g2", { grantId: "g2" }, 60);
    await authorizationCodes.upsert("of g3", { grantId: "g3" }, 60);
    await authorizationCodes.revokeByGrantId("g2");
    expect([await authorizationCodes.find("of g2"), await authorizationCodes.find("of g3")]).toEqual([
      undefined,
      { grantId: "g3" },
    ]);
  });
});
