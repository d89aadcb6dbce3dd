import { readdir } from "node:fs/promises";
import { join } from "node:path";

import { maxFormerVersions, SecretContent, SecretVersions, type KeyringChange } from "@relicario/shared/api";
import { v7 as uuidv7 } from "uuid";

import {
  buildChange,
  buildLabel,
  buildSecret,
  confirmChange,
  type Person,
  type SecretCall,
} from "../testing/person.ts";
import { startService, testVendors, type TestResponse, type TestService } from "../testing/service.ts";
import { checkStoredContents } from "../testing/storage.ts";
import { buildLargeContent, sha256B64u } from "../testing/upload.ts";

let service: TestService;
let clock: Date;
beforeAll(async () => {
  clock = new Date();
  const vendors = testVendors.map((vendor) =>
    vendor.vendor_id === "second" ? { ...vendor, quota_bytes: 1_000_000, former_versions: 2 } : vendor,
  );
  service = await startService({ VENDORS: JSON.stringify(vendors) }, () => clock);
});
afterAll(() => service.stop());

const advanceDays = (days: number): void => {
  clock = new Date(clock.getTime() + days * 86_400_000);
};
const postSecret = (person: Person, body: unknown): Promise<TestResponse> =>
  service.call("POST", "/secrets/store", person.token, { body });
const storeSecret = async (person: Person, options: Parameters<typeof buildSecret>[1] = {}): Promise<SecretCall> => {
  const call = buildSecret(person, { bytes: 100, ...options });
  const answer = await postSecret(person, call.body);
  if (answer.status !== 200) throw new Error(answer.text);
  confirmChange(person, call.body.keyring);
  return call;
};
const readSecret = (person: Person, id: string, version?: number): Promise<TestResponse> =>
  service.call("POST", "/secrets/store/get-secret", person.token, {
    body: { secret_db_id: id, ...(version === undefined ? {} : { version }) },
  });
const versionRecordsOf = async (person: Person, id: string) =>
  SecretVersions.parse((await service.call("GET", `/secrets/store/${id}/versions`, person.token)).body).versions;
const storedVersionsOf = async (person: Person, id: string) =>
  (await versionRecordsOf(person, id)).filter(({ dropped }) => !dropped).map(({ version }) => version);
const putChange = (person: Person, change: KeyringChange): Promise<TestResponse> =>
  service.call("PUT", "/user/keyring", person.token, { body: change });
const contentBytesOf = (person: Person): Promise<number> => checkStoredContents(service, person);
const digestOfB64u = (text: string): string => sha256B64u(Buffer.from(text, "base64url"));
const objectsOf = async (person: Person): Promise<number> =>
  (await readdir(join(service.objectsFolder, person.userId), { recursive: true, withFileTypes: true })).filter(
    (entry) => entry.isFile(),
  ).length;

/** A secret of the vendor that keeps two former versions, with both of them there. */
const createSecretWithFormerVersions = async (): Promise<{ person: Person; id: string; first: SecretCall }> => {
  const person = await service.signIn(undefined, "second");
  const first = await storeSecret(person);
  const id = first.body.secret_db_id;
  for (const base of [1, 2]) await storeSecret(person, { id, base });
  return { person, id, first };
};

describe("whoever can write, and wants what was there before to be gone", () => {
  it("presses nothing out by overwriting a secret all day, however old what it replaced", async () => {
    const person = await service.signIn();
    const first = await storeSecret(person);
    const id = first.body.secret_db_id;
    advanceDays(400);
    for (let base = 1; base <= maxFormerVersions; base++) {
      await storeSecret(person, { id, base, bytes: 10 });
      advanceDays(1 / 100);
    }
    const furtherVersion = buildSecret(person, { id, base: maxFormerVersions + 1, bytes: 10 });
    expect(await postSecret(person, furtherVersion.body)).toMatchObject({
      status: 409,
      body: { code: "too_many_versions", limit: maxFormerVersions },
    });
    expect(SecretContent.parse((await readSecret(person, id, 1)).body)).toMatchObject({
      version: 1,
      content: first.content.toString("base64url"),
      ticket: first.body.ticket,
    });
    expect(await storedVersionsOf(person, id)).toHaveLength(maxFormerVersions + 1);
  });

  it("hears so before a large content is sent", async () => {
    const { person, id } = await createSecretWithFormerVersions();
    const start = async (base: number) =>
      service.call(
        "POST",
        "/v2/secrets/secret",
        person.token,
        await buildLargeContent({ id, bytes: 200 }).start({ base_version: String(base) }),
      );
    expect(await start(3)).toMatchObject({ status: 409, body: { code: "too_many_versions", limit: 2 } });
    expect(await start(2)).toMatchObject({ status: 409, body: { code: "version_conflict" } });
    advanceDays(31);
    expect((await start(3)).status).toBe(200);
    expect(await storedVersionsOf(person, id)).toEqual([3, 2, 1]); // starting drops nothing
  });

  it("removes no version with a session alone, nor by a change that was altered", async () => {
    const { person, id } = await createSecretWithFormerVersions();
    const signed = buildChange(person, { purge_versions: [{ secret_db_id: id, versions: [1] }] });
    const altered = { ...signed, purge_versions: [{ secret_db_id: id, versions: [2] }] };
    for (const change of [
      altered,
      { ...signed, purge_versions: undefined },
      { ...buildChange(person), purge_versions: altered.purge_versions },
    ]) {
      expect(await service.call("PUT", "/user/keyring", person.token, { body: change })).toMatchObject({
        status: 422,
        body: { code: "keyring_change_invalid" },
      });
    }
    expect(await storedVersionsOf(person, id)).toEqual([3, 2, 1]);
  });
});

