import { generateKeyPairSync } from "node:crypto";

import { setAsideDays, startAnewDays, startAnewLapseDays, type KeyringChange } from "@relicario/shared/api";
import { eq } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";

import {
  accounts,
  keyringFormer,
  requests,
  secretsSetAside,
  secretVersions,
  startAnews,
  versionObjects,
} from "../db/schema.ts";
import { mailsOf } from "../testing/outbox.ts";
import {
  buildChange,
  buildImageRecord,
  buildJwe,
  buildSecret,
  buildSlot,
  buildStatement,
  confirm,
  createPerson,
  digestOf,
  signWith,
  type Person,
} from "../testing/person.ts";
import { keepRequest, keepShare } from "../testing/sharing.ts";
import { startService, type Answer, type TestService } from "../testing/service.ts";

let service: TestService;
let clock: Date;
beforeEach(async () => {
  clock = new Date();
  service = await startService({}, () => clock);
});
afterEach(() => service.stop());

const days = (count: number): void => {
  clock = new Date(clock.getTime() + count * 86_400_000);
};

/** A session of the same account whose sign-in is so old by the service's clock. */
const sessionOf = async (person: Person, authTime: Date | null): Promise<string> => {
  const claims = { auth_time: authTime === null ? undefined : Math.floor(authTime.getTime() / 1_000) };
  const token = await service.issuer.accessToken(person.subject, claims);
  return String(
    (await service.call("POST", "/auth/token?app_vendor_id=relicario", null, { body: { token } })).body["token"],
  );
};
const secondsAgo = (seconds: number): Date => new Date(clock.getTime() - seconds * 1_000);

/** Somebody with a secret, a verified address, and a session that is not fresh. */
const settled = async (): Promise<{ person: Person; secretId: string; old: string }> => {
  const person = await service.signIn();
  const { body } = buildSecret(person);
  await service.call("POST", "/secrets/store", person.token, { body });
  confirm(person, body.keyring);
  // what the secret's keyring change says goes nowhere: there is no address yet
  await service.app.services.mailer.deliver();
  await service.app.services.db
    .update(accounts)
    .set({ contactEmail: `${person.subject}@example.org`, contactEmailVerified: true })
    .where(eq(accounts.id, person.userId));
  return { person, secretId: body.secret_db_id, old: await sessionOf(person, secondsAgo(301)) };
};

const ask = async (person: Person): Promise<Answer> =>
  service.call("POST", "/user/start-anew", await sessionOf(person, clock));
const status = async (person: Person): Promise<unknown> =>
  (await service.call("GET", "/user/start-anew", person.token)).body["state"];
const subjects = async (): Promise<string[]> => {
  await service.app.services.mailer.deliver();
  return (await mailsOf(service)).map(({ subject }) => subject);
};

/**
 * The same account on a device that made another account key, and the change that begins with it.
 */
const anewOf = (
  person: Person,
  overrides: Readonly<Record<string, unknown>> = {},
  epoch = 2,
): { fresh: Person; change: KeyringChange } => {
  const { privateKey } = generateKeyPairSync("ed25519");
  const imageId = uuidv7();
  const fresh: Person = {
    ...createPerson(person.subject, person.token),
    signingKey: privateKey,
    imageId,
    stateRev: person.stateRev,
    state: person.state,
  };
  const whose = { user_id: person.userId, key_epoch: epoch };
  const change = {
    ...{ v: 1, ...whose, state_rev: person.stateRev + 1 },
    state: buildJwe({ typ: "relicario-state", ...whose, previous: digestOf(person.state ?? "") }),
    book: buildJwe({ typ: "relicario-book", ...whose }),
    shares: buildJwe({ typ: "relicario-shares", ...whose }),
    slots: { set: [buildSlot(imageId)], remove: [person.imageId] },
    key_statement: buildStatement(fresh, { key_epoch: epoch }),
    image_records: { set: [buildImageRecord(imageId)], remove: [person.imageId] },
    ...overrides,
  };
  return { fresh, change: signWith("put", change as never, privateKey) };
};
const begin = async (person: Person, change: KeyringChange, token?: string): Promise<Answer> =>
  service.call("PUT", "/user/keyring", token ?? (await sessionOf(person, clock)), { body: change });
const whole = async (person: Person): Promise<unknown> => [
  (await service.call("GET", "/user/keyring", person.token)).body,
  (await service.call("GET", "/secrets/store", person.token)).body,
];

