import { generateKeyPairSync } from "node:crypto";

import { Keyring, maxStatesPageSize, type Json, type KeyringChange } from "@relicario/shared/api";
import { asc, eq } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";

import { imageRecords, formerKeyringParts, keyrings, keyringStates } from "../db/schema.ts";
import {
  buildChange,
  buildImageRecord,
  buildJwe,
  buildLabel,
  buildSecret,
  buildSlot,
  buildStatement,
  confirmChange,
  createPerson,
  computeDigest,
  signDocument,
  type Person,
} from "../testing/person.ts";
import { startService, type TestResponse, type TestService } from "../testing/service.ts";
import { checkStoredContents } from "../testing/storage.ts";

let service: TestService;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

/** A person with a first secret and keyring. */
const createPersonWithKeyring = async (): Promise<{ person: Person; secretId: string }> => {
  const person = await service.signIn();
  const { body } = buildSecret(person);
  const response = await service.call("POST", "/secrets/store", person.token, { body });
  if (response.status !== 200) throw new Error(response.text);
  confirmChange(person, body.keyring);
  return { person, secretId: body.secret_db_id };
};

const putChange = (person: Person, change: KeyringChange): Promise<TestResponse> =>
  service.call("PUT", "/user/keyring", person.token, { body: change });

const readStateRev = async (person: Person): Promise<unknown> =>
  (await service.call("GET", "/user/keyring", person.token)).body["state_rev"];

describe("the first keyring change", () => {
  it("is stored with all its documents", async () => {
    const person = await service.signIn();
    const { body } = buildSecret(person);
    await service.call("POST", "/secrets/store", person.token, { body });
    const response = await service.call("GET", "/user/keyring", person.token);
    const { book, shares, state, slots, key_statement } = body.keyring;
    expect(Keyring.parse(response.body)).toEqual({
      key_epoch: 1,
      state_rev: 1,
      book,
      shares,
      requests: null,
      state,
      slots: slots?.set,
      key_statement,
    });
    const imageRecordsResponse = await service.call("GET", "/user/image-records", person.token);
    expect(imageRecordsResponse.body).toEqual({ image_records: body.keyring.image_records?.set });
  });

  it("is required by reads of the keyring: 404 no_keyring, or 204 with or_none=true", async () => {
    const person = await service.signIn();
    expect(await service.call("GET", "/user/keyring", person.token)).toMatchObject({
      status: 404,
      body: { code: "no_keyring" },
    });
    expect(await service.call("GET", "/user/keyring?or_none=true", person.token)).toMatchObject({
      status: 204,
      text: "",
    });
    expect(await service.call("GET", "/user/keyring?or_none=yes", person.token)).toMatchObject({ status: 422 });
    expect(await service.call("GET", "/secrets/store", person.token)).toMatchObject({
      body: { state_rev: 0, total: 0 },
    });
    expect(await putChange(person, buildChange({ ...person, stateRev: 4 }))).toMatchObject({
      status: 404,
      body: { code: "no_keyring" },
    });
  });

  it("needs the first secret", async () => {
    const person = await service.signIn();
    expect(await putChange(person, buildChange(person))).toMatchObject({
      status: 422,
      body: { code: "keyring_change_invalid" },
    });
    expect(await service.call("GET", "/user/keyring", person.token)).toMatchObject({ status: 404 });
  });

  const stranger = createPerson(
    "stranger",
    `x.${Buffer.from(JSON.stringify({ sub: uuidv7() })).toString("base64url")}.x`,
  );
  it.each<[string, (person: Person) => Record<string, Json | undefined>]>([
    ["no book", () => ({ book: undefined })],
    ["no shares", () => ({ shares: undefined })],
    ["no slots", () => ({ slots: undefined })],
    ["empty slots", () => ({ slots: { set: [], remove: [] } })],
    ["no key statement", () => ({ key_statement: undefined })],
    ["no image record", () => ({ image_records: undefined })],
    ["an image record of another id", () => ({ image_records: { set: [buildImageRecord(uuidv7())], remove: [] } })],
    [
      "a passkey as the only opener",
      () => ({ slots: { set: [buildSlot(uuidv7(), "passkey")], remove: [] }, image_records: { set: [], remove: [] } }),
    ],
    ["a statement of another user", (person) => ({ key_statement: buildStatement(person, { user_id: uuidv7() }) })],
    ["a statement by another key", () => ({ key_statement: buildStatement(stranger) })],
    [
      "a statement that was altered",
      (person) => ({ key_statement: { ...buildStatement(person), recipient: `age1pq1${"p".repeat(1_952)}` } }),
    ],
    ["a statement of a later epoch", (person) => ({ key_statement: buildStatement(person, { key_epoch: 2 }) })],
    [
      "a statement that names one before",
      (person) => ({ key_statement: buildStatement(person, { previous_sig: buildStatement(person).sig }) }),
    ],
    ["a later epoch", () => ({ key_epoch: 2 })],
    ["another user", () => ({ user_id: uuidv7() })],
    [
      "a state that has one before",
      (person) => ({
        state: buildJwe({ typ: "relicario-state", user_id: person.userId, key_epoch: 1, previous: computeDigest("x") }),
      }),
    ],
    [
      "a state of another user",
      () => ({ state: buildJwe({ typ: "relicario-state", user_id: uuidv7(), key_epoch: 1, previous: null }) }),
    ],
    [
      "a book in the place of the state",
      (person) => ({ state: buildJwe({ typ: "relicario-book", user_id: person.userId, key_epoch: 1 }) }),
    ],
    [
      "a state whose header says more",
      (person) => ({
        state: buildJwe({ typ: "relicario-state", user_id: person.userId, key_epoch: 1, previous: null, zip: "DEF" }),
      }),
    ],
    ["something to purge", () => ({ purge: [uuidv7()] })],
    ["something to remove", () => ({ slots: { set: [], remove: [uuidv7()] } })],
  ])("is refused with %s, and changes nothing", async (_, overrides) => {
    const person = await service.signIn();
    const { body } = buildSecret(person, { change: overrides(person) });
    const response = await service.call("POST", "/secrets/store", person.token, { body });
    expect(response).toMatchObject({ status: 422, body: { code: "keyring_change_invalid" } });
    expect(await service.call("GET", "/secrets/store", person.token)).toMatchObject({
      body: { total: 0, state_rev: 0, changes: 0 },
    });
  });
});

