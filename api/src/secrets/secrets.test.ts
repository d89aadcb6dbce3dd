import { randomBytes } from "node:crypto";
import { zstdDecompressSync } from "node:zlib";

import {
  maxJsonBodyBytes,
  maxLabelLength,
  maxPurgedIds,
  maxSmallSealedBytes,
  SecretContent,
  SecretPage,
  StoredSecret,
  type StoreSecretBody,
} from "@relicario/shared/api";
import { and, eq } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";

import { orphanedObjects, purgedSecrets, secrets, versionObjects } from "../db/schema.ts";
import {
  buildChange,
  buildLabel,
  buildSecret,
  buildJwe,
  confirmChange,
  signTicket,
  type Person,
  type BuiltSecret,
} from "../testing/person.ts";
import { startService, type TestResponse, type TestService } from "../testing/service.ts";
import { checkStoredContents } from "../testing/storage.ts";
import { maxPageLabelBytes } from "./listing.ts";

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const postSecret = (person: Person, body: unknown): Promise<TestResponse> =>
  service.call("POST", "/secrets/store", person.token, { body });

/** Stores a secret and applies the response to `person`. */
const storeSecret = async (person: Person, options: Parameters<typeof buildSecret>[1] = {}): Promise<BuiltSecret> => {
  const call = buildSecret(person, options);
  const response = await postSecret(person, call.body);
  if (response.status !== 200) throw new Error(response.text);
  confirmChange(person, call.body.keyring);
  return call;
};

const listSecrets = async (person: Person, query = ""): Promise<SecretPage> =>
  SecretPage.parse((await service.call("GET", `/secrets/store${query}`, person.token)).body);

const readSecret = async (person: Person, id: string, version?: number): Promise<SecretContent> =>
  SecretContent.parse(
    (
      await service.call("POST", "/secrets/store/get-secret", person.token, {
        body: { secret_db_id: id, ...(version === undefined ? {} : { version }) },
      })
    ).body,
  );

const listObjects = (person: Person): Promise<string[]> => service.listObjects(person.userId);

const buildLabelChange = (person: Person, id: string, version = 1, overrides: Partial<StoreSecretBody> = {}) => ({
  secret_db_id: id,
  base_version: version,
  label: buildLabel(person, id, version, 2),
  ...overrides,
  keyring: buildChange(person),
});