describe("asking to start anew", () => {
  it("takes a sign-in less than 5 minutes old; one whose time is not said is old", async () => {
    const { person, old } = await settled();
    for (const token of [old, await sessionOf(person, null), await sessionOf(person, secondsAgo(300))]) {
      expect(await service.call("POST", "/user/start-anew", token)).toMatchObject({
        status: 403,
        body: { code: "login_required" },
      });
    }
    expect(await status(person)).toBe("none");
    expect((await service.call("POST", "/user/start-anew", await sessionOf(person, secondsAgo(298)))).status).toBe(200);
  });

  it("waits 7 days, says so by mail with the way to object, and is asked once", async () => {
    const { person } = await settled();
    const first = await ask(person);
    const readyAt = new Date(clock.getTime() + startAnewDays * 86_400_000).toISOString();
    expect(first.body).toEqual({
      state: "waiting",
      asked_at: clock.toISOString(),
      ready_at: readyAt,
      ended_at: null,
      kept_until: null,
    });
    clock = new Date(clock.getTime() + 60_000);
    expect((await ask(person)).body).toEqual(first.body);
    expect(await subjects()).toEqual(["Somebody asked to start your Relicario account anew"]);
    expect((await mailsOf(service))[0]).toMatchObject({
      to: `${person.subject}@example.org`,
      text: expect.stringContaining("http://localhost:3000/start-anew"),
    });
  });

  it("has nothing to lose where nothing is kept", async () => {
    expect(await ask(await service.signIn())).toMatchObject({ status: 404, body: { code: "no_keyring" } });
  });

  it("lapses when it was ready for 30 days, and can be asked for again", async () => {
    const { person } = await settled();
    await ask(person);
    days(startAnewDays + startAnewLapseDays);
    expect(await status(person)).toBe("none");
    expect(await begin(person, anewOf(person).change)).toMatchObject({ status: 409, body: { code: "conflict" } });
    expect((await ask(person)).body).toMatchObject({ state: "waiting", asked_at: clock.toISOString() });
  });
});

describe("objecting", () => {
  it("ends it for good by any session of the account, however old its sign-in, while it waits or is ready", async () => {
    const { person, old } = await settled();
    for (const wait of [0, startAnewDays]) {
      await ask(person);
      days(wait);
      expect((await service.call("DELETE", "/user/start-anew?reason=objected", old)).body).toMatchObject({
        state: "objected",
        ended_at: clock.toISOString(),
      });
      expect((await service.call("DELETE", "/user/start-anew?reason=cancelled", old)).body).toMatchObject({
        state: "objected",
      });
      days(startAnewDays);
      expect(await begin(person, anewOf(person).change)).toMatchObject({ status: 409, body: { code: "conflict" } });
    }
    expect(
      (await subjects()).filter((subject) => subject === "Your Relicario account is not started anew"),
    ).toHaveLength(2);
  });

  it("is nothing that another account can do", async () => {
    const { person } = await settled();
    const { old } = await settled();
    await ask(person);
    expect((await service.call("DELETE", "/user/start-anew?reason=objected", old)).body).toMatchObject({
      state: "none",
    });
    expect(await status(person)).toBe("waiting");
  });

  it("comes too late after it was begun", async () => {
    const { person } = await settled();
    await ask(person);
    days(startAnewDays);
    await begin(person, anewOf(person).change);
    expect((await service.call("DELETE", "/user/start-anew?reason=objected", person.token)).body).toMatchObject({
      state: "begun",
    });
  });
});

