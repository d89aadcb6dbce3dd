import { maxFormerVersions, SecretContent, SecretVersions, type KeyringChange } from "@relicario/shared/api";
import { sql } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";

import {
  buildChange,
  buildLabel,
  buildSecret,
  confirmChange,
  signTicket,
  type Person,
  type BuiltSecret,
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
const storeSecret = async (person: Person, options: Parameters<typeof buildSecret>[1] = {}): Promise<BuiltSecret> => {
  const call = buildSecret(person, { bytes: 100, ...options });
  const response = await postSecret(person, call.body);
  if (response.status !== 200) throw new Error(response.text);
  confirmChange(person, call.body.keyring);
  return call;
};
const readSecret = (person: Person, id: string, version?: number): Promise<TestResponse> =>
  service.call("POST", "/secrets/store/get-secret", person.token, {
    body: { secret_db_id: id, ...(version === undefined ? {} : { version }) },
  });
const readVersionRecords = async (person: Person, id: string) =>
  SecretVersions.parse((await service.call("GET", `/secrets/store/${id}/versions`, person.token)).body).versions;
const readStoredVersions = async (person: Person, id: string) =>
  (await readVersionRecords(person, id)).filter(({ dropped }) => !dropped).map(({ version }) => version);
const putChange = (person: Person, change: KeyringChange): Promise<TestResponse> =>
  service.call("PUT", "/user/keyring", person.token, { body: change });
const readContentBytes = (person: Person): Promise<number> => checkStoredContents(service, person);
const digestB64u = (text: string): string => sha256B64u(Buffer.from(text, "base64url"));
const countObjects = async (person: Person): Promise<number> => (await service.listObjects(person.userId)).length;

/** A secret with two former versions, the most that its vendor keeps. */
const createSecretWithFormerVersions = async (): Promise<{ person: Person; id: string; first: BuiltSecret }> => {
  const person = await service.signIn(undefined, "second");
  const first = await storeSecret(person);
  const id = first.body.secret_db_id;
  for (const base of [1, 2]) await storeSecret(person, { id, base });
  return { person, id, first };
};

describe("an attacker with write access", () => {
  it("cannot push out recent versions by overwriting a secret repeatedly", async () => {
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
    expect(await readStoredVersions(person, id)).toHaveLength(maxFormerVersions + 1);
  });

  it("is refused before a large content is sent", async () => {
    const { person, id } = await createSecretWithFormerVersions();
    const startUpload = async (base: number) =>
      service.call(
        "POST",
        "/v2/secrets/secret",
        person.token,
        await buildLargeContent({ id, bytes: 200 }).buildStartForm({ base_version: String(base) }),
      );
    expect(await startUpload(3)).toMatchObject({ status: 409, body: { code: "too_many_versions", limit: 2 } });
    expect(await startUpload(2)).toMatchObject({ status: 409, body: { code: "version_conflict" } });
    advanceDays(31);
    expect((await startUpload(3)).status).toBe(200);
    expect(await readStoredVersions(person, id)).toEqual([3, 2, 1]); // starting drops nothing
  });

  it("cannot remove a version with a session alone, nor with an altered change", async () => {
    const { person, id } = await createSecretWithFormerVersions();
    const signedChange = buildChange(person, { purge_versions: [{ secret_db_id: id, versions: [1] }] });
    const alteredChange = { ...signedChange, purge_versions: [{ secret_db_id: id, versions: [2] }] };
    for (const change of [
      alteredChange,
      { ...signedChange, purge_versions: undefined },
      { ...buildChange(person), purge_versions: alteredChange.purge_versions },
    ]) {
      expect(await service.call("PUT", "/user/keyring", person.token, { body: change })).toMatchObject({
        status: 422,
        body: { code: "keyring_change_invalid" },
      });
    }
    expect(await readStoredVersions(person, id)).toEqual([3, 2, 1]);
  });
});

describe("former versions", () => {
  it("are dropped, the oldest first, once they were replaced 30 days ago", async () => {
    const { person, id } = await createSecretWithFormerVersions();
    advanceDays(29.9);
    const fourthVersion = buildSecret(person, { id, base: 3 });
    expect(await postSecret(person, fourthVersion.body)).toMatchObject({
      status: 409,
      body: { code: "too_many_versions" },
    });
    advanceDays(0.2);
    await storeSecret(person, { id, base: 3 });
    expect(await readStoredVersions(person, id)).toEqual([4, 3, 2]);
    expect(await readSecret(person, id, 1)).toMatchObject({ status: 410, body: { code: "content_gone" } });
    expect(
      await service.call("POST", "/v2/secrets/get-secret", person.token, { body: { secret_db_id: id, version: 1 } }),
    ).toMatchObject({ status: 410 });
    expect(await readContentBytes(person)).toBe(300);
    await service.app.sweep();
    expect(await countObjects(person)).toBe(3);
  });

  it("are listed in pages, newest first, of which a content brings the first", async () => {
    const person = await service.signIn();
    const id = (await storeSecret(person)).body.secret_db_id;
    await storeSecret(person, { id, base: 1 });
    const { db } = service.app.services;
    await db.execute(sql`update secret_versions set version = 251 where secret_id = ${id} and version = 2`);
    await db.execute(sql`update secrets set version = 251 where id = ${id}`);
    await db.execute(
      sql`insert into secret_versions (account_id, secret_id, version, ticket_sha256, size, part_size, content_sha256, created_at, dropped_at)
          select account_id, secret_id, number, ticket_sha256, size, part_size, content_sha256, created_at, now()
          from secret_versions, generate_series(2, 250) number where secret_id = ${id} and version = 1`,
    );
    const pages: SecretVersions[] = [];
    for (let cursor: string | null = ""; cursor !== null; cursor = pages.at(-1)?.next_cursor ?? null) {
      const query = cursor === "" ? "" : `?cursor=${cursor}`;
      pages.push(
        SecretVersions.parse((await service.call("GET", `/secrets/store/${id}/versions${query}`, person.token)).body),
      );
    }
    expect(pages.map(({ versions }) => versions.length)).toEqual([100, 100, 51]);
    expect(pages.flatMap(({ versions }) => versions.map(({ version }) => version))).toEqual(
      Array.from({ length: 251 }, (_, index) => 251 - index),
    );
    expect(pages.map(({ state_rev: stateRev }) => stateRev)).toEqual([2, 2, 2]);
    expect((await readSecret(person, id, 1)).body).toMatchObject({
      versions: pages[0]?.versions,
      next_cursor: pages[0]?.next_cursor,
    });
    await storeSecret(person, { id, base: 251 });
    expect((await service.call("GET", `/secrets/store/${id}/versions?limit=1`, person.token)).body).toMatchObject({
      versions: [{ version: 252 }],
      next_cursor: "252",
      state_rev: 3,
    });
    for (const query of ["limit=0", "limit=1001", "cursor=0", "cursor=x"])
      expect((await service.call("GET", `/secrets/store/${id}/versions?${query}`, person.token)).status).toBe(422);
  });

  it("keep their rows for ever: number and digest of the last ticket", async () => {
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
          ticket_sig: signTicket(person, { secretId: id, version: 1, ticket }),
          keyring,
        })
      ).status,
    ).toBe(200);
    confirmChange(person, keyring);
    const secondVersion = await storeSecret(person, { id, base: 1, bytes: 70 });
    const expectedRecords = [
      { version: 2, size: 70, ticket_sha256: digestB64u(secondVersion.body.ticket), dropped: false },
      { version: 1, size: 100, ticket_sha256: digestB64u(ticket), dropped: false },
    ];
    expect(await readVersionRecords(person, id)).toMatchObject(expectedRecords);
    expect((await readSecret(person, id)).body["versions"]).toEqual(await readVersionRecords(person, id));
    const recordsBefore = await readVersionRecords(person, id);
    const purgeChange = buildChange(person, { purge_versions: [{ secret_db_id: id, versions: [1] }] });
    expect((await putChange(person, purgeChange)).status).toBe(200);
    confirmChange(person, purgeChange);
    expect(await readVersionRecords(person, id)).toEqual(
      recordsBefore.map((line) => ({ ...line, dropped: line.version === 1 })),
    );
    const stranger = await service.signIn();
    expect(await service.call("GET", `/secrets/store/${id}/versions`, stranger.token)).toMatchObject({ status: 404 });
  });

  it("keep the rows that the next label signs, when the trash drops every content", async () => {
    const { person, id } = await createSecretWithFormerVersions();
    await service.call("DELETE", `/secrets/store/${id}`, person.token);
    const confirmation = buildChange(person, { trash_confirm: [id] });
    expect((await putChange(person, confirmation)).status).toBe(200);
    confirmChange(person, confirmation);
    advanceDays(23.1);
    await service.app.sweep();
    advanceDays(7.1);
    await service.app.sweep();
    expect(await readSecret(person, id)).toMatchObject({ status: 410 });
    expect((await readVersionRecords(person, id)).map(({ version, dropped }) => [version, dropped])).toEqual([
      [3, true],
      [2, true],
      [1, true],
    ]);
    await storeSecret(person, { id, base: 3 });
    expect(await readStoredVersions(person, id)).toEqual([4]);
    expect(await readContentBytes(person)).toBe(100);
  });

  it("are purged by a signed change, with their bytes and objects, which makes room again", async () => {
    const { person, id } = await createSecretWithFormerVersions();
    const change = buildChange(person, { purge_versions: [{ secret_db_id: id, versions: [1, 2] }] });
    expect((await putChange(person, change)).status).toBe(200);
    expect((await putChange(person, change)).status).toBe(200); // a repetition
    confirmChange(person, change);
    expect(await readContentBytes(person)).toBe(100);
    await service.app.sweep();
    expect(await countObjects(person)).toBe(1);
    const repeatedPurge = buildChange(person, { purge_versions: [{ secret_db_id: id, versions: [2] }] });
    expect((await putChange(person, repeatedPurge)).status).toBe(200); // a version that is dropped already is ignored
    confirmChange(person, repeatedPurge);
    await storeSecret(person, { id, base: 3 });
    expect(await readStoredVersions(person, id)).toEqual([4, 3]);
    expect(await readContentBytes(person)).toBe(200);
  });

  it("can be purged by the change that stores the new version in their place", async () => {
    const { person, id } = await createSecretWithFormerVersions();
    await storeSecret(person, { id, base: 3, change: { purge_versions: [{ secret_db_id: id, versions: [2] }] } });
    expect(await readStoredVersions(person, id)).toEqual([4, 3, 1]);
  });

  it("are the only versions that a change can purge", async () => {
    const { person, id } = await createSecretWithFormerVersions();
    const otherSecret = await createSecretWithFormerVersions();
    for (const purges of [
      [{ secret_db_id: id, versions: [3] }],
      [{ secret_db_id: id, versions: [9] }],
      [{ secret_db_id: uuidv7(), versions: [1] }],
      [{ secret_db_id: otherSecret.id, versions: [1] }],
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
    expect(await readStoredVersions(person, id)).toEqual([3, 2, 1]);
    expect(await readStoredVersions(otherSecret.person, otherSecret.id)).toEqual([3, 2, 1]);
  });
});
