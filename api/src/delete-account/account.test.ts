import { deletionGraceDays, shareWarningHours } from "@relicario/shared/api";
import { eq, is } from "drizzle-orm";
import { getTableConfig, PgTable } from "drizzle-orm/pg-core";

import * as schema from "../db/schema.ts";
import { accounts, identities, orphanedObjects, publicIds, shareRecipients, userNames } from "../db/schema.ts";
import { readMails } from "../testing/outbox.ts";
import { buildSecret, confirmChange, type Person } from "../testing/person.ts";
import { startService, type TestService } from "../testing/service.ts";
import { answerRequest, startAnswer, createRequest, createShare, buildOpening, sendParts } from "../testing/sharing.ts";
import { buildLargeContent } from "../testing/upload.ts";
import { accountTables } from "./delete-due-accounts.ts";

let service: TestService;
let clock: Date;
beforeAll(async () => {
  service = await startService({}, () => clock);
});
beforeEach(() => {
  clock = new Date();
});
afterAll(() => service.stop());

const advanceDays = (count: number): void => {
  clock = new Date(clock.getTime() + count * 86_400_000);
};
const requestDeletion = (person: Person) =>
  service.call("DELETE", "/user/me", person.token, { headers: { "accept-language": "es" } });
const cancelDeletion = (person: Person) => service.call("POST", "/user/me/restore", person.token);
const readDeletionDueAt = async (person: Person) =>
  (await service.call("GET", "/user/me", person.token)).body["deletion_due_at"];
const readActivityKinds = async (person: Person) =>
  ((await service.call("GET", "/user/activity", person.token)).body["entries"] as { kind: string }[]).map(
    ({ kind }) => kind,
  );

/** A person with a verified address and a secret. */
async function createPersonWithSecret(): Promise<{ person: Person; secretId: string; address: string }> {
  const person = await service.signIn();
  const address = `${person.subject}@example.org`;
  await service.app.services.db
    .update(accounts)
    .set({ contactEmail: address, contactEmailVerified: true })
    .where(eq(accounts.id, person.userId));
  const { body } = buildSecret(person);
  expect((await service.call("POST", "/secrets/store", person.token, { body })).status).toBe(200);
  confirmChange(person, body.keyring);
  return { person, secretId: body.secret_db_id, address };
}
const readMailSubjects = async (address: string) =>
  (await readMails(service)).filter(({ to }) => to === address).map(({ subject }) => subject);

describe("DELETE /user/me", () => {
  it("needs a fresh sign-in, sets the deletion for 14 days later, and sends the date by mail", async () => {
    const { person, address } = await createPersonWithSecret();
    expect((await requestDeletion(person)).status).toBe(204);
    const expectedDueAt = new Date(clock.getTime() + deletionGraceDays * 86_400_000);
    expect(await readDeletionDueAt(person)).toBe(expectedDueAt.toISOString());
    const [mail] = (await readMails(service)).filter(
      ({ to, subject }) => to === address && subject.includes("se va a eliminar"),
    );
    expect(mail?.text).toContain(
      new Intl.DateTimeFormat("es", { dateStyle: "long", timeZone: "UTC" }).format(expectedDueAt),
    );
    expect(mail?.text).toContain("/settings/delete-account");
    expect(await readActivityKinds(person)).toContain("deletion_asked");
  });

  it("refuses a sign-in that is 5 minutes old, and changes nothing", async () => {
    const { person } = await createPersonWithSecret();
    clock = new Date(clock.getTime() + 301_000);
    expect(await requestDeletion(person)).toMatchObject({ status: 403, body: { code: "login_required" } });
    expect(await readDeletionDueAt(person)).toBeNull();
  });

  it("keeps the date of the deletion when the call is repeated", async () => {
    const { person, address } = await createPersonWithSecret();
    await requestDeletion(person);
    const firstDueAt = await readDeletionDueAt(person);
    clock = new Date(clock.getTime() + 60_000);
    expect((await requestDeletion(person)).status).toBe(204);
    expect(await readDeletionDueAt(person)).toBe(firstDueAt);
    expect((await readMailSubjects(address)).filter((subject) => subject.includes("se va a eliminar"))).toHaveLength(1);
  });
});

