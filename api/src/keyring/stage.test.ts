import { createHash, generateKeyPairSync, randomBytes } from "node:crypto";
import { readdir } from "node:fs/promises";
import { basename, dirname, join } from "node:path";

import {
  canonicalBytes,
  downloadPath,
  maxStagedContentBytes,
  StagedRows,
  stageHours,
  type Json,
  type KeyringChange,
  type StagedRow,
} from "@relicario/shared/api";
import { eq } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";

import { looseObjects, stagedRows, versionObjects } from "../db/schema.ts";
import {
  buildChange,
  buildJwe,
  buildLabel,
  buildRecipient,
  buildSecret,
  buildSlot,
  confirm,
  digestOf,
  signWith,
  type Person,
} from "../testing/person.ts";
import { startService, type Answer, type TestService } from "../testing/service.ts";
import { keepRequest, keepShare, sharesOf } from "../testing/sharing.ts";
import { contentsOf } from "../testing/storage.ts";

let service: TestService;
let clock = new Date();
beforeAll(async () => {
  service = await startService({}, () => clock);
});
afterAll(() => service.stop());

const noise = (bytes: number): string => randomBytes(bytes).toString("base64url");
const store = async (person: Person, id?: string, base?: number): Promise<string> => {
  const { body } = buildSecret(person, {
    ...(id === undefined ? {} : { id }),
    ...(base === undefined ? {} : { base }),
  });
  const answer = await service.call("POST", "/secrets/store", person.token, { body });
  if (answer.status !== 200) throw new Error(answer.text);
  confirm(person, body.keyring);
  return body.secret_db_id;
};
const stage = (person: Person, stageId: string, rows: readonly StagedRow[]): Promise<Answer> =>
  service.call("POST", "/user/keyring/stage", person.token, { body: { stage_id: stageId, rows } });
const put = (person: Person, change: KeyringChange): Promise<Answer> =>
  service.call("PUT", "/user/keyring", person.token, { body: change });
const read = (person: Person, id: string, version: number): Promise<Answer> =>
  service.call("POST", "/secrets/store/get-secret", person.token, { body: { secret_db_id: id, version } });
const listOf = async (person: Person): Promise<Json | undefined> =>
  (await service.call("GET", "/secrets/store", person.token)).body["secrets"] as Json | undefined;

const rowOf = (rows: readonly StagedRow[], at: number): StagedRow => {
  const row = rows[at];
  if (row === undefined) throw new Error("no such row");
  return row;
};

/** What a change commits to. */
const digestOfRows = (rows: readonly StagedRow[]): string => {
  const sorted = [...rows].sort((left, right) =>
    left.secret_db_id === right.secret_db_id
      ? left.version - right.version
      : left.secret_db_id < right.secret_db_id
        ? -1
        : 1,
  );
  return digestOf(
    sorted
      .map(
        (row) =>
          `${row.secret_db_id} ${String(row.version)} ${createHash("sha256").update(canonicalBytes(row)).digest("hex")}\n`,
      )
      .join(""),
  );
};
const switchTo = (
  person: Person,
  stageId: string,
  rows: readonly StagedRow[],
  more: Readonly<Record<string, Json | undefined>> = {},
): KeyringChange => buildChange(person, { stage_id: stageId, stage_sha256: digestOfRows(rows), ...more });

/** Somebody with a secret of two versions and another of one, and rows that seal all of it anew. */
const settled = async (epoch = 1): Promise<{ person: Person; first: string; second: string; rows: StagedRow[] }> => {
  const person = await service.signIn();
  const first = await store(person);
  await store(person, first, 1);
  const second = await store(person);
  const rows: StagedRow[] = [
    {
      secret_db_id: first,
      version: 2,
      label: buildLabel(person, first, 2, 2, epoch),
      ticket: noise(1_900),
      content: noise(900),
    },
    { secret_db_id: first, version: 1, ticket: noise(1_800), content: noise(500) },
    { secret_db_id: second, version: 1, label: buildLabel(person, second, 1, 2, epoch), ticket: noise(1_700) },
  ];
  return { person, first, second, rows };
};

/** The change that a device makes whose account key is new: signed by the key before. */
const rotation = (
  person: Person,
  next: Person,
  stageId: string,
  rows: readonly StagedRow[],
  more: Readonly<Record<string, Json | undefined>> = {},
): KeyringChange => {
  const whose = { user_id: person.userId, key_epoch: 2 };
  return switchTo(person, stageId, rows, {
    key_epoch: 2,
    state: buildJwe({ typ: "relicario-state", ...whose, previous: digestOf(String(person.state)) }),
    book: buildJwe({ typ: "relicario-book", ...whose }),
    shares: buildJwe({ typ: "relicario-shares", ...whose }),
    slots: { set: [buildSlot(person.imageId)], remove: [] },
    key_statement: statementOf(person, next),
    ...more,
  });
};

