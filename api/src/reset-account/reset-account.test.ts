import { generateKeyPairSync } from "node:crypto";

import {
  resetDataRetentionDays,
  accountResetWaitDays,
  accountResetLapseDays,
  type KeyringChange,
} from "@relicario/shared/api";
import { eq } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";

import {
  accounts,
  formerKeyringParts,
  requests,
  archivedSecrets,
  secretVersions,
  accountResets,
  versionObjects,
} from "../db/schema.ts";
import { readMails } from "../testing/outbox.ts";
import {
  buildChange,
  buildImageRecord,
  buildJwe,
  buildSecret,
  buildSlot,
  buildStatement,
  confirmChange,
  createPerson,
  computeDigest,
  signChange,
  type Person,
} from "../testing/person.ts";
import { createRequest, createShare } from "../testing/sharing.ts";
import { startService, type TestResponse, type TestService } from "../testing/service.ts";

let service: TestService;
let clock: Date;
beforeEach(async () => {
  clock = new Date();
  service = await startService({}, () => clock);
});
afterEach(() => service.stop());

const advanceDays = (count: number): void => {
  clock = new Date(clock.getTime() + count * 86_400_000);
};

/** A session of the same account with a sign-in of that age by the service's clock. */
const createSession = async (person: Person, authTime: Date | null): Promise<string> => {
  const claims = { auth_time: authTime === null ? undefined : Math.floor(authTime.getTime() / 1_000) };
  const token = await service.issuer.createAccessToken(person.subject, claims);
  return String(
    (await service.call("POST", "/auth/token?app_vendor_id=relicario", null, { body: { token } })).body["token"],
  );
};
const subtractSeconds = (seconds: number): Date => new Date(clock.getTime() - seconds * 1_000);

/** A person with a secret, a verified address, and a session with an old sign-in. */
const createPersonWithSecret = async (): Promise<{ person: Person; secretId: string; oldSession: string }> => {
  const person = await service.signIn();
  const { body } = buildSecret(person);
  await service.call("POST", "/secrets/store", person.token, { body });
  confirmChange(person, body.keyring);
  // sends the mail of the secret's keyring change before there is an address
  await service.app.services.mailer.deliver();
  await service.app.services.db
    .update(accounts)
    .set({ contactEmail: `${person.subject}@example.org`, contactEmailVerified: true })
    .where(eq(accounts.id, person.userId));
  return { person, secretId: body.secret_db_id, oldSession: await createSession(person, subtractSeconds(301)) };
};

const requestReset = async (person: Person): Promise<TestResponse> =>
  service.call("POST", "/user/start-anew", await createSession(person, clock));
const readResetState = async (person: Person): Promise<unknown> =>
  (await service.call("GET", "/user/start-anew", person.token)).body["state"];
const readMailSubjects = async (): Promise<string[]> => {
  await service.app.services.mailer.deliver();
  return (await readMails(service)).map(({ subject }) => subject);
};

/** The account on a device with a new account key, and its reset change. */
const buildReset = (
  person: Person,
  overrides: Readonly<Record<string, unknown>> = {},
  epoch = 2,
): { freshSigner: Person; change: KeyringChange } => {
  const { privateKey } = generateKeyPairSync("ed25519");
  const imageId = uuidv7();
  const freshSigner: Person = {
    ...createPerson(person.subject, person.token),
    signingKey: privateKey,
    imageId,
    stateRev: person.stateRev,
    state: person.state,
  };
  const ownerHeader = { user_id: person.userId, key_epoch: epoch };
  const change = {
    ...{ v: 1, ...ownerHeader, state_rev: person.stateRev + 1 },
    state: buildJwe({ typ: "relicario-state", ...ownerHeader, previous: computeDigest(person.state ?? "") }),
    book: buildJwe({ typ: "relicario-book", ...ownerHeader }),
    shares: buildJwe({ typ: "relicario-shares", ...ownerHeader }),
    slots: { set: [buildSlot(imageId)], remove: [person.imageId] },
    key_statement: buildStatement(freshSigner, { key_epoch: epoch }),
    image_records: { set: [buildImageRecord(imageId)], remove: [person.imageId] },
    ...overrides,
  };
  return { freshSigner, change: signChange(change, freshSigner) };
};
const completeReset = async (person: Person, change: KeyringChange, token?: string): Promise<TestResponse> =>
  service.call("PUT", "/user/keyring", token ?? (await createSession(person, clock)), { body: change });