describe("a later keyring change", () => {
  it.each<[string, (person: Person, secretId: string) => Record<string, Json | undefined>]>([
    ["a key statement", (person) => ({ key_statement: buildStatement(person) })],
    ["another epoch", () => ({ key_epoch: 2 })],
    ["another user", () => ({ user_id: uuidv7() })],
    [
      "a state that does not follow",
      (person) => ({
        state: buildJwe({ typ: "relicario-state", user_id: person.userId, key_epoch: 1, previous: computeDigest("x") }),
      }),
    ],
    [
      "a state without one before",
      (person) => ({
        state: buildJwe({ typ: "relicario-state", user_id: person.userId, key_epoch: 1, previous: null }),
      }),
    ],
    ["a book of another user", () => ({ book: buildJwe({ typ: "relicario-book", user_id: uuidv7(), key_epoch: 1 }) })],
    [
      "shares of another epoch",
      (person) => ({ shares: buildJwe({ typ: "relicario-shares", user_id: person.userId, key_epoch: 2 }) }),
    ],
    [
      "requests of another user",
      () => ({ requests: buildJwe({ typ: "relicario-requests", user_id: uuidv7(), key_epoch: 1 }) }),
    ],
    [
      "shares in the place of requests",
      (person) => ({ requests: buildJwe({ typ: "relicario-shares", user_id: person.userId, key_epoch: 1 }) }),
    ],
    ["a slot removed that is not there", () => ({ slots: { set: [], remove: [uuidv7()] } })],
    [
      "the last opener removed",
      (person) => ({
        slots: { set: [], remove: [person.imageId] },
        image_records: { set: [], remove: [person.imageId] },
      }),
    ],
    ["an image slot without its record", () => ({ slots: { set: [buildSlot(uuidv7())], remove: [] } })],
    ["a record without its slot", () => ({ image_records: { set: [buildImageRecord(uuidv7())], remove: [] } })],
    [
      "one slot twice",
      (person) => ({ slots: { set: [buildSlot(person.imageId), buildSlot(person.imageId)], remove: [] } }),
    ],
    [
      "one slot set and removed",
      (person) => ({ slots: { set: [buildSlot(person.imageId)], remove: [person.imageId] } }),
    ],
    ["a purge of what is not in the trash", (_, secretId) => ({ purge: [secretId] })],
    ["a purge of what is not there", () => ({ purge: [uuidv7()] })],
    ["one purged twice", (_, secretId) => ({ purge: [secretId, secretId] })],
  ])("is refused with %s, and changes nothing", async (_, overrides) => {
    const { person, secretId } = await createPersonWithKeyring();
    const response = await putChange(person, buildChange(person, overrides(person, secretId)));
    expect(response).toMatchObject({ status: 422, body: { code: "keyring_change_invalid" } });
    expect(await readStateRev(person)).toBe(1);
  });

  it("is refused when any member was altered after signing", async () => {
    const { person } = await createPersonWithKeyring();
    const change = buildChange(person, {
      slots: { set: [buildSlot(uuidv7(), "recovery_code")], remove: [] },
      purge: [],
    });
    const alteredMembers: Partial<Record<keyof KeyringChange, unknown>> = {
      state: buildChange(person).state,
      slots: { set: [buildSlot(uuidv7(), "recovery_code")], remove: [] },
      purge: undefined,
      book: buildJwe({ typ: "relicario-book", user_id: person.userId, key_epoch: 1 }),
      sig: buildChange(person).sig,
    };
    for (const [member, value] of Object.entries(alteredMembers)) {
      const response = await putChange(person, { ...change, [member]: value });
      expect([member, response.status, response.body.code]).toEqual([member, 422, "keyring_change_invalid"]);
    }
    expect(await putChange(person, change)).toMatchObject({ status: 200, body: { state_rev: 2 } });
  });

  it("is refused when signed by another key, even with a statement of that key", async () => {
    const { person } = await createPersonWithKeyring();
    const signerWithOtherKey = { ...person, signingKey: generateKeyPairSync("ed25519").privateKey };
    expect(await putChange(person, buildChange(signerWithOtherKey))).toMatchObject({
      status: 422,
      body: { code: "keyring_change_invalid" },
    });
    expect(
      await putChange(person, buildChange(signerWithOtherKey, { key_statement: buildStatement(signerWithOtherKey) })),
    ).toMatchObject({
      status: 422,
    });
  });

  it("is refused when signed for another purpose", async () => {
    const { person } = await createPersonWithKeyring();
    const change = signDocument("key", buildChange(person), person.signingKey);
    expect(await putChange(person, change)).toMatchObject({ status: 422, body: { code: "keyring_change_invalid" } });
  });

  it("is refused with unknown members", async () => {
    const { person } = await createPersonWithKeyring();
    expect(await putChange(person, buildChange(person, { extra: 1 }))).toMatchObject({
      status: 422,
      body: { code: "validation_error" },
    });
  });

  it("is answered 409 with the current keyring when the change does not follow the stored keyring", async () => {
    const { person } = await createPersonWithKeyring();
    const currentKeyring = (await service.call("GET", "/user/keyring", person.token)).body;
    for (const stateRev of [0, 2]) {
      const response = await putChange(
        person,
        buildChange({ ...person, stateRev }, stateRev === 0 ? { purge: [] } : {}),
      );
      expect(response).toMatchObject({ status: 409, body: { code: "state_conflict", keyring: currentKeyring } });
    }
  });

  it("gets the first response when repeated; another change with the same number gets 409", async () => {
    const { person } = await createPersonWithKeyring();
    const change = buildChange(person);
    expect(await putChange(person, change)).toMatchObject({ status: 200, body: { state_rev: 2 } });
    expect(await putChange(person, change)).toMatchObject({ status: 200, body: { state_rev: 2 } });
    // Members in another order are the same bytes in JCS.
    const reordered = Object.fromEntries(Object.entries(change).reverse()) as KeyringChange;
    expect(await putChange(person, reordered)).toMatchObject({ status: 200, body: { state_rev: 2 } });
    expect(await putChange(person, buildChange(person))).toMatchObject({
      status: 409,
      body: { code: "state_conflict" },
    });
    confirmChange(person, change);
    expect(await putChange(person, buildChange(person))).toMatchObject({ status: 200, body: { state_rev: 3 } });
    expect(await putChange(person, change)).toMatchObject({ status: 409 });
  });

  it("is accepted from exactly one of many concurrent writers", async () => {
    const { person } = await createPersonWithKeyring();
    const changes = Array.from({ length: 6 }, () => buildChange(person));
    const responses = await Promise.all(changes.map((change) => putChange(person, change)));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409]);
    const winningChange = changes[responses.findIndex(({ status }) => status === 200)];
    expect(await service.call("GET", "/user/keyring", person.token)).toMatchObject({
      body: { state_rev: 2, state: winningChange?.state },
    });
  });

  it("gives concurrent repetitions the same response", async () => {
    const { person } = await createPersonWithKeyring();
    const change = buildChange(person);
    const responses = await Promise.all(Array.from({ length: 6 }, () => putChange(person, change)));
    expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    expect(await readStateRev(person)).toBe(2);
  });

  it("replaces an opener, and keeps the former opener", async () => {
    const { person } = await createPersonWithKeyring();
    const keyringBefore = Keyring.parse((await service.call("GET", "/user/keyring", person.token)).body);
    const nextImageId = uuidv7();
    const change = buildChange(person, {
      book: buildJwe({ typ: "relicario-book", user_id: person.userId, key_epoch: 1 }),
      slots: { set: [buildSlot(nextImageId), buildSlot(uuidv7(), "recovery_code")], remove: [person.imageId] },
      image_records: { set: [buildImageRecord(nextImageId)], remove: [person.imageId] },
    });
    expect((await putChange(person, change)).status).toBe(200);
    const keyringAfter = Keyring.parse((await service.call("GET", "/user/keyring", person.token)).body);
    expect(keyringAfter.slots.map(({ opener_id }) => opener_id)).not.toContain(person.imageId);
    expect(keyringAfter.slots).toHaveLength(2);
    const imageRecordsResponse = await service.call("GET", "/user/image-records", person.token);
    expect(imageRecordsResponse.body).toEqual({ image_records: change.image_records?.set });

    const { db, recordBox } = service.app.services;
    const formerParts = await db
      .select()
      .from(formerKeyringParts)
      .where(eq(formerKeyringParts.accountId, person.userId))
      .orderBy(asc(formerKeyringParts.part));
    expect(formerParts.map(({ part, stateRev }) => [part, stateRev])).toEqual([
      ["book", 2],
      ["image_record", 2],
      ["slot", 2],
    ]);
    expect(formerParts[0]?.value.toString()).toBe(keyringBefore.book);
    expect(formerParts[1] && recordBox.open(person.userId, person.imageId, formerParts[1].value)).toHaveLength(454);
    expect(formerParts[2]?.value.toString("base64url")).toBe(keyringBefore.slots[0]?.slot);
  });
});

