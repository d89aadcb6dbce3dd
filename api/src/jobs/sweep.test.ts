import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

import { eq, sql } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";

import {
  accounts,
  emailValidations,
  formerKeyringParts,
  orphanedObjects,
  mails,
  rateLimits,
  secrets,
} from "../db/schema.ts";
import { orphanObjects } from "../objects/orphaned-objects.ts";
import { openFaultInjector } from "../testing/database-faults.ts";
import { readMetric, metricsToken } from "../testing/metrics.ts";
import { buildChange, buildSecret, confirmChange } from "../testing/person.ts";
import { getOutboxFolder, startService, type TestService } from "../testing/service.ts";

let service: TestService;
let clock: Date;
beforeEach(async () => {
  clock = new Date();
  service = await startService({ METRICS_TOKEN: metricsToken }, () => clock, { inFolder: true });
});
afterEach(() => service.stop());

const db = () => service.app.services.db;
const advanceDays = (days: number): void => {
  clock = new Date(clock.getTime() + days * 86_400_000);
};
const countFailures = (step: string): Promise<number> =>
  readMetric(service, "relicario_sweep_failures_total", `step="${step}"`);

/** A person whose only secret was trashed long enough ago to be dropped. */
const createTrashedSecret = async () => {
  const person = await service.signIn();
  const { body } = buildSecret(person);
  await service.call("POST", "/secrets/store", person.token, { body });
  confirmChange(person, body.keyring);
  await service.call("DELETE", `/secrets/store/${body.secret_db_id}`, person.token);
  const confirmation = buildChange(person, { trash_confirm: [body.secret_db_id] });
  await service.call("PUT", "/user/keyring", person.token, { body: confirmation });
  const readDroppedAt = async () =>
    (await db().select().from(secrets).where(eq(secrets.accountId, person.userId)))[0]?.droppedAt != null;
  return { person, dropped: readDroppedAt };
};

const createOrphanedObject = async (accountId: string): Promise<{ key: string; path: string }> => {
  const key = `${accountId}/${uuidv7()}/1-abc`;
  const path = join(service.objectsFolder, key);
  await mkdir(dirname(path), { recursive: true });
  await db().insert(orphanedObjects).values({ accountId, objectKey: key, dueAt: clock });
  return { key, path };
};

const countSentMails = async (): Promise<number> =>
  (await readdir(getOutboxFolder(service.objectsFolder))).filter((name) => name.endsWith(".eml")).length;

const queueDueMail = async (): Promise<void> => {
  const { userId } = await service.signIn();
  await db()
    .update(accounts)
    .set({ contactEmail: "ana@example.org", contactEmailVerified: true })
    .where(eq(accounts.id, userId));
  await db()
    .insert(mails)
    .values({ accountId: userId, id: uuidv7(), kind: "openers_changed", createdAt: clock, dueAt: clock });
};

