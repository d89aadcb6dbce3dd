import { ActivityResponse, activityRetentionDays, type ActivityEntry } from "@relicario/shared/api";
import { eq } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";

import { activity } from "../db/schema.ts";
import {
  buildChange,
  buildImageRecord,
  buildSecret,
  buildSlot,
  confirmChange,
  type Person,
} from "../testing/person.ts";
import { startService, type TestService } from "../testing/service.ts";
import { answerRequest, createRequest, storeSecret, createShare, buildOpening } from "../testing/sharing.ts";

let service: TestService;
let clock: Date;
/** Texts of statements that insert an event. */
const activityStatements: string[] = [];
beforeAll(async () => {
  const onStatement = (text: string): void => {
    if (text.includes('insert into "activity"')) activityStatements.push(text);
  };
  service = await startService({}, () => clock, { onStatement });
});
beforeEach(() => {
  clock = new Date();
});
afterAll(() => service.stop());

const readActivityPage = async (person: Person, query = ""): Promise<ActivityResponse> =>
  ActivityResponse.parse((await service.call("GET", `/user/activity${query}`, person.token)).body);
const readEntries = async (person: Person): Promise<readonly ActivityEntry[]> =>
  (await readActivityPage(person)).entries;
const readActivityKinds = async (person: Person): Promise<string[]> =>
  (await readEntries(person)).map(({ kind }) => kind);
/** Runs `action` and returns the entries that it added, oldest first. */
async function collectEntriesDuring(person: Person, action: () => Promise<unknown>): Promise<ActivityEntry[]> {
  const idsBefore = new Set((await readEntries(person)).map(({ id }) => id));
  clock = new Date(clock.getTime() + 1_000);
  await action();
  return (await readEntries(person)).filter(({ id }) => !idsBefore.has(id)).toReversed();
}
const advanceClock = (milliseconds: number): void => {
  clock = new Date(clock.getTime() + milliseconds);
};
const trashSecret = (person: Person, id: string) => service.call("DELETE", `/secrets/store/${id}`, person.token);
const restoreSecret = (person: Person, id: string) =>
  service.call("POST", "/secrets/store", person.token, { body: { secret_db_id: id, restore: true } });
const getIdSuffix = (id: string): string => id.slice(-8);

describe("activity of an account", () => {
  it("records that a secret was added, changed, trashed, restored, purged", async () => {
    const person = await service.signIn();
    const { id } = await storeSecret(service, person);
    const entries = await collectEntriesDuring(person, async () => {
      await storeSecret(service, person, { id, base: 1 });
      advanceClock(1_000);
      await trashSecret(person, id);
      advanceClock(1_000);
      await restoreSecret(person, id);
      advanceClock(1_000);
      await trashSecret(person, id);
      advanceClock(1_000);
      const purgeChange = buildChange(person, { purge: [id] });
      expect((await service.call("PUT", "/user/keyring", person.token, { body: purgeChange })).status).toBe(200);
    });
    expect(entries.map(({ kind, secret }) => [kind, secret])).toEqual(
      ["secret_changed", "secret_trashed", "secret_restored", "secret_trashed", "secret_purged"].map((kind) => [
        kind,
        getIdSuffix(id),
      ]),
    );
    expect(await readActivityKinds(person)).toEqual(
      expect.arrayContaining(["signed_in", "secret_added", "opener_added"]),
    );
  });

  it("records added and removed openers, but not a re-sealed slot", async () => {
    const person = await service.signIn();
    await storeSecret(service, person);
    const imageId = uuidv7();
    const applyChange = async (slots: unknown, records: unknown) => {
      const body = buildChange(person, { slots: slots as never, image_records: records as never });
      expect((await service.call("PUT", "/user/keyring", person.token, { body })).status).toBe(200);
      confirmChange(person, body);
      advanceClock(1_000);
    };
    const entries = await collectEntriesDuring(person, async () => {
      await applyChange({ set: [buildSlot(imageId)], remove: [] }, { set: [buildImageRecord(imageId)], remove: [] });
      await applyChange({ set: [buildSlot(imageId)], remove: [] }, undefined);
      await applyChange({ set: [], remove: [imageId] }, { set: [], remove: [imageId] });
    });
    expect(entries.map(({ kind }) => kind)).toEqual(["opener_added", "opener_removed"]);
  });

  it("records when a share is created, opened and revoked, and a request created and answered", async () => {
    const person = await service.signIn();
    const { id } = await storeSecret(service, person);
    const entries = await collectEntriesDuring(person, async () => {
      const link = await createShare(service, person, id);
      advanceClock(1_000);
      const opening = buildOpening(link);
      for (let time = 0; time < 2; time++)
        await service.call("POST", "/share/get-public-secret", null, { body: opening }); // the same view
      advanceClock(1_000);
      for (let time = 0; time < 2; time++) await service.call("DELETE", `/share/${link.shareId}`, person.token);
      advanceClock(1_000);
      const request = await createRequest(service, person);
      advanceClock(1_000);
      await answerRequest(service, request, 500);
    });
    expect(entries.map(({ kind, secret }) => [kind, secret])).toEqual([
      ["shared", getIdSuffix(id)],
      ["share_opened", getIdSuffix(id)],
      ["share_revoked", getIdSuffix(id)],
      ["request_made", null],
      ["request_answered", null],
    ]);
  });

  it("records the request and the end of an account reset, and a changed profile, but no mail settings", async () => {
    const person = await service.signIn();
    await storeSecret(service, person);
    const entries = await collectEntriesDuring(person, async () => {
      await service.call("POST", "/user/start-anew", person.token);
      advanceClock(1_000);
      for (let time = 0; time < 2; time++)
        await service.call("DELETE", "/user/start-anew?reason=objected", person.token);
      advanceClock(1_000);
      await service.call("POST", "/user/me", person.token, { body: { contact_email: "new@example.org" } });
      await service.call("POST", "/user/me", person.token, {
        body: { contact_email: "new@example.org", notifications: { rehearsal: false } },
      });
    });
    expect(entries.map(({ kind }) => kind)).toEqual(["anew_asked", "anew_ended", "profile_changed"]);
  });

  it("records nothing for a refused call", async () => {
    const person = await service.signIn();
    const { id } = await storeSecret(service, person);
    const entries = await collectEntriesDuring(person, async () => {
      expect(
        (
          await service.call("POST", "/secrets/store", person.token, {
            body: buildSecret(person, { id, base: 7 }).body,
          })
        ).status,
      ).toBe(409);
      const link = await createShare(service, person, id, { max_views: 1 });
      advanceClock(1_000);
      for (let time = 0; time < 3; time++)
        await service.call("POST", "/share/get-public-secret", null, { body: buildOpening(link) });
    });
    expect(entries.map(({ kind }) => kind)).toEqual(["shared", "share_opened"]);
  });

  it("adds no statement to frequent calls", async () => {
    const person = await service.signIn();
    const { id } = await storeSecret(service, person);
    activityStatements.length = 0;
    await storeSecret(service, person, { id, base: 1 });
    await trashSecret(person, id);
    await restoreSecret(person, id);
    const link = await createShare(service, person, id, { version: 2 });
    await service.call("POST", "/share/get-public-secret", null, { body: buildOpening(link) });
    expect(activityStatements).toHaveLength(5);
    for (const text of activityStatements)
      expect(text).toMatch(/^with "activity_event" as \(insert into "activity".*\) update "(accounts|shares)"/s);
  });

  it("adds a bounded number of entries for a link that is opened repeatedly", async () => {
    const person = await service.signIn();
    const { id } = await storeSecret(service, person);
    const link = await createShare(service, person, id, { max_views: 1_000 });
    const openRepeatedly = async (times: number): Promise<void> => {
      for (let time = 0; time < times; time++)
        expect(
          (await service.call("POST", "/share/get-public-secret", null, { body: buildOpening(link) })).status,
        ).toBe(200);
    };
    expect(await collectEntriesDuring(person, () => openRepeatedly(25))).toHaveLength(20);
    advanceClock(3_600_001);
    expect(await collectEntriesDuring(person, () => openRepeatedly(3))).toHaveLength(1);
  });
});