const statementOf = (person: Person, next: Person, more: Readonly<Record<string, Json>> = {}): Json => {
  const { x } = next.signingKey.export({ format: "jwk" });
  const bare = {
    v: 1,
    user_id: person.userId,
    recipient: buildRecipient().replace(/q$/, "p"),
    signing_key: String(x),
    key_epoch: 2,
    ...more,
  };
  const { sig: previousSig } = signWith("key", bare, person.signingKey);
  return signWith("key", { ...bare, previous_sig: previousSig }, next.signingKey);
};
const renewed = (person: Person): Person => ({ ...person, signingKey: generateKeyPairSync("ed25519").privateKey });

describe("rows that were staged", () => {
  it("show nowhere until a change switches to them, and replace labels, tickets and contents then", async () => {
    const { person, first, second, rows } = await settled();
    const [stageId, before] = [uuidv7(), await listOf(person)];
    const contents = await contentsOf(service, person);
    expect((await stage(person, stageId, rows.slice(0, 1))).body).toEqual({ stage_id: stageId, rows: 1 });
    expect((await stage(person, stageId, rows)).body).toEqual({ stage_id: stageId, rows: 3 });
    expect(await listOf(person)).toEqual(before);
    expect(await contentsOf(service, person)).toBe(contents + 1_400);

    const change = switchTo(person, stageId, rows);
    expect((await put(person, change)).body).toEqual({ state_rev: change.state_rev });
    expect((await put(person, change)).body).toEqual({ state_rev: change.state_rev }); // the same one once more
    const [present, former] = [await read(person, first, 2), await read(person, first, 1)];
    expect(present.body).toMatchObject({ label: rows[0]?.label, ticket: rows[0]?.ticket, content: rows[0]?.content });
    expect(former.body).toMatchObject({ ticket: rows[1]?.ticket, content: rows[1]?.content });
    expect((await read(person, second, 1)).body).toMatchObject({ label: rows[2]?.label, ticket: rows[2]?.ticket });
    expect(await contentsOf(service, person)).toBe(900 + 500 + 700);
    expect((await service.call("GET", `/user/keyring/stage/${stageId}`, person.token)).status).toBe(404);
  });

  it("end the shares of a content that was sealed anew, and no others; what they replaced is kept nowhere", async () => {
    const { person, first, second, rows } = await settled();
    await keepShare(service, person, first, { version: 2 });
    await keepShare(service, person, second, { version: 1 });
    const { db } = service.app.services;
    const keysOf = async (): Promise<string[]> =>
      (await db.select().from(versionObjects).where(eq(versionObjects.accountId, person.userId))).map(
        ({ objectKey }) => objectKey,
      );
    const isThere = async (key: string): Promise<boolean> =>
      (await readdir(dirname(join(service.objectsFolder, key)))).includes(basename(key));
    expect(await sharesOf(service, person, first, { ended: false })).toHaveLength(1);
    const [before, stageId] = [await keysOf(), uuidv7()];
    await stage(person, stageId, rows);
    expect((await put(person, switchTo(person, stageId, rows))).status).toBe(200);
    expect(await sharesOf(service, person, first, { ended: false })).toEqual([]);
    expect(await sharesOf(service, person, second, { ended: false })).toHaveLength(1);
    await contentsOf(service, person);

    await service.app.sweep();
    const after = await keysOf();
    const gone = before.filter((key) => !after.includes(key));
    expect(gone).toHaveLength(2);
    for (const key of before) expect(await isThere(key)).toBe(!gone.includes(key));
    for (const key of after) expect(await isThere(key)).toBe(true);
    for (const table of [looseObjects, stagedRows])
      expect(await db.$count(table, eq(table.accountId, person.userId))).toBe(0);
  });

  it("are given by digest, and stay as they are when they come again", async () => {
    const { person, rows } = await settled();
    const stageId = uuidv7();
    await stage(person, stageId, rows);
    const staged = StagedRows.parse((await service.call("GET", `/user/keyring/stage/${stageId}`, person.token)).body);
    expect(
      digestOf(
        staged.rows
          .map(
            ({ secret_db_id: id, version, row_sha256: digest }) =>
              `${id} ${String(version)} ${Buffer.from(digest, "base64url").toString("hex")}\n`,
          )
          .join(""),
      ),
    ).toBe(digestOfRows(rows));
    const kept = await contentsOf(service, person);
    await stage(person, stageId, rows);
    expect(await contentsOf(service, person)).toBe(kept);
  });

  it("give way to another stage, and go after a day without a new row", async () => {
    const { person, rows } = await settled();
    const contents = await contentsOf(service, person);
    const [first, second] = [uuidv7(), uuidv7()];
    await stage(person, first, rows);
    await stage(person, second, rows.slice(2));
    expect((await service.call("GET", `/user/keyring/stage/${first}`, person.token)).status).toBe(404);
    clock = new Date(clock.getTime() + stageHours * 3_600_000 + 1);
    await service.app.sweep();
    const again = await service.signIn(person.subject);
    expect((await service.call("GET", `/user/keyring/stage/${second}`, again.token)).status).toBe(404);
    expect(await contentsOf(service, again)).toBe(contents);
  });

  it("have contents of up to a mebibyte, which are streamed like any large one", async () => {
    const { person, first, rows } = await settled();
    const stageId = uuidv7();
    const content = randomBytes(maxStagedContentBytes);
    const large = rows.with(0, { ...rowOf(rows, 0), content: content.toString("base64url") });
    const larger = rows.with(0, { ...rowOf(rows, 0), content: noise(maxStagedContentBytes + 1) });
    expect(await stage(person, stageId, larger)).toMatchObject({ status: 422, body: { code: "validation_error" } });
    expect((await stage(person, stageId, large)).status).toBe(200);
    expect((await put(person, switchTo(person, stageId, large))).status).toBe(200);
    expect((await read(person, first, 2)).body["content"]).toBeNull();
    const payload = { secret_db_id: first, version: 2 };
    const headers = { authorization: `Bearer ${person.token}` };
    expect(
      (await service.app.http.inject({ method: "POST", url: downloadPath, headers, payload })).rawPayload.equals(
        content,
      ),
    ).toBe(true);
    const range = await service.app.http.inject({
      method: "POST",
      url: downloadPath,
      headers: { ...headers, range: "bytes=1000000-1000099" },
      payload,
    });
    expect(range.rawPayload.equals(content.subarray(1_000_000, 1_000_100))).toBe(true);
    await contentsOf(service, person);
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
  ])("are refused with %s, all of the call", async (_, status, code, damage) => {
    const { person, rows } = await settled();
    const stageId = uuidv7();
    expect(await stage(person, stageId, [...rows.slice(1), damage(rowOf(rows, 0), person)])).toMatchObject({
      status,
      body: { code },
    });
    expect((await service.call("GET", `/user/keyring/stage/${stageId}`, person.token)).status).toBe(404);
  });
});

