import { SecretPage } from "@relicario/shared/api";
import { eq, sql } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";

import { accounts, formerKeyringParts } from "../db/schema.ts";
import { readMails } from "../testing/outbox.ts";
import {
  buildChange,
  buildLabel,
  buildSecret,
  buildSlot,
  confirmChange,
  signTicket,
  type Person,
  type BuiltSecret,
} from "../testing/person.ts";
import { startService, type TestService } from "../testing/service.ts";
import { checkStoredContents } from "../testing/storage.ts";

let service: TestService;
let clock: Date;
beforeEach(async () => {
  clock = new Date();
  service = await startService({}, () => clock);
});
afterEach(() => service.stop());

const sweepAfter = async (days: number): Promise<void> => {
  clock = new Date(clock.getTime() + days * 86_400_000);
  expect(await service.app.sweep()).toBe(true);
};

const storeSecret = async (person: Person, options: Parameters<typeof buildSecret>[1] = {}): Promise<BuiltSecret> => {
  const call = buildSecret(person, options);
  const response = await service.call("POST", "/secrets/store", person.token, { body: call.body });
  if (response.status !== 200) throw new Error(response.text);
  confirmChange(person, call.body.keyring);
  return call;
};

const trashUnconfirmed = (person: Person, id: string) => service.call("DELETE", `/secrets/store/${id}`, person.token);
const trashSecret = async (person: Person, id: string): Promise<void> => {
  await trashUnconfirmed(person, id);
  const change = buildChange(person, { trash_confirm: [id] });
  const response = await service.call("PUT", "/user/keyring", person.token, { body: change });
  if (response.status !== 200) throw new Error(response.text);
  confirmChange(person, change);
};
const readSecret = (person: Person, id: string) =>
  service.call("POST", "/secrets/store/get-secret", person.token, { body: { secret_db_id: id } });
const restoreSecret = (person: Person, id: string) =>
  service.call("POST", "/secrets/store", person.token, { body: { secret_db_id: id, restore: true } });
const listSecrets = async (person: Person): Promise<SecretPage> =>
  SecretPage.parse((await service.call("GET", "/secrets/store", person.token)).body);
const countObjects = async (person: Person): Promise<number> => (await service.listObjects(person.userId)).length;

/**
 * A person with verified address and two secrets, one of which has two versions and is in the
 * trash.
 */
const createScenario = async () => {
  const person = await service.signIn();
  await service.app.services.db
    .update(accounts)
    .set({ contactEmail: "ana@example.org", contactEmailVerified: true })
    .where(eq(accounts.id, person.userId));
  const keptSecret = await storeSecret(person);
  const { secret_db_id: id } = (await storeSecret(person)).body;
  await storeSecret(person, { id, base: 1, bytes: 300 });
  await trashSecret(person, id);
  return { person, keptSecret, id };
};