describe("POST /secrets/store with content", () => {
  it("stores the first secret together with the first keyring", async () => {
    const person = await service.signIn();
    const { body, content } = buildSecret(person);
    expect(await postSecret(person, body)).toMatchObject({
      status: 200,
      body: { secret_db_id: body.secret_db_id, version: 1, state_rev: 1 },
    });
    expect(await listSecrets(person)).toMatchObject({
      total: 1,
      state_rev: 1,
      changes: 1,
      next_cursor: null,
      secrets: [{ secret_db_id: body.secret_db_id, version: 1, favorite: false, label: body.label, size: 700 }],
    });
    const storedContent = await readSecret(person, body.secret_db_id);
    expect(storedContent).toMatchObject({
      version: 1,
      ticket: body.ticket,
      label: body.label,
      content: content.toString("base64url"),
      versions: [{ version: 1, size: 700 }],
    });
  });

  it("stores a new version and keeps the former one", async () => {
    const person = await service.signIn();
    const firstVersion = await storeSecret(person);
    const id = firstVersion.body.secret_db_id;
    const secondVersion = await storeSecret(person, { id, base: 1, bytes: 300 });
    expect(await readSecret(person, id)).toMatchObject({
      version: 2,
      ticket: secondVersion.body.ticket,
      content: secondVersion.content.toString("base64url"),
      label: secondVersion.body.label,
    });
    expect(await readSecret(person, id, 1)).toMatchObject({
      version: 1,
      ticket: firstVersion.body.ticket,
      content: firstVersion.content.toString("base64url"),
    });
    expect((await readSecret(person, id)).versions.map(({ version }) => version)).toEqual([2, 1]);
    expect(await listSecrets(person)).toMatchObject({ total: 1, secrets: [{ version: 2, size: 300 }] });
  });

  it("accepts 256 KiB and refuses one byte more", async () => {
    const person = await service.signIn();
    const { body, content } = await storeSecret(person, { bytes: maxSmallSealedBytes });
    expect((await readSecret(person, body.secret_db_id)).content).toBe(content.toString("base64url"));
    const oversizedSecret = buildSecret(person, { bytes: maxSmallSealedBytes + 1 });
    expect(await postSecret(person, oversizedSecret.body)).toMatchObject({
      status: 422,
      body: { code: "validation_error" },
    });
    expect(await postSecret(person, { ...oversizedSecret.body, content: "A".repeat(maxJsonBodyBytes) })).toMatchObject({
      status: 413,
      body: { code: "payload_too_large" },
    });
  });

  it("gives a repeated call the first response, and stores one object", async () => {
    const person = await service.signIn();
    const { body } = buildSecret(person);
    const responses = await Promise.all([1, 2, 3, 4].map(() => postSecret(person, body)));
    expect(responses.map(({ body: responseBody }) => responseBody)).toEqual(
      Array(4).fill({ secret_db_id: body.secret_db_id, version: 1, state_rev: 1 }),
    );
    expect(await listSecrets(person)).toMatchObject({ total: 1, changes: 1 });
    expect(await listObjects(person)).toHaveLength(1);

    confirmChange(person, body.keyring);
    const nextVersion = buildSecret(person, { id: body.secret_db_id, base: 1 });
    for (let count = 0; count < 2; count++)
      expect(await postSecret(person, nextVersion.body)).toMatchObject({
        status: 200,
        body: { version: 2, state_rev: 2 },
      });
    expect(await service.call("PUT", "/user/keyring", person.token, { body: nextVersion.body.keyring })).toMatchObject({
      status: 200,
      body: { state_rev: 2 },
    });
  });

  it("refuses a repeated change with other contents", async () => {
    const person = await service.signIn();
    const { body } = buildSecret(person);
    await postSecret(person, body);
    const alteredBody = { ...body, content: randomBytes(50).toString("base64url") };
    expect(await postSecret(person, alteredBody)).toMatchObject({
      status: 409,
      body: { code: "state_conflict", keyring: { state_rev: 1 } },
    });
    expect((await readSecret(person, body.secret_db_id)).content).toBe(body.content);
  });

  it("answers id_taken for an id of this account, and lets another account use it", async () => {
    const person = await service.signIn();
    const { body } = await storeSecret(person);
    const reusedIdSecret = buildSecret(person, { id: body.secret_db_id });
    expect(await postSecret(person, reusedIdSecret.body)).toMatchObject({ status: 409, body: { code: "id_taken" } });
    const otherPerson = await service.signIn();
    expect((await postSecret(otherPerson, buildSecret(otherPerson, { id: body.secret_db_id }).body)).status).toBe(200);
    expect((await readSecret(person, body.secret_db_id)).content).toBe(body.content);
  });

  it("checks version_conflict before state_conflict, and loses nothing", async () => {
    const person = await service.signIn();
    const { body } = await storeSecret(person);
    const id = body.secret_db_id;
    const staleVersion = buildSecret(person, { id, base: 1 }); // another device, with the same state
    const winningVersion = await storeSecret(person, { id, base: 1 });
    expect(await postSecret(person, staleVersion.body)).toMatchObject({
      status: 409,
      body: { code: "version_conflict", version: 2 },
    });
    const staleState = buildSecret({ ...person, stateRev: 1 }, { id, base: 2 });
    expect(await postSecret(person, staleState.body)).toMatchObject({
      status: 409,
      body: { code: "state_conflict", keyring: { state_rev: 2 } },
    });
    expect((await readSecret(person, id)).content).toBe(winningVersion.content.toString("base64url"));
    await service.app.sweep();
    expect(await listObjects(person)).toHaveLength(2);
  });

  it("accepts exactly one of two devices that both write the first secret", async () => {
    const firstDevice = await service.signIn();
    const secondDevice = { ...firstDevice, imageId: uuidv7() };
    const calls = [buildSecret(firstDevice), buildSecret(secondDevice)];
    const responses = await Promise.all(calls.map(({ body }) => postSecret(firstDevice, body)));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(responses.find(({ status }) => status === 409)?.body).toMatchObject({
      code: "state_conflict",
      keyring: { state_rev: 1 },
    });
    expect(await listSecrets(firstDevice)).toMatchObject({ total: 1, state_rev: 1 });
    expect(await listObjects(firstDevice)).toHaveLength(1);
  });

  it("accepts exactly one of many devices that all write the next version", async () => {
    const person = await service.signIn();
    const { body } = await storeSecret(person);
    const calls = Array.from({ length: 5 }, () => buildSecret(person, { id: body.secret_db_id, base: 1 }));
    const responses = await Promise.all(calls.map((call) => postSecret(person, call.body)));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409]);
    const winningCall = calls[responses.findIndex(({ status }) => status === 200)];
    expect((await readSecret(person, body.secret_db_id)).content).toBe(winningCall?.body.content);
    expect(await listObjects(person)).toHaveLength(2);
  });

  it.each<[string, (person: Person, id: string) => string]>([
    ["another secret", (person) => buildLabel(person, uuidv7(), 1)],
    ["another version", (person, id) => buildLabel(person, id, 2)],
    ["another epoch", (person, id) => buildLabel(person, id, 1, 1, 2)],
    ["another account", (person, id) => buildLabel({ ...person, userId: uuidv7() }, id, 1)],
    [
      "another kind of document",
      (person, id) =>
        buildJwe({ typ: "relicario-book", user_id: person.userId, key_epoch: 1, secret_id: id, version: 1, rev: 1 }),
    ],
    [
      "no rev",
      (person, id) =>
        buildJwe({ typ: "relicario-label", user_id: person.userId, key_epoch: 1, secret_id: id, version: 1 }),
    ],
  ])("refuses a label whose header names %s", async (_, label) => {
    const person = await service.signIn();
    const { body } = buildSecret(person);
    const response = await postSecret(person, { ...body, label: label(person, body.secret_db_id) });
    expect(response).toMatchObject({ status: 422, body: { code: "keyring_change_invalid" } });
    expect(await listSecrets(person)).toMatchObject({ total: 0 });
  });

  it.each<[string, (body: BuiltSecret["body"]) => unknown]>([
    ["an unknown member", (body) => ({ ...body, extra: 1 })],
    ["an id that is no UUIDv7", (body) => ({ ...body, secret_db_id: "019a9e2c-7c1e-4abc-8def-0123456789ab" })],
    ["content that is not base64url", (body) => ({ ...body, content: "a+b/" })],
    ["no ticket", ({ ticket: _, ...body }) => body],
    ["no keyring", ({ keyring: _, ...body }) => body],
    ["base_version 0", (body) => ({ ...body, base_version: 0 })],
  ])("refuses %s with 422 without repeating what was sent", async (_, alter) => {
    const person = await service.signIn();
    const { body } = buildSecret(person);
    const response = await postSecret(person, alter(body));
    expect(response).toMatchObject({ status: 422, body: { code: "validation_error" } });
    expect(response.text).not.toContain(body.ticket.slice(0, 20));
    expect(response.text).not.toContain(body.content.slice(0, 20));
  });

  it("enforces the vendor's quota", async () => {
    const person = await service.signIn(undefined, "second"); // 100,000 bytes
    await storeSecret(person, { bytes: 60_000 });
    expect(await postSecret(person, buildSecret(person, { bytes: 40_001 }).body)).toMatchObject({
      status: 413,
      body: { code: "quota_exceeded" },
    });
    await storeSecret(person, { bytes: 20_000 });
    expect(await checkStoredContents(service, person)).toBe(80_000);
    expect((await service.call("GET", "/user/me", person.token)).body["licence"]).toMatchObject({
      storage_quota: 100_000,
      secrets: 2,
    });
  });
});