const readAccount = async (person: Person): Promise<unknown> => [
  (await service.call("GET", "/user/keyring", person.token)).body,
  (await service.call("GET", "/secrets/store", person.token)).body,
];

describe("requesting an account reset", () => {
  it("needs a sign-in less than 5 minutes old; an unknown time counts as old", async () => {
    const { person, oldSession } = await createPersonWithSecret();
    for (const token of [
      oldSession,
      await createSession(person, null),
      await createSession(person, subtractSeconds(300)),
    ]) {
      expect(await service.call("POST", "/user/start-anew", token)).toMatchObject({
        status: 403,
        body: { code: "login_required" },
      });
    }
    expect(await readResetState(person)).toBe("none");
    expect(
      (await service.call("POST", "/user/start-anew", await createSession(person, subtractSeconds(298)))).status,
    ).toBe(200);
  });

  it("waits 7 days, sends a mail with the way to object, and is idempotent", async () => {
    const { person } = await createPersonWithSecret();
    const firstResponse = await requestReset(person);
    const readyAt = new Date(clock.getTime() + accountResetWaitDays * 86_400_000).toISOString();
    expect(firstResponse.body).toEqual({
      state: "waiting",
      asked_at: clock.toISOString(),
      ready_at: readyAt,
      ended_at: null,
      kept_until: null,
    });
    clock = new Date(clock.getTime() + 60_000);
    expect((await requestReset(person)).body).toEqual(firstResponse.body);
    expect(await readMailSubjects()).toEqual(["Someone asked to reset your Relicario account"]);
    expect((await readMails(service))[0]).toMatchObject({
      to: `${person.subject}@example.org`,
      text: expect.stringContaining("http://localhost:3000/start-anew"),
    });
  });

  it("is refused without a keyring", async () => {
    expect(await requestReset(await service.signIn())).toMatchObject({ status: 404, body: { code: "no_keyring" } });
  });

  it("lapses 30 days after it was ready, and can be requested again", async () => {
    const { person } = await createPersonWithSecret();
    await requestReset(person);
    advanceDays(accountResetWaitDays + accountResetLapseDays);
    expect(await readResetState(person)).toBe("none");
    expect(await completeReset(person, buildReset(person).change)).toMatchObject({
      status: 409,
      body: { code: "conflict" },
    });
    expect((await requestReset(person)).body).toMatchObject({ state: "waiting", asked_at: clock.toISOString() });
  });
});

describe("objecting", () => {
  it("ends the reset for good, from any session of the account, while it waits or is ready", async () => {
    const { person, oldSession } = await createPersonWithSecret();
    for (const waitDays of [0, accountResetWaitDays]) {
      await requestReset(person);
      advanceDays(waitDays);
      expect((await service.call("DELETE", "/user/start-anew?reason=objected", oldSession)).body).toMatchObject({
        state: "objected",
        ended_at: clock.toISOString(),
      });
      expect((await service.call("DELETE", "/user/start-anew?reason=cancelled", oldSession)).body).toMatchObject({
        state: "objected",
      });
      advanceDays(accountResetWaitDays);
      expect(await completeReset(person, buildReset(person).change)).toMatchObject({
        status: 409,
        body: { code: "conflict" },
      });
    }
    expect(
      (await readMailSubjects()).filter((subject) => subject === "Your Relicario account will not be reset"),
    ).toHaveLength(2);
  });

  it("is impossible for another account", async () => {
    const { person } = await createPersonWithSecret();
    const { oldSession } = await createPersonWithSecret();
    await requestReset(person);
    expect((await service.call("DELETE", "/user/start-anew?reason=objected", oldSession)).body).toMatchObject({
      state: "none",
    });
    expect(await readResetState(person)).toBe("waiting");
  });

  it("has no effect after the reset", async () => {
    const { person } = await createPersonWithSecret();
    await requestReset(person);
    advanceDays(accountResetWaitDays);
    await completeReset(person, buildReset(person).change);
    expect((await service.call("DELETE", "/user/start-anew?reason=objected", person.token)).body).toMatchObject({
      state: "begun",
    });
  });
});