describe("requests", () => {
  it("are null at first, then replaced; former requests documents are kept", async () => {
    const { person } = await createPersonWithKeyring();
    const sealedDocuments: string[] = [];
    for (let count = 0; count < 2; count++) {
      const change = buildChange(person, {
        requests: buildJwe({ typ: "relicario-requests", user_id: person.userId, key_epoch: 1 }),
      });
      expect((await putChange(person, change)).status).toBe(200);
      confirmChange(person, change);
      sealedDocuments.push(String(change.requests));
      expect((await service.call("GET", "/user/keyring", person.token)).body["requests"]).toBe(change.requests);
    }
    const changeWithoutMembers = buildChange(person);
    expect((await putChange(person, changeWithoutMembers)).status).toBe(200);
    expect((await service.call("GET", "/user/keyring", person.token)).body["requests"]).toBe(sealedDocuments[1]);
    const formerParts = await service.app.services.db
      .select()
      .from(formerKeyringParts)
      .where(eq(formerKeyringParts.accountId, person.userId));
    expect(formerParts.map(({ part, value }) => [part, value.toString()])).toEqual([["requests", sealedDocuments[0]]]);
  });
});

describe("GET /user/keyring?states_since", () => {
  it("returns the chain of states, also across key epochs, without checking the chain", async () => {
    const { person } = await createPersonWithKeyring();
    const rotatedState = buildJwe({
      typ: "relicario-state",
      user_id: person.userId,
      key_epoch: 2,
      previous: computeDigest(String(person.state)),
    });
    const { db } = service.app.services;
    await db
      .insert(keyringStates)
      .values({ accountId: person.userId, stateRev: 2, state: rotatedState, createdAt: new Date() });
    await db
      .update(keyrings)
      .set({ keyEpoch: 2, stateRev: 2, state: rotatedState })
      .where(eq(keyrings.accountId, person.userId));
    const { states } = Keyring.parse((await service.call("GET", "/user/keyring?states_since=0", person.token)).body);
    expect(states).toEqual([
      { state_rev: 1, state: person.state },
      { state_rev: 2, state: rotatedState },
    ]);
  });

  it("returns pages, oldest first", async () => {
    const { person } = await createPersonWithKeyring();
    const { db } = service.app.services;
    const laterStates = Array.from({ length: maxStatesPageSize + 1 }, (_, index) => ({
      accountId: person.userId,
      stateRev: index + 2,
      state: String(person.state),
      createdAt: new Date(),
    }));
    await db.insert(keyringStates).values(laterStates);
    const readStateRevsAfter = async (since: number): Promise<number[]> =>
      (
        Keyring.parse((await service.call("GET", `/user/keyring?states_since=${String(since)}`, person.token)).body)
          .states ?? []
      ).map(({ state_rev: rev }) => rev);
    expect(await readStateRevsAfter(0)).toEqual(Array.from({ length: maxStatesPageSize }, (_, index) => index + 1));
    expect(await readStateRevsAfter(maxStatesPageSize)).toEqual([maxStatesPageSize + 1, maxStatesPageSize + 2]);
  });

  it("returns the chain of states, oldest first, each following the one before", async () => {
    const { person } = await createPersonWithKeyring();
    const states = [String(person.state)];
    for (let count = 0; count < 3; count++) {
      const change = buildChange(person);
      await putChange(person, change);
      confirmChange(person, change);
      states.push(change.state);
    }
    const allStates = Keyring.parse((await service.call("GET", "/user/keyring?states_since=0", person.token)).body);
    expect(allStates.states).toEqual(states.map((state, index) => ({ state_rev: index + 1, state })));
    const laterKeyring = Keyring.parse((await service.call("GET", "/user/keyring?states_since=3", person.token)).body);
    expect(laterKeyring.states).toEqual([{ state_rev: 4, state: states[3] }]);
    expect(
      Keyring.parse((await service.call("GET", "/user/keyring?states_since=9", person.token)).body).states,
    ).toEqual([]);
    expect((await service.call("GET", "/user/keyring?states_since=-1", person.token)).status).toBe(422);
    expect((await service.call("GET", "/user/keyring?unknown=1", person.token)).status).toBe(422);
    const rows = await service.app.services.db
      .select()
      .from(keyringStates)
      .where(eq(keyringStates.accountId, person.userId));
    expect(rows).toHaveLength(4);
  });
});