describe("POST /user/me/restore", () => {
  it("cancels during the whole grace period, from any session", async () => {
    const { person, address } = await createPersonWithSecret();
    await requestDeletion(person);
    advanceDays(deletionGraceDays - 0.001);
    expect((await cancelDeletion(person)).status).toBe(204);
    expect(await readDeletionDueAt(person)).toBeNull();
    advanceDays(1);
    await service.app.sweep();
    expect((await service.call("GET", "/user/me", person.token)).status).toBe(200);
    expect(await readMailSubjects(address)).toContain("Tu cuenta de Relicario no se eliminará");
    expect((await readActivityKinds(person))[0]).toBe("deletion_cancelled");
  });

  it("does nothing without a pending deletion", async () => {
    const { person, address } = await createPersonWithSecret();
    expect((await cancelDeletion(person)).status).toBe(204);
    expect((await readMailSubjects(address)).filter((subject) => subject.includes("conserva"))).toEqual([]);
  });
});

describe("an account after its grace period", () => {
  /** A person with rows in most tables, and one who did not request deletion. */
  async function createFullAccount() {
    const { person, secretId } = await createPersonWithSecret();
    const otherUser = await createPersonWithSecret();
    const link = await createShare(service, person, secretId);
    await createShare(service, person, secretId, { recipient: otherUser.person.userId });
    await service.call("POST", "/share/get-public-secret", null, { body: buildOpening(link) });
    const largeContent = buildLargeContent({ bytes: 100 });
    const startResponse = await service.call(
      "POST",
      "/v2/secrets/secret",
      person.token,
      await largeContent.buildStartForm(),
    );
    await service.call(
      "POST",
      `/v2/secrets/secret/upload/${String(startResponse.body["upload_id"])}`,
      person.token,
      await largeContent.buildPartForm(1),
    );
    const request = await createRequest(service, person);
    await sendParts(service, await startAnswer(service, request, 500));
    await answerRequest(service, await createRequest(service, person), 500);
    await service.call("POST", "/user/start-anew", person.token);
    expect((await requestDeletion(person)).status).toBe(204);
    return { person, other: otherUser, link };
  }

  const countRows = async (id: string) => {
    const rowCounts = await Promise.all(
      accountTables.map(
        async ({ table, accountIdColumn }) =>
          [getTableConfig(table).name, await service.app.services.db.$count(table, eq(accountIdColumn, id))] as const,
      ),
    );
    return Object.fromEntries(rowCounts.filter(([, rows]) => rows > 0));
  };
  const countObjects = async (id: string) => (await service.listObjects(id)).length;

  it("is deleted with all rows and objects, without touching other accounts", async () => {
    const { db } = service.app.services;
    const { person, other: otherAccount, link } = await createFullAccount();
    const otherRowCounts = await countRows(otherAccount.person.userId);
    expect(Object.keys(await countRows(person.userId)).length).toBeGreaterThan(15);
    expect(await countObjects(person.userId)).toBeGreaterThan(3);
    advanceDays(deletionGraceDays);
    await service.app.sweep();
    expect(await countRows(person.userId)).toEqual({});
    expect(await countObjects(person.userId)).toBe(0);
    expect(await db.$count(orphanedObjects, eq(orphanedObjects.accountId, person.userId))).toBe(0);
    for (const [table, column] of [
      [accounts, accounts.id],
      [identities, identities.accountId],
      [publicIds, publicIds.accountId],
      [shareRecipients, shareRecipients.ownerId],
    ] as const) {
      expect(await db.$count(table, eq(column, person.userId))).toBe(0);
    }
    expect((await service.call("GET", "/user/me", person.token)).status).toBe(401);
    expect((await service.call("POST", `/share/get-public-secret/${link.shareId}`, null)).status).toBe(404);
    const { share_recipients: recipientRows, ...rest } = otherRowCounts;
    expect(recipientRows).toBe(1);
    expect(await countRows(otherAccount.person.userId)).toEqual(rest);
  });

  it("is a new account with another id for the next sign-in, while its user name stays reserved", async () => {
    const { person } = await createPersonWithSecret();
    await requestDeletion(person);
    advanceDays(deletionGraceDays);
    await service.app.sweep();
    const secondAccount = await service.signIn(person.subject);
    expect(secondAccount.userId).not.toBe(person.userId);
    expect((await service.call("GET", "/secrets/store", secondAccount.token)).body).toMatchObject({ total: 0 });
    const [name] = await service.app.services.db.select().from(userNames).where(eq(userNames.nameKey, person.subject));
    expect(name).toMatchObject({ accountId: person.userId, releasedAt: clock });
  });

  it("is deleted completely after a process was killed between two steps", async () => {
    const { person } = await createFullAccount();
    advanceDays(deletionGraceDays);
    const { db } = service.app.services;
    await db.update(accounts).set({ lockedAt: clock }).where(eq(accounts.id, person.userId));
    await db.delete(identities).where(eq(identities.accountId, person.userId));
    for (const { table, accountIdColumn } of accountTables.filter((_, index) => index % 2 === 0)) {
      if (getTableConfig(table).columns.every(({ name }) => name !== "object_key"))
        await db.delete(table).where(eq(accountIdColumn, person.userId));
    }
    await service.app.sweep();
    expect(await countRows(person.userId)).toEqual({});
    expect(await countObjects(person.userId)).toBe(0);
    expect(await db.$count(accounts, eq(accounts.id, person.userId))).toBe(0);
  });

  it("is deleted from every table of the schema whose primary key begins with an account", () => {
    const tableNames = Object.values(schema).flatMap((table) =>
      is(table, PgTable) ? [getTableConfig(table).name] : [],
    );
    const tablesWithoutAccount = [
      "accounts",
      "identities",
      "user_names",
      "public_ids",
      "loose_objects",
      "rate_limits",
      "measurements",
    ];
    expect(accountTables.map(({ table }) => getTableConfig(table).name).toSorted()).toEqual(
      tableNames.filter((name) => !tablesWithoutAccount.includes(name)).toSorted(),
    );
  });
});

