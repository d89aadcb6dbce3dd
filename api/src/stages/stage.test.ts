import { createHash, generateKeyPairSync, randomBytes } from "node:crypto";

import {
  encodeCanonical,
  downloadPath,
  maxStagedContentBytes,
  StageManifest,
  stageExpiryHours,
  type Json,
  type KeyringChange,
  type StagedRow,
} from "@relicario/shared/api";
import { eq } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";

import { orphanedObjects, stagedRows, versionObjects } from "../db/schema.ts";
import {
  buildChange,
  buildJwe,
  buildLabel,
  buildRecipient,
  buildSecret,
  buildSlot,
  confirmChange,
  computeDigest,
  signDocument,
  type Person,
  exportPublicKey,
} from "../testing/person.ts";
import { startService, type TestResponse, type TestService } from "../testing/service.ts";
import { createRequest, createShare, listShares } from "../testing/sharing.ts";
import { checkStoredContents } from "../testing/storage.ts";

let service: TestService;
let clock = new Date();
beforeAll(async () => {
  service = await startService({}, () => clock);
});
afterAll(() => service.stop());

const createRandomB64u = (bytes: number): string => randomBytes(bytes).toString("base64url");
const storeSecret = async (person: Person, id?: string, base?: number): Promise<string> => {
  const { body } = buildSecret(person, {
    ...(id === undefined ? {} : { id }),
    ...(base === undefined ? {} : { base }),
  });
  const response = await service.call("POST", "/secrets/store", person.token, { body });
  if (response.status !== 200) throw new Error(response.text);
  confirmChange(person, body.keyring);
  return body.secret_db_id;
};
const stageRows = (person: Person, stageId: string, rows: readonly StagedRow[]): Promise<TestResponse> =>
  service.call("POST", "/user/keyring/stage", person.token, { body: { stage_id: stageId, rows } });
const putChange = (person: Person, change: KeyringChange): Promise<TestResponse> =>
  service.call("PUT", "/user/keyring", person.token, { body: change });
const readSecret = (person: Person, id: string, version: number): Promise<TestResponse> =>
  service.call("POST", "/secrets/store/get-secret", person.token, { body: { secret_db_id: id, version } });
const listSecrets = async (person: Person): Promise<Json | undefined> =>
  (await service.call("GET", "/secrets/store", person.token)).body["secrets"] as Json | undefined;

const requireRow = (rows: readonly StagedRow[], index: number): StagedRow => {
  const row = rows[index];
  if (row === undefined) throw new Error("no such row");
  return row;
};

/** The digest that a change signs. */
const digestStagedRows = (rows: readonly StagedRow[]): string => {
  const sortedRows = [...rows].sort((left, right) =>
    left.secret_db_id === right.secret_db_id
      ? left.version - right.version
      : left.secret_db_id < right.secret_db_id
        ? -1
        : 1,
  );
  return computeDigest(
    sortedRows
      .map(
        (row) =>
          `${row.secret_db_id} ${String(row.version)} ${createHash("sha256").update(encodeCanonical(row)).digest("hex")}\n`,
      )
      .join(""),
  );
};
const buildSwitchToStage = (
  person: Person,
  stageId: string,
  rows: readonly StagedRow[],
  overrides: Readonly<Record<string, Json | undefined>> = {},
): KeyringChange => buildChange(person, { stage_id: stageId, stage_sha256: digestStagedRows(rows), ...overrides });

/** A person with a secret of two versions and another of one, and re-sealed rows of all. */
const createPersonWithStagedRows = async (
  epoch = 1,
): Promise<{ person: Person; firstSecretId: string; secondSecretId: string; rows: StagedRow[] }> => {
  const person = await service.signIn();
  const firstSecretId = await storeSecret(person);
  await storeSecret(person, firstSecretId, 1);
  const secondSecretId = await storeSecret(person);
  const rows: StagedRow[] = [
    {
      secret_db_id: firstSecretId,
      version: 2,
      label: buildLabel(person, firstSecretId, 2, 2, epoch),
      ticket: createRandomB64u(1_900),
      content: createRandomB64u(900),
    },
    { secret_db_id: firstSecretId, version: 1, ticket: createRandomB64u(1_800), content: createRandomB64u(500) },
    {
      secret_db_id: secondSecretId,
      version: 1,
      label: buildLabel(person, secondSecretId, 1, 2, epoch),
      ticket: createRandomB64u(1_700),
    },
  ];
  return { person, firstSecretId, secondSecretId, rows };
};