describe("the sweep", () => {
  it("skips an object that cannot be deleted, logs it without its key, and retries an hour later", async () => {
    const accountId = uuidv7();
    const undeletableObject = await createOrphanedObject(accountId);
    await mkdir(undeletableObject.path); // a folder in its place
    const deletableObject = await createOrphanedObject(accountId);
    await writeFile(deletableObject.path, "x");
    await queueDueMail();
    const readOrphanedKeys = async () => (await db().select().from(orphanedObjects)).map(({ objectKey }) => objectKey);

    expect(await service.app.sweep()).toBe(true);
    expect(await readOrphanedKeys()).toEqual([undeletableObject.key]);
    await expect(readdir(dirname(deletableObject.path))).resolves.toEqual([]);
    expect(await countSentMails()).toBe(1);
    expect(await countFailures("objects")).toBe(1);
    const { text: metrics } = await service.call("GET", "/metrics", metricsToken);
    const [, lastEnd] = /^relicario_sweep_last_end_timestamp_seconds (\d+)/m.exec(metrics) ?? [];
    expect(Number(lastEnd)).toBeGreaterThan(1_700_000_000);
    expect(service.readLog()).toMatch(/"step":"objects","failed":1/);
    expect(service.readLog()).not.toContain(undeletableObject.key);

    await rm(undeletableObject.path, { recursive: true });
    await service.app.sweep();
    expect(await readOrphanedKeys()).toEqual([undeletableObject.key]); // not retried at once
    advanceDays(0.05);
    await service.app.sweep();
    expect(await readOrphanedKeys()).toEqual([]);
    expect(await countFailures("objects")).toBe(1);
  });

  it("skips a failing step, and an account whose contents cannot be dropped", async () => {
    const [undroppableSecret, droppableSecret] = [await createTrashedSecret(), await createTrashedSecret()];
    advanceDays(23.1);
    await service.app.sweep();
    await db().execute(sql`alter table keyring_former rename to elsewhere`);
    await db().execute(
      sql`create function refuse() returns trigger language plpgsql as 'begin if new.dropped_at is not null then raise exception ''planted''; end if; return new; end'`,
    );
    await db().execute(
      sql.raw(
        `create trigger refuses before update on secrets for each row when (new.account_id = '${undroppableSecret.person.userId}') execute function refuse()`,
      ),
    );
    const { path } = await createOrphanedObject(uuidv7());
    await writeFile(path, "x");
    await queueDueMail();
    advanceDays(7.1);
    await service.app.sweep();
    expect([await undroppableSecret.dropped(), await droppableSecret.dropped()]).toEqual([false, true]);
    expect(await readdir(dirname(path))).toEqual([]);
    expect(await countSentMails()).toBe(1);
    expect([await countFailures("trash"), await countFailures("former")]).toEqual([1, 1]);
    expect(service.readLog()).not.toContain("planted");

    await db().execute(sql`drop trigger refuses on secrets`);
    await service.app.sweep();
    expect(await undroppableSecret.dropped()).toBe(true);
  });

  it("never deletes more than a thousand rows in a statement", async () => {
    await db().execute(
      sql`create function few() returns trigger language plpgsql as 'begin if (select count(*) from gone) > 1000 then raise exception ''too many''; end if; return null; end'`,
    );
    for (const table of ["keyring_former", "rate_limits", "email_validations"]) {
      await db().execute(
        sql.raw(
          `create trigger few after delete on ${table} referencing old table as gone for each statement execute function few()`,
        ),
      );
    }
    const { userId: accountId } = await service.signIn();
    const oldDate = new Date(clock.getTime() - 40 * 86_400_000);
    const numbers = Array.from({ length: 1_500 }, (_, index) => index + 1);
    await db().update(accounts).set({ storageUsed: numbers.length }).where(eq(accounts.id, accountId)); // one byte each
    await db()
      .insert(formerKeyringParts)
      .values(
        numbers.map((stateRev) => ({
          accountId,
          stateRev,
          part: "book" as const,
          partId: "",
          value: Buffer.alloc(1),
          endedAt: oldDate,
        })),
      );
    await db()
      .insert(rateLimits)
      .values(
        numbers.map((subject) => ({
          subject: String(subject),
          rule: "of a former release",
          windowStart: oldDate,
          calls: 1,
        })),
      );
    await db()
      .insert(emailValidations)
      .values(numbers.map(() => ({ accountId: uuidv7(), id: uuidv7(), address: "a@example.org", createdAt: oldDate })));
    await service.app.sweep();
    for (const table of [formerKeyringParts, emailValidations]) expect(await db().$count(table)).toBe(0);
    expect(await db().$count(rateLimits, eq(rateLimits.rule, "of a former release"))).toBe(0);
    expect([
      await countFailures("former"),
      await countFailures("rate_limits"),
      await countFailures("questions"),
    ]).toEqual([0, 0, 0]);
  });

  it("orphans in one call as many objects as a secret with all its versions can have", async () => {
    const accountId = uuidv7();
    const keys = Array.from({ length: 22_000 }, (_, index) => `${accountId}/${accountId}/${String(index)}-x`);
    await db().transaction((tx) => orphanObjects(tx, accountId, keys, clock));
    expect(await db().$count(orphanedObjects)).toBe(keys.length);
    await db().delete(orphanedObjects).where(eq(orphanedObjects.accountId, accountId));
  });

  it("stops when its lock's connection ends, without an error for the caller, and the next sweep completes the work", async () => {
    const { path } = await createOrphanedObject(uuidv7());
    await writeFile(path, "x");
    const faultInjector = await openFaultInjector(service.database.url);
    await faultInjector.lockTable("keyring_former");
    const sweepPromise = service.app.sweep();
    await faultInjector.waitForBlocked(1);
    expect(
      await faultInjector.query(
        "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())",
      ),
    ).toHaveLength(1);
    while (!service.readLog().includes("lost a database connection")) await faultInjector.query("select 1");
    await faultInjector.release();
    await sweepPromise;
    expect(await readdir(dirname(path))).toHaveLength(1);
    await faultInjector.close();
    expect(await service.app.sweep()).toBe(true);
    expect(await readdir(dirname(path))).toEqual([]);
  });
});
