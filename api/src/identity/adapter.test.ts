import { Pool } from "pg";

import { createTestDatabase, type TestDatabase } from "@relicario/tooling/database/for-tests";
import { PostgresAdapter } from "./adapter.ts";
import { migrate } from "./database.ts";

let database: TestDatabase;
let pool: Pool;
let codes: PostgresAdapter;
let sessions: PostgresAdapter;

beforeAll(async () => {
  database = await createTestDatabase("identity_empty", () => Promise.resolve());
  pool = new Pool({ connectionString: database.url });
  await migrate(pool);
  codes = new PostgresAdapter(pool, "AuthorizationCode");
  sessions = new PostgresAdapter(pool, "Session");
});
afterAll(async () => {
  await pool.end();
  await database.drop();
});

const expire = (id: string) => pool.query("update provider_records set expires_at = now() where id = $1", [id]);

describe("PostgresAdapter", () => {
  it("finds what was put, the last time, within its model", async () => {
    await codes.upsert("one", { jti: "one", accountId: "first" }, 60);
    await codes.upsert("one", { jti: "one", accountId: "second" }, 60);
    expect(await codes.find("one")).toEqual({ jti: "one", accountId: "second" });
    expect(await sessions.find("one")).toBeUndefined();
    expect(await codes.find("one\0")).toBeUndefined();
  });

  it("finds nothing that has expired or was destroyed", async () => {
    await sessions.upsert("late", { uid: "late-uid" }, 60);
    expect(await sessions.findByUid("late-uid")).toEqual({ uid: "late-uid" });
    await expire("late");
    expect([await sessions.find("late"), await sessions.findByUid("late-uid")]).toEqual([undefined, undefined]);
    await sessions.upsert("gone", {}, 60);
    await sessions.destroy("gone");
    expect(await sessions.find("gone")).toBeUndefined();
  });

  it("keeps what has no end", async () => {
    await sessions.upsert("for good", { uid: "x" });
    expect(await sessions.find("for good")).toEqual({ uid: "x" });
  });

  it("finds by user code", async () => {
    await codes.upsert("device", { userCode: "ABCD" }, 60);
    expect(await codes.findByUserCode("ABCD")).toEqual({ userCode: "ABCD" });
  });

  it("lets one of many consume, and shows that it was, even after its end", async () => {
    await codes.upsert("used", { grantId: "g1" }, 60);
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => codes.consume("used")));
    expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    expect(results.find(({ status }) => status === "rejected")).toMatchObject({ reason: { error: "invalid_grant" } });
    await expire("used");
    expect(await codes.find("used")).toEqual({ grantId: "g1", consumed: expect.any(Number) as number });
  });

  it("revokes what belongs to a grant, and no more", async () => {
    await codes.upsert("of g2", { grantId: "g2" }, 60);
    await codes.upsert("of g3", { grantId: "g3" }, 60);
    await codes.revokeByGrantId("g2");
    expect([await codes.find("of g2"), await codes.find("of g3")]).toEqual([undefined, { grantId: "g3" }]);
  });
});