/** A change to a new account key, signed by the former one. */
const buildRotation = (
  person: Person,
  nextSigner: Person,
  stageId: string,
  rows: readonly StagedRow[],
  overrides: Readonly<Record<string, Json | undefined>> = {},
): KeyringChange => {
  const ownerHeader = { user_id: person.userId, key_epoch: 2 };
  return buildSwitchToStage(person, stageId, rows, {
    key_epoch: 2,
    state: buildJwe({ typ: "relicario-state", ...ownerHeader, previous: computeDigest(String(person.state)) }),
    book: buildJwe({ typ: "relicario-book", ...ownerHeader }),
    shares: buildJwe({ typ: "relicario-shares", ...ownerHeader }),
    slots: { set: [buildSlot(person.imageId)], remove: [] },
    key_statement: buildRotatedStatement(person, nextSigner),
    ...overrides,
  });
};

const buildRotatedStatement = (
  person: Person,
  nextSigner: Person,
  overrides: Readonly<Record<string, Json>> = {},
): Json => {
  const unsignedStatement = {
    v: 1,
    user_id: person.userId,
    recipient: buildRecipient().replace(/q$/, "p"),
    signing_key: exportPublicKey(nextSigner.signingKey),
    author_key: exportPublicKey(nextSigner.authorKey),
    key_epoch: 2,
    ...overrides,
  };
  const { sig: previousSig } = signDocument("key", unsignedStatement, person.authorKey);
  return signDocument("key", { ...unsignedStatement, previous_sig: previousSig }, nextSigner.authorKey);
};
const withNewSigningKey = (person: Person): Person => ({
  ...person,
  signingKey: generateKeyPairSync("ed25519").privateKey,
  authorKey: generateKeyPairSync("ed25519").privateKey,
});

