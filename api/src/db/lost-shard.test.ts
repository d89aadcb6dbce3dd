import { decodeJwt } from "jose";

import type { TestDatabase } from "@relicario/tooling/database/test-database";

import { isOnLostShard, startShardedDatabase, type ShardedDatabase } from "../testing/lost-shard.ts";
import { metricsToken } from "../testing/metrics.ts";
import { buildSecret, confirmChange, type Person } from "../testing/person.ts";
import { createServiceDatabase, startService, type TestService } from "../testing/service.ts";

let database: TestDatabase;
let sharded: ShardedDatabase;
let service: TestService;
beforeEach(async () => {
  database = await createServiceDatabase();
  sharded = await startShardedDatabase(database.serviceUrl);
  service = await startService({ DATABASE_URL: sharded.url, METRICS_TOKEN: metricsToken });
});
afterEach(async () => {
  sharded.restoreShard();
  await service.stop();
  await sharded.close();
  await database.drop();
});

/** A person whose account is on the shard, or not. */
async function signInOnShard(onLostShard: boolean): Promise<Person> {
  for (;;) {
    const person = await service.signIn();
    if (isOnLostShard(String(decodeJwt(person.token).sub)) === onLostShard) return person;
  }
}

const exchangeToken = async (subject: string): Promise<number> => {
  const token = await service.issuer.createAccessToken(subject);
  return (await service.call("POST", "/auth/token?app_vendor_id=relicario", null, { body: { token } })).status;
};
const readProfile = async ({ token }: Person): Promise<number> => (await service.call("GET", "/user/me", token)).status;
async function storeSecret(person: Person): Promise<number> {
  const { body } = buildSecret(person);
  const { status } = await service.call("POST", "/secrets/store", person.token, { body });
  if (status === 200) confirmChange(person, body.keyring);
  return status;
}
/** A check asks for some accounts at random, and counts a slow answer as none. */
async function waitForReadiness(expected: "ok" | "partial"): Promise<void> {
  while ((await service.call("GET", "/readyz", null)).body["database"] !== expected);
}
const readUnreachableRatio = async (): Promise<number> => {
  const { text } = await service.call("GET", "/metrics", metricsToken);
  return Number(/^relicario_unreachable_accounts_ratio (\S+)$/m.exec(text)?.[1]);
};

describe("with a lost shard, the service", () => {
  it("serves the accounts of others, refuses its own, says so, and serves all when it is back", async () => {
    const [other, lost] = [await signInOnShard(false), await signInOnShard(true)];
    await waitForReadiness("ok");
    expect(await readUnreachableRatio()).toBe(0);

    sharded.loseShard();
    expect([await exchangeToken(other.subject), await readProfile(other), await storeSecret(other)]).toEqual([
      200, 200, 200,
    ]);
    expect([await exchangeToken(lost.subject), await readProfile(lost), await storeSecret(lost)]).toEqual([
      503, 503, 503,
    ]);
    await waitForReadiness("partial");
    expect(await readUnreachableRatio()).toBeGreaterThan(0);

    sharded.restoreShard();
    expect([await exchangeToken(lost.subject), await readProfile(lost), await storeSecret(lost)]).toEqual([
      200, 200, 200,
    ]);
    await waitForReadiness("ok");
    expect(await readUnreachableRatio()).toBe(0);
  });
});