describe("POST /secrets/store with a label", () => {
  it("changes only the label, and the ticket if given; the version stays", async () => {
    const person = await service.signIn();
    const { body } = await storeSecret(person);
    const id = body.secret_db_id;
    const labelChange = buildLabelChange(person, id);
    expect(await postSecret(person, labelChange)).toMatchObject({
      status: 200,
      body: { secret_db_id: id, version: 1, state_rev: 2 },
    });
    expect(await readSecret(person, id)).toMatchObject({ version: 1, label: labelChange.label, ticket: body.ticket });
    confirmChange(person, labelChange.keyring);
    const ticket = randomBytes(100).toString("base64url");
    const signature = signTicket(person, { secretId: id, version: 1, ticket });
    const labelAndTicketChange = buildLabelChange(person, id, 1, { ticket, ticket_sig: signature });
    expect((await postSecret(person, labelAndTicketChange)).status).toBe(200);
    expect((await postSecret(person, labelAndTicketChange)).body).toMatchObject({ state_rev: 3 });
    expect(await readSecret(person, id)).toMatchObject({
      version: 1,
      label: labelAndTicketChange.label,
      ticket,
      content: body.content,
    });
    expect(await listSecrets(person)).toMatchObject({ changes: 3, state_rev: 3 });
  });

  it("must name the current version", async () => {
    const person = await service.signIn();
    const { body } = await storeSecret(person);
    await storeSecret(person, { id: body.secret_db_id, base: 1 });
    expect(await postSecret(person, buildLabelChange(person, body.secret_db_id, 1))).toMatchObject({
      status: 409,
      body: { code: "version_conflict", version: 2 },
    });
    expect(await postSecret(person, buildLabelChange(person, uuidv7(), 1))).toMatchObject({
      status: 404,
      body: { code: "not_found" },
    });
  });
});