describe("staged rows", () => {
  it("are hidden until a change switches to them, which replaces labels, tickets and contents", async () => {
    const { person, firstSecretId, secondSecretId, rows } = await createPersonWithStagedRows();
    const [stageId, secretsBefore] = [uuidv7(), await listSecrets(person)];
    const contents = await checkStoredContents(service, person);
    expect((await stageRows(person, stageId, rows.slice(0, 1))).body).toEqual({ stage_id: stageId, rows: 1 });
    expect((await stageRows(person, stageId, rows)).body).toEqual({ stage_id: stageId, rows: 3 });
    expect(await listSecrets(person)).toEqual(secretsBefore);
    expect(await checkStoredContents(service, person)).toBe(contents + 1_400);

    const change = buildSwitchToStage(person, stageId, rows);
    expect((await putChange(person, change)).body).toEqual({ state_rev: change.state_rev });
    expect((await putChange(person, change)).body).toEqual({ state_rev: change.state_rev }); // a repetition
    const [presentSecret, formerSecret] = [
      await readSecret(person, firstSecretId, 2),
      await readSecret(person, firstSecretId, 1),
    ];
    expect(presentSecret.body).toMatchObject({
      label: rows[0]?.label,
      ticket: rows[0]?.ticket,
      content: rows[0]?.content,
    });
    expect(formerSecret.body).toMatchObject({ ticket: rows[1]?.ticket, content: rows[1]?.content });
    expect((await readSecret(person, secondSecretId, 1)).body).toMatchObject({
      label: rows[2]?.label,
      ticket: rows[2]?.ticket,
    });
    expect(await checkStoredContents(service, person)).toBe(900 + 500 + 700);
    expect((await service.call("GET", `/user/keyring/stage/${stageId}`, person.token)).status).toBe(404);
  });

  it("end the shares of re-sealed contents only; replaced data is not kept", async () => {
    const { person, firstSecretId, secondSecretId, rows } = await createPersonWithStagedRows();
    await createShare(service, person, firstSecretId, { version: 2 });
    await createShare(service, person, secondSecretId, { version: 1 });
    const { db } = service.app.services;
    const readObjectKeys = async (): Promise<string[]> =>
      (await db.select().from(versionObjects).where(eq(versionObjects.accountId, person.userId))).map(
        ({ objectKey }) => objectKey,
      );
    const isStored = async (key: string): Promise<boolean> => (await service.listObjects(person.userId)).includes(key);
    expect(await listShares(service, person, firstSecretId, { includeEnded: false })).toHaveLength(1);
    const [objectKeysBefore, stageId] = [await readObjectKeys(), uuidv7()];
    await stageRows(person, stageId, rows);
    expect((await putChange(person, buildSwitchToStage(person, stageId, rows))).status).toBe(200);
    expect(await listShares(service, person, firstSecretId, { includeEnded: false })).toEqual([]);
    expect(await listShares(service, person, secondSecretId, { includeEnded: false })).toHaveLength(1);
    await checkStoredContents(service, person);

    await service.app.sweep();
    const objectKeysAfter = await readObjectKeys();
    const deletedKeys = objectKeysBefore.filter((key) => !objectKeysAfter.includes(key));
    expect(deletedKeys).toHaveLength(2);
    for (const key of objectKeysBefore) expect(await isStored(key)).toBe(!deletedKeys.includes(key));
    for (const key of objectKeysAfter) expect(await isStored(key)).toBe(true);
    for (const table of [orphanedObjects, stagedRows])
      expect(await db.$count(table, eq(table.accountId, person.userId))).toBe(0);
  });

  it("are listed by digest, and stay as they are when repeated", async () => {
    const { person, rows } = await createPersonWithStagedRows();
    const stageId = uuidv7();
    await stageRows(person, stageId, rows);
    const stageManifest = StageManifest.parse(
      (await service.call("GET", `/user/keyring/stage/${stageId}`, person.token)).body,
    );
    expect(
      computeDigest(
        stageManifest.rows
          .map(
            ({ secret_db_id: id, version, row_sha256: digest }) =>
              `${id} ${String(version)} ${Buffer.from(digest, "base64url").toString("hex")}\n`,
          )
          .join(""),
      ),
    ).toBe(digestStagedRows(rows));
    const readPage = async (query: string): Promise<StageManifest> =>
      StageManifest.parse((await service.call("GET", `/user/keyring/stage/${stageId}?${query}`, person.token)).body);
    const pages = [await readPage("limit=1")];
    for (let cursor = pages[0]?.next_cursor; typeof cursor === "string"; cursor = pages.at(-1)?.next_cursor)
      pages.push(await readPage(`limit=1&cursor=${cursor}`));
    expect(pages.length).toBeGreaterThan(2);
    expect(pages.flatMap((page) => page.rows)).toEqual(stageManifest.rows);
    const storedBytes = await checkStoredContents(service, person);
    await stageRows(person, stageId, rows);
    expect(await checkStoredContents(service, person)).toBe(storedBytes);
  });

  it("are replaced by another stage, and deleted a day after the last row", async () => {
    const { person, rows } = await createPersonWithStagedRows();
    const contents = await checkStoredContents(service, person);
    const [firstStageId, secondStageId] = [uuidv7(), uuidv7()];
    await stageRows(person, firstStageId, rows);
    await stageRows(person, secondStageId, rows.slice(2));
    expect((await service.call("GET", `/user/keyring/stage/${firstStageId}`, person.token)).status).toBe(404);
    clock = new Date(clock.getTime() + stageExpiryHours * 3_600_000 + 1);
    await service.app.sweep();
    const secondSession = await service.signIn(person.subject);
    expect((await service.call("GET", `/user/keyring/stage/${secondStageId}`, secondSession.token)).status).toBe(404);
    expect(await checkStoredContents(service, secondSession)).toBe(contents);
  });

  it("have contents of up to a mebibyte, which are streamed like any large one", async () => {
    const { person, firstSecretId, rows } = await createPersonWithStagedRows();
    const stageId = uuidv7();
    const content = randomBytes(maxStagedContentBytes);
    const largeRow = rows.with(0, { ...requireRow(rows, 0), content: content.toString("base64url") });
    const rowsWithLargeContent = rows.with(0, {
      ...requireRow(rows, 0),
      content: createRandomB64u(maxStagedContentBytes + 1),
    });
    expect(await stageRows(person, stageId, rowsWithLargeContent)).toMatchObject({
      status: 422,
      body: { code: "validation_error" },
    });
    expect((await stageRows(person, stageId, largeRow)).status).toBe(200);
    expect((await putChange(person, buildSwitchToStage(person, stageId, largeRow))).status).toBe(200);
    expect((await readSecret(person, firstSecretId, 2)).body["content"]).toBeNull();
    const payload = { secret_db_id: firstSecretId, version: 2 };
    const headers = { authorization: `Bearer ${person.token}` };
    expect(
      (await service.app.http.inject({ method: "POST", url: downloadPath, headers, payload })).rawPayload.equals(
        content,
      ),
    ).toBe(true);
    const rangeResponse = await service.app.http.inject({
      method: "POST",
      url: downloadPath,
      headers: { ...headers, range: "bytes=1000000-1000099" },
      payload,
    });
    expect(rangeResponse.rawPayload.equals(content.subarray(1_000_000, 1_000_100))).toBe(true);
    await checkStoredContents(service, person);
  });

  it.each<[string, number, string, (row: StagedRow, person: Person) => StagedRow]>([
    ["a secret that is not there", 404, "not_found", (row) => ({ ...row, secret_db_id: uuidv7() })],
    [
      "a label of a former version",
      409,
      "version_conflict",
      (row, person) => ({ ...row, version: 1, label: buildLabel(person, row.secret_db_id, 1) }),
    ],
    ["no label of the present version", 409, "version_conflict", ({ label: _, ...row }) => row],
    [
      "a label of another secret",
      422,
      "keyring_change_invalid",
      (row, person) => ({ ...row, label: buildLabel(person, uuidv7(), 2) }),
    ],
    [
      "a label two epochs on",
      422,
      "keyring_change_invalid",
      (row, person) => ({ ...row, label: buildLabel(person, row.secret_db_id, 2, 2, 3) }),
    ],
    ["a content without its ticket", 422, "validation_error", ({ ticket: _, ...row }) => row],
  ])("are refused with %s, with the whole call", async (_, status, code, damage) => {
    const { person, rows } = await createPersonWithStagedRows();
    const stageId = uuidv7();
    expect(await stageRows(person, stageId, [requireRow(rows, 2), damage(requireRow(rows, 0), person)])).toMatchObject({
      status,
      body: { code },
    });
    expect((await service.call("GET", `/user/keyring/stage/${stageId}`, person.token)).status).toBe(404);
  });
});

