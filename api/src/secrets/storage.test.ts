import type { KeyringChange } from "@relicario/shared/api";

import { checkCounts } from "../testing/counted-device.ts";
import { buildChange, buildSecret, confirm, type Person } from "../testing/person.ts";
import { startService, type Answer, type TestService } from "../testing/service.ts";
import { reserveBytes } from "./quota.ts";

jest.setTimeout(120_000); // 60 acts, on a machine that may be busy

let service: TestService;
beforeAll(async () => {
  service = await startService({
    VENDORS: JSON.stringify([{ vendor_id: "small", name: "Small", quota_bytes: 30_000 }]),
  });
});
afterAll(() => service.stop());

const requireOk = async (answer: Promise<Answer>): Promise<Answer> => {
  const { status, text } = await answer;
  if (status >= 300) throw new Error(text);
  return answer;
};

describe("what the service counts", () => {
  it("is what the tables hold, whatever was done", () => checkCounts(1));
});

describe("a full account", () => {
  const stored = async (person: Person): Promise<number> =>
    ((await service.call("GET", "/user/me", person.token)).body["licence"] as { storage_used: number }).storage_used;

  it("takes no more contents, by whatever they are counted: their own bytes, label, ticket or keyring", async () => {
    const person = await service.signIn(undefined, "small");
    const { body } = buildSecret(person);
    await requireOk(service.call("POST", "/secrets/store", person.token, { body }));
    confirm(person, body.keyring);
    const before = await stored(person);
    expect(before).toBeGreaterThan(9_000); // 700 bytes of content, and all that belongs to it
    const further = buildSecret(person, { bytes: 29_000 - before });
    expect(await service.call("POST", "/secrets/store", person.token, { body: further.body })).toMatchObject({
      status: 413,
      body: { code: "quota_exceeded" },
    });
    expect(await stored(person)).toBe(before);
  });

  it("can still change its keyring and remove secrets, within a reserve", async () => {
    const person = await service.signIn(undefined, "small");
    const { body } = buildSecret(person);
    await requireOk(service.call("POST", "/secrets/store", person.token, { body }));
    confirm(person, body.keyring);
    await service.app.services.db.execute(
      `update accounts set storage_used = ${String(30_000 + reserveBytes - 20_000)} where id = '${person.userId}'`,
    );
    const put = (change: KeyringChange): Promise<Answer> =>
      service.call("PUT", "/user/keyring", person.token, { body: change });
    const change = buildChange(person, {});
    await requireOk(put(change));
    confirm(person, change);
    await service.app.services.db.execute(
      `update accounts set storage_used = ${String(30_000 + reserveBytes)} where id = '${person.userId}'`,
    );
    expect(await put(buildChange(person, {}))).toMatchObject({ status: 413, body: { code: "quota_exceeded" } });
    await requireOk(service.call("DELETE", `/secrets/store/${body.secret_db_id}`, person.token));
    await requireOk(put(buildChange(person, { purge: [body.secret_db_id] })));
  });
});