describe("beginning anew", () => {
  it("is refused before its time, without having been asked for, and by a sign-in that is not fresh; nothing changes", async () => {
    const { person, old } = await settled();
    const before = await whole(person);
    const { change } = anewOf(person);
    expect(await begin(person, change)).toMatchObject({ status: 409, body: { code: "conflict" } });
    await ask(person);
    days(startAnewDays - 0.001);
    expect(await begin(person, change)).toMatchObject({ status: 409, body: { code: "conflict" } });
    days(0.001);
    expect(await begin(person, change, old)).toMatchObject({ status: 403, body: { code: "login_required" } });
    expect(await whole(person)).toEqual(before);
  });

  it("refuses a change that does not follow, does not speak for itself, or keeps something of before", async () => {
    const { person } = await settled();
    const other = await service.signIn();
    await ask(person);
    days(startAnewDays);
    const before = await whole(person);
    const stranger = { ...person, signingKey: generateKeyPairSync("ed25519").privateKey };
    const whose = { user_id: person.userId, key_epoch: 2 };
    const broken: [KeyringChange, number][] = [
      [anewOf(person, {}, 3).change, 422],
      [anewOf(person, { key_statement: buildStatement(other, { key_epoch: 2 }) }).change, 422],
      [
        anewOf(person, {
          key_statement: { ...buildStatement(stranger, { key_epoch: 2 }), recipient: `age1pq1${"p".repeat(1_952)}` },
        }).change,
        422,
      ],
      [{ ...anewOf(person).change, sig: anewOf(person).change.sig }, 422],
      [
        anewOf(person, { state: buildJwe({ typ: "relicario-state", ...whose, previous: digestOf("another") }) }).change,
        422,
      ],
      [anewOf(person, { state: buildJwe({ typ: "relicario-state", ...whose, previous: null }) }).change, 422],
      [anewOf(person, { slots: { set: [buildSlot(person.imageId)], remove: [] } }).change, 422],
      [anewOf(person, { purge: [uuidv7()] }).change, 422],
      [anewOf(person, { book: undefined }).change, 422],
      [anewOf(person, { state_rev: person.stateRev + 2 }).change, 409],
      // The same key again is a change of the old account, which does not take a statement this
      // way.
      [buildChange(person, { key_statement: buildStatement(person) }), 422],
    ];
    for (const [change, expected] of broken) expect((await begin(person, change)).status).toBe(expected);
    expect(await whole(person)).toEqual(before);
    expect((await begin(person, anewOf(person).change)).status).toBe(200);
  });

  it("shows an empty account under the new key, answers the same change as before, and says it was done", async () => {
    const { person, secretId } = await settled();
    await ask(person);
    days(startAnewDays);
    const { change } = anewOf(person);
    const { body: before } = await service.call("GET", "/secrets/store", person.token);
    for (let time = 0; time < 2; time++)
      expect(await begin(person, change)).toMatchObject({ status: 200, body: { state_rev: 2 } });
    expect((await service.call("GET", "/user/keyring?states_since=1", person.token)).body).toMatchObject({
      ...{ key_epoch: 2, state_rev: 2, requests: null },
      slots: [{ opener_id: change.slots?.set[0]?.opener_id }],
      states: [{ state_rev: 2, state: change.state }],
    });
    expect((await service.call("GET", "/secrets/store", person.token)).body).toMatchObject({
      secrets: [],
      total: 0,
      state_rev: 2,
    });
    const since = await service.call("GET", `/secrets/store?since=${String(before["changes"])}`, person.token);
    expect(since.body).toMatchObject({ secrets: [], total: 0, purged: [secretId] });
    expect(
      (await service.call("POST", "/secrets/store/get-secret", person.token, { body: { secret_db_id: secretId } }))
        .status,
    ).toBe(404);
    expect((await service.call("GET", `/users/${person.subject}/key`, person.token)).body).toMatchObject({
      key_epoch: 2,
      previous_sig: null,
    });
    expect((await service.call("GET", "/user/start-anew", person.token)).body).toMatchObject({
      state: "begun",
      kept_until: new Date(clock.getTime() + setAsideDays * 86_400_000).toISOString(),
    });
    expect(await subjects()).toContain("Your Relicario account was started anew");
  });

  it("takes changes by the new key from then on, and none by the old one", async () => {
    const { person } = await settled();
    await ask(person);
    days(startAnewDays);
    const { fresh, change } = anewOf(person);
    await begin(person, change);
    confirm(fresh, change);
    confirm(person, change);
    const whose = { user_id: person.userId, key_epoch: 2 };
    const next = {
      key_epoch: 2,
      state: buildJwe({ typ: "relicario-state", ...whose, previous: digestOf(change.state) }),
    };
    const id = uuidv7();
    const label = buildJwe({ typ: "relicario-label", ...whose, secret_id: id, version: 1, rev: 1 });
    const store = (who: Person) =>
      service.call("POST", "/secrets/store", person.token, {
        body: { ...buildSecret(who, { id, change: next }).body, label },
      });
    expect(await store(person)).toMatchObject({ status: 422, body: { code: "keyring_change_invalid" } });
    expect((await store(fresh)).status).toBe(200);
  });

  it("ends shares and revokes requests of before", async () => {
    const { person, secretId } = await settled();
    const link = await keepShare(service, person, secretId);
    const request = await keepRequest(service, person);
    await ask(person);
    days(startAnewDays - 0.5); // both still run
    days(0.5);
    expect((await begin(person, anewOf(person).change)).status).toBe(200);
    expect(await service.call("POST", `/share/get-public-secret/${link.shareId}`, null)).toMatchObject({
      status: 404,
      body: { code: "share_unavailable" },
    });
    const [row] = await service.app.services.db
      .select()
      .from(requests)
      .where(eq(requests.requestId, request.requestId));
    expect(row?.revokedAt).toEqual(clock);
    const former = await service.app.services.db
      .select({ part: keyringFormer.part })
      .from(keyringFormer)
      .where(eq(keyringFormer.stateRev, person.stateRev + 1));
    expect(former.map(({ part }) => part).sort()).toEqual(["book", "image_record", "requests", "shares", "slot"]);
  });

  it("keeps what was there for 30 days, then drops it with its bytes", async () => {
    const { person } = await settled();
    await ask(person);
    days(startAnewDays);
    const { db } = service.app.services;
    await begin(person, anewOf(person).change);
    const kept = async () => [
      (await db.select().from(secretsSetAside)).length,
      (await db.select().from(secretVersions)).length,
      (await db.select().from(versionObjects)).length,
      (await db.select().from(startAnews)).length,
    ];
    const used = async () =>
      (await db.select({ bytes: accounts.storageUsed }).from(accounts).where(eq(accounts.id, person.userId)))[0]
        ?.bytes ?? 0;
    const usedBefore = await used();
    days(setAsideDays - 0.001);
    await service.app.sweep();
    expect(await kept()).toEqual([1, 1, 1, 1]);
    expect(await used()).toBe(usedBefore);
    days(0.001);
    await service.app.sweep();
    expect(await kept()).toEqual([0, 0, 0, 0]);
    expect(await used()).toBeLessThan(usedBefore - 3_000); // content, ticket, label, and former slots
    expect(await status(person)).toBe("none");
  });
});