describe("a switch is refused, and changes nothing,", () => {
  it.each<
    [
      string,
      (scenario: Awaited<ReturnType<typeof createPersonWithStagedRows>>, stageId: string) => Promise<KeyringChange>,
    ]
  >([
    ["when there is no such stage", ({ person, rows }) => Promise.resolve(buildSwitchToStage(person, uuidv7(), rows))],
    [
      "when a row is missing",
      async ({ person, rows }, stageId) => {
        await stageRows(person, stageId, rows.slice(1));
        return buildSwitchToStage(person, stageId, rows);
      },
    ],
    [
      "when a row was altered with a session alone",
      async ({ person, rows }, stageId) => {
        await stageRows(person, stageId, rows);
        await stageRows(person, stageId, [{ ...requireRow(rows, 2), ticket: createRandomB64u(1_700) }]);
        return buildSwitchToStage(person, stageId, rows);
      },
    ],
    [
      "when a secret has another version meanwhile",
      async ({ person, firstSecretId, rows }, stageId) => {
        await stageRows(person, stageId, rows);
        await storeSecret(person, firstSecretId, 2);
        return buildSwitchToStage(person, stageId, rows);
      },
    ],
    [
      "when a label changed meanwhile",
      async ({ person, secondSecretId, rows }, stageId) => {
        await stageRows(person, stageId, rows);
        const keyring = buildChange(person);
        await service.call("POST", "/secrets/store", person.token, {
          body: {
            secret_db_id: secondSecretId,
            base_version: 1,
            label: buildLabel(person, secondSecretId, 1, 2),
            keyring,
          },
        });
        confirmChange(person, keyring);
        return buildSwitchToStage(person, stageId, rows);
      },
    ],
    [
      "when a former version comes without the label that commits to it",
      async ({ person, rows }, stageId) => {
        await stageRows(person, stageId, rows.slice(1));
        return buildSwitchToStage(person, stageId, rows.slice(1));
      },
    ],
    [
      "when a label is of the next epoch",
      async ({ person, secondSecretId, rows }, stageId) => {
        const wrongRows = rows.with(2, { ...requireRow(rows, 2), label: buildLabel(person, secondSecretId, 1, 2, 2) });
        await stageRows(person, stageId, wrongRows);
        return buildSwitchToStage(person, stageId, wrongRows);
      },
    ],
  ])("%s", async (_, buildChangeFor) => {
    const scenario = await createPersonWithStagedRows();
    const change = await buildChangeFor(scenario, uuidv7());
    const before = await listSecrets(scenario.person);
    expect(await putChange(scenario.person, change)).toMatchObject({ status: 409, body: { code: "conflict" } });
    expect(await listSecrets(scenario.person)).toEqual(before);
    expect((await service.call("GET", "/user/keyring", scenario.person.token)).body["state_rev"]).toBe(
      scenario.person.stateRev,
    );
    await checkStoredContents(service, scenario.person);
  });
});