describe("purge", () => {
  it("deletes a trashed secret with its objects, and never accepts the id again", async () => {
    const { person, secretId } = await createPersonWithKeyring();
    await service.call("DELETE", `/secrets/store/${secretId}`, person.token);
    const listBefore = await service.call("GET", "/secrets/store", person.token);
    expect(listBefore.body["total"]).toBe(1);
    const change = buildChange(person, { purge: [secretId] });
    expect((await putChange(person, change)).status).toBe(200);
    confirmChange(person, change);

    const since = Number(listBefore.body["changes"]);
    const listResponse = await service.call("GET", `/secrets/store?since=${String(since)}`, person.token);
    expect(listResponse.body).toMatchObject({
      total: 0,
      secrets: [],
      purged: [secretId],
      changes: since + 1,
      state_rev: 2,
    });
    expect(
      await service.call("POST", "/secrets/store/get-secret", person.token, { body: { secret_db_id: secretId } }),
    ).toMatchObject({ status: 404 });
    expect(await checkStoredContents(service, person)).toBe(0);
    expect((await service.call("GET", "/user/me", person.token)).body["licence"]).toMatchObject({ secrets: 0 });
    const reusedIdSecret = buildSecret(person, { id: secretId });
    expect(await service.call("POST", "/secrets/store", person.token, { body: reusedIdSecret.body })).toMatchObject({
      status: 409,
      body: { code: "id_taken" },
    });
  });

  it("is refused together with a label or version of the same secret", async () => {
    const { person, secretId } = await createPersonWithKeyring();
    await service.call("DELETE", `/secrets/store/${secretId}`, person.token);
    const keyring = buildChange(person, { purge: [secretId] });
    const body = { secret_db_id: secretId, base_version: 1, label: buildLabel(person, secretId, 1, 2), keyring };
    expect(await service.call("POST", "/secrets/store", person.token, { body })).toMatchObject({
      status: 422,
      body: { code: "keyring_change_invalid" },
    });
  });
});