describe("the trash", () => {
  it("takes a secret and gives it back, idempotently, without a keyring change", async () => {
    const person = await service.signIn();
    const { body } = await storeSecret(person);
    const id = body.secret_db_id;
    const trashSecret = () => service.call("DELETE", `/secrets/store/${id}`, person.token);
    const firstResponse = StoredSecret.parse((await trashSecret()).body);
    expect(firstResponse.deleted_at).toBeDefined();
    expect((await trashSecret()).body).toEqual(firstResponse);
    expect(await listSecrets(person)).toMatchObject({
      total: 1,
      changes: 2,
      state_rev: 1,
      secrets: [{ deleted_at: firstResponse.deleted_at }],
    });
    for (let count = 0; count < 2; count++) {
      expect(await postSecret(person, { secret_db_id: id, restore: true })).toMatchObject({
        status: 200,
        body: { secret_db_id: id, version: 1, state_rev: 1 },
      });
    }
    const pageAfter = await listSecrets(person);
    expect(pageAfter.changes).toBe(3);
    expect(pageAfter.secrets[0]).not.toHaveProperty("deleted_at");
    expect(await service.call("DELETE", `/secrets/store/${uuidv7()}`, person.token)).toMatchObject({ status: 404 });
    expect(await service.call("DELETE", "/secrets/store/not-an-id", person.token)).toMatchObject({ status: 422 });
    expect(await postSecret(person, { secret_db_id: uuidv7(), restore: true })).toMatchObject({ status: 404 });
  });
});

describe("PATCH /secrets/favorite", () => {
  it("sets the star once, whatever the number of calls", async () => {
    const person = await service.signIn();
    const { body } = await storeSecret(person);
    const setFavorite = (favorite: boolean) =>
      service.call("PATCH", "/secrets/favorite", person.token, { body: { secret_db_id: body.secret_db_id, favorite } });
    for (const favorite of [true, true, false]) expect((await setFavorite(favorite)).body).toMatchObject({ favorite });
    expect(await listSecrets(person)).toMatchObject({ changes: 3 });
  });
});