describe("the account reset", () => {
  it("is refused before its time, without a request, and with an old sign-in; nothing changes", async () => {
    const { person, oldSession } = await createPersonWithSecret();
    const accountBefore = await readAccount(person);
    const { change } = buildReset(person);
    expect(await completeReset(person, change)).toMatchObject({ status: 409, body: { code: "conflict" } });
    await requestReset(person);
    advanceDays(accountResetWaitDays - 0.001);
    expect(await completeReset(person, change)).toMatchObject({ status: 409, body: { code: "conflict" } });
    advanceDays(0.001);
    expect(await completeReset(person, change, oldSession)).toMatchObject({
      status: 403,
      body: { code: "login_required" },
    });
    expect(await readAccount(person)).toEqual(accountBefore);
  });

  it("refuses a change that does not follow the stored state, is not self-signed, or keeps a former part", async () => {
    const { person } = await createPersonWithSecret();
    const otherUser = await service.signIn();
    await requestReset(person);
    advanceDays(accountResetWaitDays);
    const accountBefore = await readAccount(person);
    const stranger = { ...person, signingKey: generateKeyPairSync("ed25519").privateKey };
    const ownerHeader = { user_id: person.userId, key_epoch: 2 };
    const invalidChanges: [KeyringChange, number][] = [
      [buildReset(person, {}, 3).change, 422],
      [buildReset(person, { key_statement: buildStatement(otherUser, { key_epoch: 2 }) }).change, 422],
      [
        buildReset(person, {
          key_statement: { ...buildStatement(stranger, { key_epoch: 2 }), recipient: `age1pq1${"p".repeat(1_952)}` },
        }).change,
        422,
      ],
      [{ ...buildReset(person).change, sig: buildReset(person).change.sig }, 422],
      [
        buildReset(person, {
          state: buildJwe({ typ: "relicario-state", ...ownerHeader, previous: computeDigest("another") }),
        }).change,
        422,
      ],
      [buildReset(person, { state: buildJwe({ typ: "relicario-state", ...ownerHeader, previous: null }) }).change, 422],
      [buildReset(person, { slots: { set: [buildSlot(person.imageId)], remove: [] } }).change, 422],
      [buildReset(person, { purge: [uuidv7()] }).change, 422],
      [buildReset(person, { book: undefined }).change, 422],
      [buildReset(person, { state_rev: person.stateRev + 2 }).change, 409],
      // The same key again is a change of the old account, which cannot bring a statement.
      [buildChange(person, { key_statement: buildStatement(person) }), 422],
    ];
    for (const [change, expectedStatus] of invalidChanges)
      expect((await completeReset(person, change)).status).toBe(expectedStatus);
    expect(await readAccount(person)).toEqual(accountBefore);
    expect((await completeReset(person, buildReset(person).change)).status).toBe(200);
  });

  it("shows an empty account under the new key, gives a repeated change the first response, and reports completion", async () => {
    const { person, secretId } = await createPersonWithSecret();
    await requestReset(person);
    advanceDays(accountResetWaitDays);
    const { change } = buildReset(person);
    const { body: listBefore } = await service.call("GET", "/secrets/store", person.token);
    for (let time = 0; time < 2; time++)
      expect(await completeReset(person, change)).toMatchObject({ status: 200, body: { state_rev: 2 } });
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
    const changedPage = await service.call(
      "GET",
      `/secrets/store?since=${String(listBefore["changes"])}`,
      person.token,
    );
    expect(changedPage.body).toMatchObject({ secrets: [], total: 0, purged: [secretId] });
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
      kept_until: new Date(clock.getTime() + resetDataRetentionDays * 86_400_000).toISOString(),
    });
    expect(await readMailSubjects()).toContain("Your Relicario account was reset");
  });

  it("accepts changes by the new key from then on, and none by the old one", async () => {
    const { person } = await createPersonWithSecret();
    await requestReset(person);
    advanceDays(accountResetWaitDays);
    const { freshSigner, change } = buildReset(person);
    await completeReset(person, change);
    confirmChange(freshSigner, change);
    confirmChange(person, change);
    const ownerHeader = { user_id: person.userId, key_epoch: 2 };
    const nextOverrides = {
      key_epoch: 2,
      state: buildJwe({ typ: "relicario-state", ...ownerHeader, previous: computeDigest(change.state) }),
    };
    const id = uuidv7();
    const label = buildJwe({ typ: "relicario-label", ...ownerHeader, secret_id: id, version: 1, rev: 1 });
    const storeSecret = (signer: Person) =>
      service.call("POST", "/secrets/store", person.token, {
        body: { ...buildSecret(signer, { id, change: nextOverrides }).body, label },
      });
    expect(await storeSecret(person)).toMatchObject({ status: 422, body: { code: "keyring_change_invalid" } });
    expect((await storeSecret(freshSigner)).status).toBe(200);
  });

  it("ends former shares and revokes former requests", async () => {
    const { person, secretId } = await createPersonWithSecret();
    const link = await createShare(service, person, secretId);
    const request = await createRequest(service, person);
    await requestReset(person);
    advanceDays(accountResetWaitDays - 0.5); // neither has expired
    advanceDays(0.5);
    expect((await completeReset(person, buildReset(person).change)).status).toBe(200);
    expect(await service.call("POST", `/share/get-public-secret/${link.shareId}`, null)).toMatchObject({
      status: 404,
      body: { code: "share_unavailable" },
    });
    const [row] = await service.app.services.db
      .select()
      .from(requests)
      .where(eq(requests.requestId, request.requestId));
    expect(row?.revokedAt).toEqual(clock);
    const formerParts = await service.app.services.db
      .select({ part: formerKeyringParts.part })
      .from(formerKeyringParts)
      .where(eq(formerKeyringParts.stateRev, person.stateRev + 1));
    expect(formerParts.map(({ part }) => part).sort()).toEqual(["book", "image_record", "requests", "shares", "slot"]);
  });

  it("keeps former data for 30 days, then deletes it with its bytes", async () => {
    const { person } = await createPersonWithSecret();
    await requestReset(person);
    advanceDays(accountResetWaitDays);
    const { db } = service.app.services;
    await completeReset(person, buildReset(person).change);
    const readStoredCounts = async () => [
      (await db.select().from(archivedSecrets)).length,
      (await db.select().from(secretVersions)).length,
      (await db.select().from(versionObjects)).length,
      (await db.select().from(accountResets)).length,
    ];
    const readStorageUsed = async () =>
      (await db.select({ bytes: accounts.storageUsed }).from(accounts).where(eq(accounts.id, person.userId)))[0]
        ?.bytes ?? 0;
    const usedBefore = await readStorageUsed();
    advanceDays(resetDataRetentionDays - 0.001);
    await service.app.sweep();
    expect(await readStoredCounts()).toEqual([1, 1, 1, 1]);
    expect(await readStorageUsed()).toBe(usedBefore);
    advanceDays(0.001);
    await service.app.sweep();
    expect(await readStoredCounts()).toEqual([0, 0, 0, 0]);
    expect(await readStorageUsed()).toBeLessThan(usedBefore - 3_000); // content, ticket, label, and former slots
    expect(await readResetState(person)).toBe("none");
  });
});