describe("the mail about an expiring share", () => {
  const subject = "Something you share in Relicario expires tomorrow";

  it("is sent once, a day before", async () => {
    const { person, secretId, address } = await createPersonWithSecret();
    await createShare(service, person, secretId);
    await createShare(service, person, secretId);
    advanceDays(7 - shareWarningHours / 24 - 0.1);
    await service.app.sweep();
    expect(await readMailSubjects(address)).not.toContain(subject);
    advanceDays(0.2);
    await service.app.sweep();
    await service.app.sweep();
    expect((await readMailSubjects(address)).filter((candidate) => candidate === subject)).toHaveLength(1);
  });

  it("is not sent for a revoked share, or when its owner turned it off", async () => {
    const [firstUser, secondUser] = [await createPersonWithSecret(), await createPersonWithSecret()];
    const link = await createShare(service, firstUser.person, firstUser.secretId);
    await service.call("DELETE", `/share/${link.shareId}`, firstUser.person.token);
    await createShare(service, secondUser.person, secondUser.secretId);
    await service.call("POST", "/user/me", secondUser.person.token, {
      body: { notifications: { share_expiring: false } },
    });
    advanceDays(6.5);
    await service.app.sweep();
    expect([
      ...(await readMailSubjects(firstUser.address)),
      ...(await readMailSubjects(secondUser.address)),
    ]).not.toContain(subject);
  });
});
