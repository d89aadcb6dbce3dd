import type { KeyringChange } from "@relicario/shared/api";

import { quotaReserveBytes } from "../accounts/storage-used.ts";
import { buildChange, buildSecret, confirmChange, type Person } from "../testing/person.ts";
import { startService, type TestResponse, type TestService } from "../testing/service.ts";
import { checkStorageCounts } from "../testing/storage-count-check.ts";

jest.setTimeout(120_000); // 60 operations, on a machine that may be busy

let service: TestService;
beforeAll(async () => {
  service = await startService({
    VENDORS: JSON.stringify([{ vendor_id: "small", name: "Small", quota_bytes: 30_000 }]),
  });
});
afterAll(() => service.stop());

const requireOk = async (response: Promise<TestResponse>): Promise<TestResponse> => {
  const { status, text } = await response;
  if (status >= 300) throw new Error(text);
  return response;
};

describe("storage used", () => {
  it("equals the tables' bytes after any operations", () => checkStorageCounts(1));
});

describe("a full account", () => {
  const readStorageUsed = async (person: Person): Promise<number> =>
    ((await service.call("GET", "/user/me", person.token)).body["licence"] as { storage_used: number }).storage_used;

  it("accepts no more content, label, ticket or keyring bytes", async () => {
    const person = await service.signIn(undefined, "small");
    const { body } = buildSecret(person);
    await requireOk(service.call("POST", "/secrets/store", person.token, { body }));
    confirmChange(person, body.keyring);
    const usedBefore = await readStorageUsed(person);
    expect(usedBefore).toBeGreaterThan(9_000); // 700 bytes of content with everything that belongs to it
    const furtherSecret = buildSecret(person, { bytes: 29_000 - usedBefore });
    expect(await service.call("POST", "/secrets/store", person.token, { body: furtherSecret.body })).toMatchObject({
      status: 413,
      body: { code: "quota_exceeded" },
    });
    expect(await readStorageUsed(person)).toBe(usedBefore);
  });

  it("can still change its keyring and remove secrets, within a reserve", async () => {
    const person = await service.signIn(undefined, "small");
    const { body } = buildSecret(person);
    await requireOk(service.call("POST", "/secrets/store", person.token, { body }));
    confirmChange(person, body.keyring);
    await service.app.services.db.execute(
      `update accounts set storage_used = ${String(30_000 + quotaReserveBytes - 20_000)} where id = '${person.userId}'`,
    );
    const putChange = (change: KeyringChange): Promise<TestResponse> =>
      service.call("PUT", "/user/keyring", person.token, { body: change });
    const change = buildChange(person, {});
    await requireOk(putChange(change));
    confirmChange(person, change);
    await service.app.services.db.execute(
      `update accounts set storage_used = ${String(30_000 + quotaReserveBytes)} where id = '${person.userId}'`,
    );
    expect(await putChange(buildChange(person, {}))).toMatchObject({ status: 413, body: { code: "quota_exceeded" } });
    await requireOk(service.call("DELETE", `/secrets/store/${body.secret_db_id}`, person.token));
    await requireOk(putChange(buildChange(person, { purge: [body.secret_db_id] })));
  });
});