describe("GET /user/activity", () => {
  it("returns pages, newest first, of all topics or of one", async () => {
    const person = await service.signIn();
    const { id } = await storeSecret(service, person);
    for (let time = 0; time < 3; time++) {
      advanceClock(1_000);
      await (time % 2 === 0 ? trashSecret(person, id) : restoreSecret(person, id));
    }
    const firstPage = await readActivityPage(person, "?topic=secrets&limit=3");
    expect(firstPage.entries.map(({ kind }) => kind)).toEqual(["secret_trashed", "secret_restored", "secret_trashed"]);
    const secondPage = await readActivityPage(person, `?topic=secrets&limit=3&cursor=${firstPage.next_cursor ?? ""}`);
    expect(secondPage).toMatchObject({ entries: [{ kind: "secret_added" }], next_cursor: null });
    expect((await readActivityPage(person, "?topic=sessions")).entries.map(({ kind }) => kind)).toEqual(["signed_in"]);
  });

  it("contains no other account's events, no share id, and only the last characters of a secret's id", async () => {
    const [person, otherUser] = [await service.signIn(), await service.signIn()];
    const { id } = await storeSecret(service, person);
    const link = await createShare(service, person, id);
    const { text } = await service.call("GET", "/user/activity", person.token);
    for (const privateText of [link.shareId, id, person.subject]) expect(text).not.toContain(privateText);
    expect(await readActivityKinds(otherUser)).toEqual(["signed_in"]);
  });

  it.each(["?topic=others", "?limit=0", "?limit=101", "?cursor=x", "?more=1"])("refuses %s", async (query) => {
    const person = await service.signIn();
    expect(await service.call("GET", `/user/activity${query}`, person.token)).toMatchObject({
      status: 422,
      body: { code: "validation_error" },
    });
  });

  it("deletes entries after 90 days", async () => {
    const person = await service.signIn();
    await storeSecret(service, person);
    const countEntries = () => service.app.services.db.$count(activity, eq(activity.accountId, person.userId));
    advanceClock((activityRetentionDays - 0.001) * 86_400_000);
    await service.app.sweep();
    expect(await countEntries()).toBeGreaterThan(0);
    advanceClock(0.002 * 86_400_000);
    await service.app.sweep();
    expect(await countEntries()).toBe(0);
  });
});