describe("a new account key", () => {
  it("switches slots, statement and every label at once; the former key cannot sign afterwards", async () => {
    const { person, firstSecretId, rows } = await createPersonWithStagedRows(2);
    const [nextSigner, stageId] = [withNewSigningKey(person), uuidv7()];
    await stageRows(person, stageId, rows);
    const change = buildRotation(person, nextSigner, stageId, rows);
    expect(await putChange(person, change)).toMatchObject({ status: 200 });
    confirmChange(person, change);
    confirmChange(nextSigner, change);
    const { body } = await service.call("GET", "/user/keyring", person.token);
    expect(body).toMatchObject({
      key_epoch: 2,
      key_statement: change.key_statement,
      slots: change.slots?.set,
      book: change.book,
    });
    expect((await readSecret(person, firstSecretId, 2)).body).toMatchObject({ label: rows[0]?.label });

    const buildChangeAfterRotation = (signer: Person): KeyringChange =>
      buildChange(signer, {
        key_epoch: 2,
        state: buildJwe({
          typ: "relicario-state",
          user_id: person.userId,
          key_epoch: 2,
          previous: computeDigest(String(person.state)),
        }),
      });
    expect(await putChange(person, buildChangeAfterRotation(person))).toMatchObject({
      status: 422,
      body: { code: "keyring_change_invalid" },
    });
    expect(await putChange(person, buildChangeAfterRotation(nextSigner))).toMatchObject({ status: 200 });
  });

  it("revokes open requests", async () => {
    const { person, rows } = await createPersonWithStagedRows(2);
    const { requestId, linkAuth } = await createRequest(service, person);
    const stageId = uuidv7();
    await stageRows(person, stageId, rows);
    const changeWithoutRequests = buildRotation(person, withNewSigningKey(person), stageId, rows);
    expect(await putChange(person, changeWithoutRequests)).toMatchObject({
      status: 422,
      body: { code: "keyring_change_invalid" },
    });
    const requests = buildJwe({ typ: "relicario-requests", user_id: person.userId, key_epoch: 2 });
    const readRequest = (): Promise<TestResponse> =>
      service.call("POST", "/requests/get", null, { body: { request_id: requestId, link_auth: linkAuth } });
    expect((await readRequest()).body["state"]).toBe("awaiting");
    expect(
      (await putChange(person, buildRotation(person, withNewSigningKey(person), stageId, rows, { requests }))).status,
    ).toBe(200);
    expect(await readRequest()).toMatchObject({ status: 404, body: { code: "request_unavailable" } });
    await checkStoredContents(service, person);
  });

  it("needs every secret re-sealed", async () => {
    const { person, secondSecretId, rows } = await createPersonWithStagedRows(2);
    const stageId = uuidv7();
    const incompleteRows = rows.slice(0, 2);
    await stageRows(person, stageId, incompleteRows);
    expect(
      await putChange(person, buildRotation(person, withNewSigningKey(person), stageId, incompleteRows)),
    ).toMatchObject({
      status: 409,
      body: { code: "conflict", rows: [{ secret_db_id: secondSecretId, version: 1 }] },
    });
  });

  it.each<[string, (person: Person, next: Person) => Record<string, Json | undefined>]>([
    ["without a stage", () => ({ stage_id: undefined, stage_sha256: undefined })],
    ["without a statement", () => ({ key_statement: undefined })],
    ["with a slot left as it was", () => ({ slots: undefined })],
    ["without the book", () => ({ book: undefined })],
    [
      "two epochs on",
      (person, next) => ({ key_epoch: 3, key_statement: buildRotatedStatement(person, next, { key_epoch: 3 }) }),
    ],
    [
      "with a statement that the key before did not sign",
      (person, next) => ({ key_statement: buildRotatedStatement({ ...person, authorKey: next.authorKey }, next) }),
    ],
    [
      "with a statement of another person",
      (person, next) => ({ key_statement: buildRotatedStatement(person, next, { user_id: uuidv7() }) }),
    ],
    ["with the same key again", (person) => ({ key_statement: buildRotatedStatement(person, person) })],
  ])("is refused %s", async (_, overrides) => {
    const { person, rows } = await createPersonWithStagedRows(2);
    const [nextSigner, stageId] = [withNewSigningKey(person), uuidv7()];
    await stageRows(person, stageId, rows);
    expect(
      await putChange(person, buildRotation(person, nextSigner, stageId, rows, overrides(person, nextSigner))),
    ).toMatchObject({
      status: 422,
      body: { code: "keyring_change_invalid" },
    });
  });
});