describe("GET /user/image-records", () => {
  it("returns records that are encrypted at rest, and bound to account and id", async () => {
    const { person } = await createPersonWithKeyring();
    const { body } = await service.call("GET", "/user/image-records", person.token);
    const [record] = body["image_records"] as { helper: string }[];
    const { db, recordBox } = service.app.services;
    const [row] = await db.select().from(imageRecords).where(eq(imageRecords.accountId, person.userId));
    const helper = Buffer.from(String(record?.helper), "base64url");
    expect(row?.sealedHelper.includes(helper.subarray(0, 16))).toBe(false);
    expect(() => row && recordBox.open(uuidv7(), row.id, row.sealedHelper)).toThrow();
    expect(() => row && recordBox.open(person.userId, uuidv7(), row.sealedHelper)).toThrow();
  });

  it("is limited to 60 calls per hour, with Retry-After", async () => {
    const { person } = await createPersonWithKeyring();
    const responses: TestResponse[] = [];
    for (let count = 0; count < 122 && responses.at(-1)?.status !== 429; count++) {
      responses.push(await service.call("GET", "/user/image-records", person.token));
    }
    expect(responses.length).toBeGreaterThan(60); // a window may have ended meanwhile
    expect(responses.at(-1)).toMatchObject({ status: 429, body: { code: "too_many_requests" } });
    expect(Number(responses.at(-1)?.headers["retry-after"])).toBeLessThanOrEqual(3_600);
  });
});

describe("GET /users/{user_name}/key", () => {
  it("finds the statement regardless of the name's case, and answers 404 without one", async () => {
    const { person } = await createPersonWithKeyring();
    const directoryReader = await service.signIn();
    const response = await service.call("GET", `/users/${person.subject.toUpperCase()}/key`, directoryReader.token);
    const { keyStatement } =
      (await service.app.services.db.select().from(keyrings).where(eq(keyrings.accountId, person.userId)))[0] ?? {};
    expect(response).toMatchObject({ status: 200, body: { user_id: person.userId, v: 1 } });
    expect(response.body).toEqual(JSON.parse(String(keyStatement)));
    for (const name of ["nobody-here", directoryReader.subject]) {
      expect(await service.call("GET", `/users/${name}/key`, directoryReader.token)).toMatchObject({
        status: 404,
        body: { code: "not_found" },
      });
    }
  });
});
