import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { promisify } from "node:util";

import { ImageRecords } from "@relicario/shared/api";
import { eq } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";

import { createRecordBox } from "../db/record-box.ts";
import { formerKeyringParts, imageRecords } from "../db/schema.ts";
import {
  buildChange,
  buildImageRecord,
  buildSecret,
  buildSlot,
  confirmChange,
  type Person,
} from "../testing/person.ts";
import { startService, type TestService } from "../testing/service.ts";

const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
const format = (...keys: readonly Buffer[]): string => keys.map((key) => key.toString("base64url")).join(",");

let oldService: TestService;
let services: TestService[];

/** The service on the same database and objects, with these record keys. */
async function startWithKeys(...keys: readonly Buffer[]): Promise<TestService> {
  const { SESSION_KEYS, IDP_AUTHORITY, OBJECTS_URL } = oldService.app.services.env;
  const service = await startService({
    DATABASE_URL: oldService.database.serviceUrl,
    OBJECTS_URL,
    IDP_AUTHORITY,
    SESSION_KEYS: JSON.stringify(SESSION_KEYS),
    RECORD_KEY: format(...keys),
  });
  services.push(service);
  return service;
}

async function reseal(...keys: readonly Buffer[]): Promise<string> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", join(__dirname, "../commands/reseal-command.ts")],
    { env: { PATH: process.env["PATH"], DATABASE_URL: oldService.database.serviceUrl, RECORD_KEY: format(...keys) } },
  );
  return stdout;
}

/** A person with an image record. */
async function createPerson(service: TestService): Promise<Person> {
  const person = await oldService.signIn();
  const { body } = buildSecret(person);
  expect((await service.call("POST", "/secrets/store", person.token, { body })).status).toBe(200);
  confirmChange(person, body.keyring);
  return person;
}

/** The record that is replaced becomes a former one. */
async function replaceImageRecord(service: TestService, person: Person): Promise<void> {
  const { image_records: imageRecordList } = ImageRecords.parse((await readRecords(service, person)).body);
  const [formerId = "", nextId] = [imageRecordList[0]?.id, uuidv7()];
  const change = buildChange(person, {
    slots: { set: [buildSlot(nextId)], remove: [formerId] },
    image_records: { set: [buildImageRecord(nextId)], remove: [formerId] },
  });
  expect((await service.call("PUT", "/user/keyring", person.token, { body: change })).status).toBe(200);
  confirmChange(person, change);
}

const readRecords = (service: TestService, { token }: Person) => service.call("GET", "/user/image-records", token);

beforeEach(async () => {
  services = [];
  oldService = await startService({ RECORD_KEY: format(oldKey, newKey) });
});
afterEach(async () => {
  for (const service of services) await service.stop();
  await oldService.stop();
});

describe("a rotation of the record key", () => {
  it("loses no image record, present or former, while both services write", async () => {
    const people = [await createPerson(oldService), await createPerson(oldService)];
    const [first, second] = people as [Person, Person];
    const service = await startWithKeys(newKey, oldKey);
    await replaceImageRecord(service, first);
    await replaceImageRecord(oldService, second);
    const newPerson = await createPerson(service);
    const records = await Promise.all([first, second, newPerson].map((person) => readRecords(oldService, person)));
    for (const { status, body } of records)
      expect([status, (body as unknown as { image_records: unknown[] }).image_records.length]).toEqual([200, 1]);
    await oldService.app.stop();

    const [resealOutput] = await Promise.all([
      reseal(newKey, oldKey),
      (async () => {
        for (let count = 0; count < 5; count++) for (const person of people) await replaceImageRecord(service, person);
      })(),
    ]);
    expect(resealOutput).toMatch(/^\d+ image records: [1-9]\d* were sealed with an earlier key/);
    expect(await reseal(newKey, oldKey)).toContain(" 0 were sealed with an earlier key");

    const newService = await startWithKeys(newKey);
    for (const person of [first, second, newPerson])
      expect(await readRecords(newService, person)).toEqual({
        ...(await readRecords(service, person)),
        headers: expect.any(Object) as object,
      });
    expect((await readRecords(newService, newPerson)).body).toEqual(records[2]?.body);
    const { db } = newService.app.services;
    const newBox = createRecordBox([newKey]);
    for (const row of await db.select().from(imageRecords)) newBox.open(row.accountId, row.id, row.sealedHelper);
    const formerRows = await db.select().from(formerKeyringParts).where(eq(formerKeyringParts.part, "image_record"));
    expect(formerRows.length).toBeGreaterThanOrEqual(12);
    for (const { accountId, partId, value } of formerRows) newBox.open(accountId, partId, value);
  });

  it("accepts links and downloads that the earlier key signed", async () => {
    const grant = {
      for: "unsubscribe",
      account: (await createPerson(oldService)).userId,
      about: "share_opened",
    } as const;
    const token = await oldService.app.services.grants.issue(grant, new Date(Date.now() + 60_000));
    const [rotatedService, newService] = [await startWithKeys(newKey, oldKey), await startWithKeys(newKey)];
    expect(await rotatedService.app.services.grants.verify(token, "unsubscribe")).toMatchObject(grant);
    expect(await newService.app.services.grants.verify(token, "unsubscribe")).toBeNull();
    const newToken = await rotatedService.app.services.grants.issue(grant, new Date(Date.now() + 60_000));
    expect(await oldService.app.services.grants.verify(newToken, "unsubscribe")).toMatchObject(grant);
  });
});