describe("a switch is refused, and changes nothing,", () => {
  it.each<[string, (scene: Awaited<ReturnType<typeof settled>>, stageId: string) => Promise<KeyringChange>]>([
    ["when there is no such stage", ({ person, rows }) => Promise.resolve(switchTo(person, uuidv7(), rows))],
    [
      "when a row is missing",
      async ({ person, rows }, stageId) => {
        await stage(person, stageId, rows.slice(1));
        return switchTo(person, stageId, rows);
      },
    ],
    [
      "when a row was altered by somebody who has a session alone",
      async ({ person, rows }, stageId) => {
        await stage(person, stageId, rows);
        await stage(person, stageId, [{ ...rowOf(rows, 2), ticket: noise(1_700) }]);
        return switchTo(person, stageId, rows);
      },
    ],
    [
      "when a secret has another version meanwhile",
      async ({ person, first, rows }, stageId) => {
        await stage(person, stageId, rows);
        await store(person, first, 2);
        return switchTo(person, stageId, rows);
      },
    ],
    [
      "when a label changed meanwhile",
      async ({ person, second, rows }, stageId) => {
        await stage(person, stageId, rows);
        const keyring = buildChange(person);
        await service.call("POST", "/secrets/store", person.token, {
          body: { secret_db_id: second, base_version: 1, label: buildLabel(person, second, 1, 2), keyring },
        });
        confirm(person, keyring);
        return switchTo(person, stageId, rows);
      },
    ],
    [
      "when a former version comes without the label that commits to it",
      async ({ person, rows }, stageId) => {
        await stage(person, stageId, rows.slice(1));
        return switchTo(person, stageId, rows.slice(1));
      },
    ],
    [
      "when a label is of the next epoch",
      async ({ person, second, rows }, stageId) => {
        const wrong = rows.with(2, { ...rowOf(rows, 2), label: buildLabel(person, second, 1, 2, 2) });
        await stage(person, stageId, wrong);
        return switchTo(person, stageId, wrong);
      },
    ],
  ])("%s", async (_, make) => {
    const scene = await settled();
    const change = await make(scene, uuidv7());
    const before = await listOf(scene.person);
    expect(await put(scene.person, change)).toMatchObject({ status: 409, body: { code: "conflict" } });
    expect(await listOf(scene.person)).toEqual(before);
    expect((await service.call("GET", "/user/keyring", scene.person.token)).body["state_rev"]).toBe(
      scene.person.stateRev,
    );
    await contentsOf(service, scene.person);
  });
});