describe("GET /secrets/store", () => {
  it("returns pages in the order of ids, including the trash", async () => {
    const person = await service.signIn();
    const ids: string[] = [];
    for (let count = 0; count < 5; count++) ids.push((await storeSecret(person, { bytes: 10 })).body.secret_db_id);
    await service.call("DELETE", `/secrets/store/${String(ids[1])}`, person.token);
    const seenIds: string[] = [];
    let cursor: string | null = null;
    do {
      const page: SecretPage = await listSecrets(person, `?limit=2${cursor === null ? "" : `&cursor=${cursor}`}`);
      expect(page.total).toBe(5);
      seenIds.push(...page.secrets.map(({ secret_db_id }) => secret_db_id));
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(seenIds).toEqual([...ids].sort());
    for (const query of ["?limit=0", "?limit=1001", "?limit=x", "?cursor=x", "?since=-1", "?unknown=1"]) {
      expect((await service.call("GET", `/secrets/store${query}`, person.token)).status).toBe(422);
    }
  });

  it("limits the bytes of a page, with long labels too; the cursor continues after it", async () => {
    const person = await service.signIn();
    const ids = Array.from({ length: 200 }, () => uuidv7());
    await service.app.services.db.insert(secrets).values(
      ids.map((id) => ({
        accountId: person.userId,
        id,
        version: 1,
        label: `a..a.${"a".repeat(maxLabelLength - 7)}.a`,
        size: 1,
        createdAt: new Date(),
        updatedAt: new Date(),
        changeNumber: 1,
      })),
    );
    const seenIds: string[] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const page: SecretPage = await listSecrets(person, cursor === "" ? "" : `?cursor=${cursor}`);
      const bytes = page.secrets.reduce((sum, { label }) => sum + label.length, 0);
      expect(bytes).toBeLessThanOrEqual(maxPageLabelBytes);
      expect(bytes).toBeGreaterThan(page.next_cursor === null ? 0 : maxPageLabelBytes - maxLabelLength);
      seenIds.push(...page.secrets.map(({ secret_db_id }) => secret_db_id));
      cursor = page.next_cursor;
    }
    expect(seenIds).toEqual([...ids].sort());
  });

  it("is compressed for clients that accept it; no other response is", async () => {
    const person = await service.signIn();
    for (let count = 0; count < 6; count++) await storeSecret(person, { bytes: 5_000 });
    const fetchList = (encodings: string) =>
      service.app.http.inject({
        method: "GET",
        url: "/secrets/store",
        headers: { authorization: `Bearer ${person.token}`, "accept-encoding": encodings },
      });
    const uncompressed = await fetchList("identity");
    const compressed = await fetchList("gzip, br, zstd");
    expect([uncompressed.headers["content-encoding"], compressed.headers["content-encoding"]]).toEqual([
      undefined,
      "zstd",
    ]);
    expect(compressed.rawPayload.length).toBeLessThan(uncompressed.rawPayload.length * 0.8);
    expect(zstdDecompressSync(compressed.rawPayload).toString()).toBe(uncompressed.body);
    expect(String(compressed.headers.vary).toLowerCase()).toContain("accept-encoding");
    const [row] = (await listSecrets(person)).secrets;
    const content = await service.app.http.inject({
      method: "POST",
      url: "/secrets/store/get-secret",
      headers: { authorization: `Bearer ${person.token}`, "accept-encoding": "gzip, br, zstd" },
      payload: { secret_db_id: row?.secret_db_id },
    });
    expect(content.headers).not.toHaveProperty("content-encoding");
  });

  it("returns only later changes with since", async () => {
    const person = await service.signIn();
    const firstId = (await storeSecret(person)).body.secret_db_id;
    const secondId = (await storeSecret(person)).body.secret_db_id;
    const { changes } = await listSecrets(person);
    expect(await listSecrets(person, `?since=${String(changes)}`)).toMatchObject({ secrets: [], purged: [], total: 2 });
    await service.call("PATCH", "/secrets/favorite", person.token, { body: { secret_db_id: firstId, favorite: true } });
    const changedPage = await listSecrets(person, `?since=${String(changes)}`);
    expect(changedPage).toMatchObject({
      secrets: [{ secret_db_id: firstId, favorite: true }],
      changes: changes + 1,
      total: 2,
    });
    expect((await listSecrets(person, "?since=1")).secrets.map(({ secret_db_id }) => secret_db_id)).toEqual(
      [firstId, secondId].sort(),
    );
  });

  it("returns purged ids with since, and none when there are too many", async () => {
    const person = await service.signIn();
    await storeSecret(person);
    const { changes } = await listSecrets(person);
    const insertPurged = (numbers: readonly number[]) =>
      service.app.services.db
        .insert(purgedSecrets)
        .values(numbers.map((number) => ({ accountId: person.userId, id: uuidv7(), changeNumber: changes + number })));
    await insertPurged(Array.from({ length: maxPurgedIds }, (_, index) => index + 1));
    expect((await listSecrets(person, `?since=${String(changes)}`)).purged).toHaveLength(maxPurgedIds);
    await insertPurged([maxPurgedIds + 1]);
    expect(await listSecrets(person, `?since=${String(changes)}`)).not.toHaveProperty("purged");
    expect((await listSecrets(person, `?since=${String(changes + 1)}`)).purged).toHaveLength(maxPurgedIds);
  });

  it("answers 304 until a row or the state changes", async () => {
    const person = await service.signIn();
    const { body } = await storeSecret(person);
    const fetchWithEtag = (etag: string) =>
      service.call("GET", "/secrets/store", person.token, { headers: { "if-none-match": etag } });
    const firstEtag = String((await fetchWithEtag('"none"')).headers["etag"]);
    expect(await fetchWithEtag(firstEtag)).toMatchObject({ status: 304, text: "" });
    await service.call("PATCH", "/secrets/favorite", person.token, {
      body: { secret_db_id: body.secret_db_id, favorite: true },
    });
    const nextResponse = await fetchWithEtag(firstEtag);
    expect(nextResponse.status).toBe(200);
    await service.call("PUT", "/user/keyring", person.token, { body: buildChange(person) });
    expect(await fetchWithEtag(String(nextResponse.headers["etag"]))).toMatchObject({
      status: 200,
      body: { state_rev: 2 },
    });
  });
});