describe("the sweep of the trash", () => {
  it("warns a week before, then drops contents and tickets; the row stays until it is purged", async () => {
    const { person, keptSecret, id } = await createScenario();
    await sweepAfter(22.9);
    expect(await readMails(service)).toHaveLength(2); // mails about the openers and about the trash
    await sweepAfter(0.2);
    expect((await readMails(service)).at(-1)).toMatchObject({
      to: "ana@example.org",
      subject: "Your Relicario trash will be emptied in 7 days",
    });
    await sweepAfter(6.8);
    expect(await readMails(service)).toHaveLength(3);
    expect((await readSecret(person, id)).status).toBe(200);
    expect(await countObjects(person)).toBe(3);

    await sweepAfter(0.3);
    expect(await readSecret(person, id)).toMatchObject({ status: 410, body: { code: "content_gone" } });
    expect(
      await service.call("POST", "/v2/secrets/get-secret", person.token, { body: { secret_db_id: id } }),
    ).toMatchObject({ status: 410 });
    expect(await restoreSecret(person, id)).toMatchObject({ status: 410, body: { code: "content_gone" } });
    expect(await countObjects(person)).toBe(1);
    const page = await listSecrets(person);
    expect(page).toMatchObject({ total: 2, state_rev: 4 });
    expect(page.secrets.find((row) => row.secret_db_id === id)).toMatchObject({
      version: 2,
      dropped_at: clock.toISOString(),
    });
    expect(await checkStoredContents(service, person)).toBe(keptSecret.content.length);
    expect((await service.call("GET", "/user/me", person.token)).body["licence"]).toMatchObject({ secrets: 2 });
    expect((await readSecret(person, keptSecret.body.secret_db_id)).status).toBe(200);

    const purgeChange = buildChange(person, { purge: [id] });
    expect((await service.call("PUT", "/user/keyring", person.token, { body: purgeChange })).status).toBe(200);
    expect(await listSecrets(person)).toMatchObject({ total: 1 });
  });

  it("never drops what only a session or metadata keys trashed", async () => {
    const { person, keptSecret } = await createScenario();
    const id = keptSecret.body.secret_db_id;
    await trashUnconfirmed(person, id);
    const unsigned = buildChange(person, { trash_confirm: [id], author_sig: undefined });
    expect(await service.call("PUT", "/user/keyring", person.token, { body: unsigned })).toMatchObject({
      status: 422,
      body: { code: "keyring_change_invalid" },
    });
    await sweepAfter(400);
    await sweepAfter(400);
    expect((await readSecret(person, id)).status).toBe(200);
    expect((await listSecrets(person)).secrets.find((row) => row.secret_db_id === id)).not.toHaveProperty(
      "trash_confirmed_at",
    );
  });

  it("counts the days from the confirmation, not from the trashing", async () => {
    const { person, keptSecret } = await createScenario();
    const id = keptSecret.body.secret_db_id;
    await trashUnconfirmed(person, id);
    await sweepAfter(100);
    await trashSecret(person, id);
    expect((await listSecrets(person)).secrets.find((row) => row.secret_db_id === id)).toMatchObject({
      trash_confirmed_at: clock.toISOString(),
    });
    await sweepAfter(29);
    expect((await readSecret(person, id)).status).toBe(200);
    await sweepAfter(1.1);
    await sweepAfter(7);
    expect((await readSecret(person, id)).status).toBe(410);
  });

  it("reports dropped rows once to devices that ask with since", async () => {
    const { person, id } = await createScenario();
    await sweepAfter(23.1);
    const { changes } = await listSecrets(person);
    await sweepAfter(7);
    await sweepAfter(1);
    const changedPage = SecretPage.parse(
      (await service.call("GET", `/secrets/store?since=${String(changes)}`, person.token)).body,
    );
    expect(changedPage).toMatchObject({ changes: changes + 1, secrets: [{ secret_db_id: id }] });
  });

  it("never drops without a week's warning, however late it runs", async () => {
    const { person, id } = await createScenario();
    await sweepAfter(60);
    expect((await readSecret(person, id)).status).toBe(200);
    expect((await readMails(service)).at(-1)?.text).toContain(
      new Intl.DateTimeFormat("en", { dateStyle: "long", timeZone: "UTC" }).format(
        new Date(clock.getTime() + 7 * 86_400_000),
      ),
    );
    await sweepAfter(6.9);
    expect((await readSecret(person, id)).status).toBe(200);
    await sweepAfter(0.2);
    expect((await readSecret(person, id)).status).toBe(410);
  });

  it("starts again after a restore", async () => {
    const { person, id } = await createScenario();
    await sweepAfter(23.1);
    expect((await restoreSecret(person, id)).status).toBe(200);
    await sweepAfter(30);
    expect((await readSecret(person, id)).status).toBe(200);
    await trashSecret(person, id);
    await sweepAfter(7.1);
    expect((await readSecret(person, id)).status).toBe(200);
    expect((await listSecrets(person)).secrets.every((row) => row.dropped_at === undefined)).toBe(true);
  });

  it("spares a new version: saving restores the secret", async () => {
    const { person, id } = await createScenario();
    await sweepAfter(23.1);
    await storeSecret(person, { id, base: 2 });
    expect((await listSecrets(person)).secrets.find((row) => row.secret_db_id === id)).not.toHaveProperty("deleted_at");
    await sweepAfter(30);
    expect((await readSecret(person, id)).status).toBe(200);
  });

  it("refuses a new ticket for a dropped content, but accepts a new content", async () => {
    const { person, id } = await createScenario();
    await sweepAfter(23.1);
    await sweepAfter(7.1);
    const labelChange = {
      secret_db_id: id,
      base_version: 2,
      label: buildLabel(person, id, 2, 2),
      ticket: "AAAA",
      ticket_sig: signTicket(person, { secretId: id, version: 2, ticket: "AAAA" }),
      keyring: buildChange(person),
    };
    expect(await service.call("POST", "/secrets/store", person.token, { body: labelChange })).toMatchObject({
      status: 410,
      body: { code: "content_gone" },
    });
    await storeSecret(person, { id, base: 2 });
    expect(await readSecret(person, id)).toMatchObject({ status: 200, body: { version: 3 } });
    expect((await listSecrets(person)).secrets.find((row) => row.secret_db_id === id)).not.toHaveProperty("dropped_at");
  });

  it("keeps former slots and books for 30 days", async () => {
    const { person } = await createScenario();
    const change = buildChange(person, {
      slots: { set: [buildSlot(person.imageId), buildSlot(uuidv7(), "recovery_code")], remove: [] },
    });
    expect((await service.call("PUT", "/user/keyring", person.token, { body: change })).status).toBe(200);
    const readFormerParts = () =>
      service.app.services.db.select().from(formerKeyringParts).where(eq(formerKeyringParts.accountId, person.userId));
    await sweepAfter(29.9);
    expect(await readFormerParts()).toMatchObject([{ part: "slot" }]);
    await sweepAfter(0.2);
    expect(await readFormerParts()).toEqual([]);
  });

  it("skips its work while another process does it", async () => {
    const { person, id } = await createScenario();
    await sweepAfter(23.1);
    clock = new Date(clock.getTime() + 7.1 * 86_400_000);
    await service.app.services.db.transaction(async (tx) => {
      await tx.execute(sql`select pg_advisory_xact_lock(7235002)`);
      expect(await service.app.sweep()).toBe(false);
    });
    expect((await readSecret(person, id)).status).toBe(200);
    expect(await service.app.sweep()).toBe(true);
    expect((await readSecret(person, id)).status).toBe(410);
  });
});