describe("former versions", () => {
  it("give way, the oldest first, once they were replaced 30 days ago", async () => {
    const { person, id } = await createSecretWithFormerVersions();
    advanceDays(29.9);
    const fourth = buildSecret(person, { id, base: 3 });
    expect(await postSecret(person, fourth.body)).toMatchObject({ status: 409, body: { code: "too_many_versions" } });
    advanceDays(0.2);
    await storeSecret(person, { id, base: 3 });
    expect(await storedVersionsOf(person, id)).toEqual([4, 3, 2]);
    expect(await readSecret(person, id, 1)).toMatchObject({ status: 410, body: { code: "content_gone" } });
    expect(
      await service.call("POST", "/v2/secrets/get-secret", person.token, { body: { secret_db_id: id, version: 1 } }),
    ).toMatchObject({ status: 410 });
    expect(await contentBytesOf(person)).toBe(300);
    await service.app.sweep();
    expect(await objectsOf(person)).toBe(3);
  });

  it("leave their lines for ever: number and digest of the ticket as it was last", async () => {
    const person = await service.signIn(undefined, "second");
    const first = await storeSecret(person);
    const id = first.body.secret_db_id;
    const ticket = "AAAA";
    const keyring = buildChange(person);
    expect(
      (
        await postSecret(person, {
          secret_db_id: id,
          base_version: 1,
          label: buildLabel(person, id, 1, 2),
          ticket,
          keyring,
        })
      ).status,
    ).toBe(200);
    confirmChange(person, keyring);
    const second = await storeSecret(person, { id, base: 1, bytes: 70 });
    const expected = [
      { version: 2, size: 70, ticket_sha256: digestOfB64u(second.body.ticket), dropped: false },
      { version: 1, size: 100, ticket_sha256: digestOfB64u(ticket), dropped: false },
    ];
    expect(await versionRecordsOf(person, id)).toMatchObject(expected);
    expect((await readSecret(person, id)).body["versions"]).toEqual(await versionRecordsOf(person, id));
    const before = await versionRecordsOf(person, id);
    const purge = buildChange(person, { purge_versions: [{ secret_db_id: id, versions: [1] }] });
    expect((await putChange(person, purge)).status).toBe(200);
    confirmChange(person, purge);
    expect(await versionRecordsOf(person, id)).toEqual(
      before.map((line) => ({ ...line, dropped: line.version === 1 })),
    );
    const stranger = await service.signIn();
    expect(await service.call("GET", `/secrets/store/${id}/versions`, stranger.token)).toMatchObject({ status: 404 });
  });

  it("leave their lines when the trash drops every content, for the next label", async () => {
    const { person, id } = await createSecretWithFormerVersions();
    await service.call("DELETE", `/secrets/store/${id}`, person.token);
    advanceDays(23.1);
    await service.app.sweep();
    advanceDays(7.1);
    await service.app.sweep();
    expect(await readSecret(person, id)).toMatchObject({ status: 410 });
    expect((await versionRecordsOf(person, id)).map(({ version, dropped }) => [version, dropped])).toEqual([
      [3, true],
      [2, true],
      [1, true],
    ]);
    await storeSecret(person, { id, base: 3 });
    expect(await storedVersionsOf(person, id)).toEqual([4]);
    expect(await contentBytesOf(person)).toBe(100);
  });

  it("go by a signed change: their bytes are free, their objects too, and there is room again", async () => {
    const { person, id } = await createSecretWithFormerVersions();
    const change = buildChange(person, { purge_versions: [{ secret_db_id: id, versions: [1, 2] }] });
    expect((await putChange(person, change)).status).toBe(200);
    expect((await putChange(person, change)).status).toBe(200); // once more, byte for byte
    confirmChange(person, change);
    expect(await contentBytesOf(person)).toBe(100);
    await service.app.sweep();
    expect(await objectsOf(person)).toBe(1);
    const repeatedPurge = buildChange(person, { purge_versions: [{ secret_db_id: id, versions: [2] }] });
    expect((await putChange(person, repeatedPurge)).status).toBe(200); // what went before is no error
    confirmChange(person, repeatedPurge);
    await storeSecret(person, { id, base: 3 });
    expect(await storedVersionsOf(person, id)).toEqual([4, 3]);
    expect(await contentBytesOf(person)).toBe(200);
  });

  it("may go with the very version that needs their room", async () => {
    const { person, id } = await createSecretWithFormerVersions();
    await storeSecret(person, { id, base: 3, change: { purge_versions: [{ secret_db_id: id, versions: [2] }] } });
    expect(await storedVersionsOf(person, id)).toEqual([4, 3, 1]);
  });

  it("are the only ones that go so", async () => {
    const { person, id } = await createSecretWithFormerVersions();
    const other = await createSecretWithFormerVersions();
    for (const purges of [
      [{ secret_db_id: id, versions: [3] }],
      [{ secret_db_id: id, versions: [9] }],
      [{ secret_db_id: uuidv7(), versions: [1] }],
      [{ secret_db_id: other.id, versions: [1] }],
      [{ secret_db_id: id, versions: [1, 1] }],
      [
        { secret_db_id: id, versions: [1] },
        { secret_db_id: id, versions: [2] },
      ],
    ]) {
      expect(await putChange(person, buildChange(person, { purge_versions: purges }))).toMatchObject({
        status: 422,
        body: { code: "keyring_change_invalid" },
      });
    }
    expect(await storedVersionsOf(person, id)).toEqual([3, 2, 1]);
    expect(await storedVersionsOf(other.person, other.id)).toEqual([3, 2, 1]);
  });
});