describe("POST /secrets/store/get-secret", () => {
  it("returns content, ticket and label of the newest version, or content and ticket of a named version", async () => {
    const person = await service.signIn();
    const firstVersion = await storeSecret(person);
    const id = firstVersion.body.secret_db_id;
    const secondVersion = buildSecret(person, { id, base: 1 });
    expect(await postSecret(person, secondVersion.body)).toMatchObject({ status: 200 });
    const fetchSecret = (overrides: object) =>
      service.call("POST", "/secrets/store/get-secret", person.token, { body: { secret_db_id: id, ...overrides } });
    const { label } = secondVersion.body;
    expect(await fetchSecret({})).toMatchObject({
      status: 200,
      body: {
        version: 2,
        content: secondVersion.body.content,
        ticket: secondVersion.body.ticket,
        label,
        versions: [
          { version: 2, size: 700 },
          { version: 1, size: 700 },
        ],
      },
    });
    expect(await fetchSecret({ version: 1 })).toMatchObject({
      status: 200,
      body: { version: 1, content: firstVersion.body.content, ticket: firstVersion.body.ticket, label },
    });
    const stranger = await service.signIn();
    expect(
      await service.call("POST", "/secrets/store/get-secret", stranger.token, { body: { secret_db_id: id } }),
    ).toMatchObject({ status: 404 });
  });

  it("never returns bytes other than those that were stored", async () => {
    const person = await service.signIn();
    const { body } = await storeSecret(person);
    const id = body.secret_db_id;
    const [row] = await service.app.services.db
      .select()
      .from(versionObjects)
      .where(and(eq(versionObjects.accountId, person.userId), eq(versionObjects.secretId, id)));
    await service.replaceObject(String(row?.objectKey), randomBytes(700));
    expect(
      await service.call("POST", "/secrets/store/get-secret", person.token, { body: { secret_db_id: id } }),
    ).toMatchObject({ status: 500, body: { code: "internal_error" } });
    expect(
      await service.call("POST", "/secrets/store/get-secret", person.token, { body: { secret_db_id: id, version: 2 } }),
    ).toMatchObject({ status: 404 });
  });
});

describe("objects", () => {
  it("are deleted when unpublished and due, and kept when published", async () => {
    const person = await service.signIn();
    const { body } = await storeSecret(person);
    const { db } = service.app.services;
    const objectKey = `${person.userId}/${uuidv7()}/1-unpublished`;
    await db
      .insert(orphanedObjects)
      .values({ accountId: person.userId, objectKey, dueAt: new Date(Date.now() + 60_000) });
    await service.replaceObject(objectKey, randomBytes(10));
    await service.app.sweep();
    expect(await listObjects(person)).toHaveLength(2);
    await db
      .update(orphanedObjects)
      .set({ dueAt: new Date(Date.now() - 1) })
      .where(and(eq(orphanedObjects.accountId, person.userId), eq(orphanedObjects.objectKey, objectKey)));
    await service.app.sweep();
    expect(await listObjects(person)).toHaveLength(1);
    expect((await readSecret(person, body.secret_db_id)).content).toBe(body.content);
    expect(await db.select().from(orphanedObjects).where(eq(orphanedObjects.accountId, person.userId))).toEqual([]);
  });
});