describe("a new account key", () => {
  it("switches slots, statement and every label at once; the key before signs nothing after", async () => {
    const { person, first, rows } = await settled(2);
    const [next, stageId] = [renewed(person), uuidv7()];
    await stage(person, stageId, rows);
    const change = rotation(person, next, stageId, rows);
    expect(await put(person, change)).toMatchObject({ status: 200 });
    confirm(person, change);
    confirm(next, change);
    const { body } = await service.call("GET", "/user/keyring", person.token);
    expect(body).toMatchObject({
      key_epoch: 2,
      key_statement: change.key_statement,
      slots: change.slots?.set,
      book: change.book,
    });
    expect((await read(person, first, 2)).body).toMatchObject({ label: rows[0]?.label });

    const after = (signer: Person): KeyringChange =>
      buildChange(signer, {
        key_epoch: 2,
        state: buildJwe({
          typ: "relicario-state",
          user_id: person.userId,
          key_epoch: 2,
          previous: digestOf(String(person.state)),
        }),
      });
    expect(await put(person, after(person))).toMatchObject({ status: 422, body: { code: "keyring_change_invalid" } });
    expect(await put(person, after(next))).toMatchObject({ status: 200 });
  });

  it("revokes requests that wait for an answer", async () => {
    const { person, rows } = await settled(2);
    const { requestId, linkAuth } = await keepRequest(service, person);
    const stageId = uuidv7();
    await stage(person, stageId, rows);
    const missing = rotation(person, renewed(person), stageId, rows);
    expect(await put(person, missing)).toMatchObject({ status: 422, body: { code: "keyring_change_invalid" } });
    const requests = buildJwe({ typ: "relicario-requests", user_id: person.userId, key_epoch: 2 });
    const look = (): Promise<Answer> =>
      service.call("POST", "/requests/get", null, { body: { request_id: requestId, link_auth: linkAuth } });
    expect((await look()).body["state"]).toBe("awaiting");
    expect((await put(person, rotation(person, renewed(person), stageId, rows, { requests }))).status).toBe(200);
    expect(await look()).toMatchObject({ status: 404, body: { code: "request_unavailable" } });
    await contentsOf(service, person);
  });

  it("takes every secret with it", async () => {
    const { person, second, rows } = await settled(2);
    const stageId = uuidv7();
    const some = rows.slice(0, 2);
    await stage(person, stageId, some);
    expect(await put(person, rotation(person, renewed(person), stageId, some))).toMatchObject({
      status: 409,
      body: { code: "conflict", rows: [{ secret_db_id: second, version: 1 }] },
    });
  });

  it.each<[string, (person: Person, next: Person) => Record<string, Json | undefined>]>([
    ["without a stage", () => ({ stage_id: undefined, stage_sha256: undefined })],
    ["without a statement", () => ({ key_statement: undefined })],
    ["with a slot left as it was", () => ({ slots: undefined })],
    ["without the book", () => ({ book: undefined })],
    ["two epochs on", (person, next) => ({ key_epoch: 3, key_statement: statementOf(person, next, { key_epoch: 3 }) })],
    [
      "with a statement that the key before did not sign",
      (person, next) => ({ key_statement: statementOf({ ...person, signingKey: next.signingKey }, next) }),
    ],
    [
      "with a statement of another person",
      (person, next) => ({ key_statement: statementOf(person, next, { user_id: uuidv7() }) }),
    ],
    ["with the same key once more", (person) => ({ key_statement: statementOf(person, person) })],
  ])("is refused %s", async (_, overrides) => {
    const { person, rows } = await settled(2);
    const [next, stageId] = [renewed(person), uuidv7()];
    await stage(person, stageId, rows);
    expect(await put(person, rotation(person, next, stageId, rows, overrides(person, next)))).toMatchObject({
      status: 422,
      body: { code: "keyring_change_invalid" },
    });
  });
});
