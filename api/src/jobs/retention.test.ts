import { sql } from "drizzle-orm";

import type { Person } from "../testing/person.ts";
import { startService, type TestService } from "../testing/service.ts";
import { createRequest, createSharedSecret, formatDaysFromNow } from "../testing/sharing.ts";

let service: TestService;
let clock: Date;
beforeAll(async () => {
  clock = new Date();
  service = await startService({}, () => clock);
});
afterAll(() => service.stop());

const passDays = async (days: number): Promise<void> => {
  clock = new Date(clock.getTime() + days * 86_400_000);
  await service.app.sweep();
};

async function countRows(table: string, { userId }: Person): Promise<number> {
  const { rows } = await service.app.services.db.execute<{ count: number }>(
    sql.raw(`select count(*)::int as count from ${table} where account_id = '${userId}'`),
  );
  return rows[0]?.count ?? 0;
}

describe("rows that no one needs", () => {
  it("of shares and requests are deleted 90 days after their expiry, with recipients' entries; their ids are not used again", async () => {
    const recipient = await service.signIn();
    const { owner, share } = await createSharedSecret(service, { recipient: recipient.userId });
    const { shareId } = share;
    const { requestId } = await createRequest(service, owner, { expires_at: formatDaysFromNow(7, clock) });
    await passDays(7 + 31); // drops tickets and documents
    await passDays(58);
    expect(await Promise.all(["shares", "requests"].map((table) => countRows(table, owner)))).toEqual([1, 1]);
    expect(await countRows("share_recipients", recipient)).toBe(1);
    await passDays(2);
    expect(await Promise.all(["shares", "requests"].map((table) => countRows(table, owner)))).toEqual([0, 0]);
    expect(await countRows("share_recipients", recipient)).toBe(0);
    const { rows } = await service.app.services.db.execute(sql`select public_id from public_ids order by public_id`);
    expect(rows).toEqual([shareId, requestId].sort().map((public_id) => ({ public_id })));
  });

  it("of sessions are deleted a day after their expiry, except the last of each sign-in", async () => {
    const exchange = async (sid: string): Promise<string> => {
      const token = await service.issuer.createAccessToken("renews-often", { sid });
      const body = { token };
      return String((await service.call("POST", "/auth/token?app_vendor_id=relicario", null, { body })).body["token"]);
    };
    for (let count = 0; count < 5; count++) await exchange("yesterday");
    const revoked = await exchange("signed-out");
    await exchange("signed-out");
    await service.call("DELETE", "/auth/token", revoked);
    const { db } = service.app.services;
    await db.execute(
      sql`update sessions set expires_at = now() - interval '25 hours' where provider_session is not null`,
    );
    await exchange("today");
    const { rows } = await db.execute(
      sql`select provider_session as sid, count(*)::int as count, bool_and(revoked_at is not null) as revoked
          from sessions where provider_session is not null group by 1 order by 1`,
    );
    expect(rows).toEqual([
      { sid: "signed-out", count: 1, revoked: true },
      { sid: "today", count: 1, revoked: false },
      { sid: "yesterday", count: 1, revoked: false },
    ]);
  });

  it("of sessions are deleted 30 days after their expiry, even when no one signs in again", async () => {
    const person = await service.signIn();
    const setEnd = (days: number) =>
      service.app.services.db.execute(
        sql`update sessions set expires_at = now() - ${days} * interval '1 day' where account_id = ${person.userId}`,
      );
    await setEnd(29);
    await service.app.sweep();
    expect(await countRows("sessions", person)).toBe(1);
    await setEnd(31);
    await service.app.sweep();
    expect(await countRows("sessions", person)).toBe(0);
  });
});
