import { Activity, activityDays, type ActivityEntry } from "@relicario/shared/api";
import { eq } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";

import { activity } from "../db/schema.ts";
import { buildChange, buildImageRecord, buildSecret, buildSlot, confirm, type Person } from "../testing/person.ts";
import { startService, type TestService } from "../testing/service.ts";
import { answerRequest, keepRequest, keepSecret, keepShare, openingOf } from "../testing/sharing.ts";

let service: TestService;
let clock: Date;
/** Statements that note something, by their text. */
const noting: string[] = [];
beforeAll(async () => {
  const onStatement = (text: string): void => {
    if (text.includes('insert into "activity"')) noting.push(text);
  };
  service = await startService({}, () => clock, { onStatement });
});
beforeEach(() => {
  clock = new Date();
});
afterAll(() => service.stop());

const read = async (person: Person, query = ""): Promise<Activity> =>
  Activity.parse((await service.call("GET", `/user/activity${query}`, person.token)).body);
const entriesOf = async (person: Person): Promise<readonly ActivityEntry[]> => (await read(person)).entries;
const kindsOf = async (person: Person): Promise<string[]> => (await entriesOf(person)).map(({ kind }) => kind);
/** What is noted while this runs, the oldest first. */
async function during(person: Person, work: () => Promise<unknown>): Promise<ActivityEntry[]> {
  const before = new Set((await entriesOf(person)).map(({ id }) => id));
  clock = new Date(clock.getTime() + 1_000);
  await work();
  return (await entriesOf(person)).filter(({ id }) => !before.has(id)).toReversed();
}
const later = (milliseconds: number): void => {
  clock = new Date(clock.getTime() + milliseconds);
};
const trash = (person: Person, id: string) => service.call("DELETE", `/secrets/store/${id}`, person.token);
const restore = (person: Person, id: string) =>
  service.call("POST", "/secrets/store", person.token, { body: { secret_db_id: id, restore: true } });
const tail = (id: string): string => id.slice(-8);

describe("what happens in an account", () => {
  it("is noted: a secret added, changed, trashed, taken out, removed for good", async () => {
    const person = await service.signIn();
    const { id } = await keepSecret(service, person);
    const found = await during(person, async () => {
      await keepSecret(service, person, { id, base: 1 });
      later(1_000);
      await trash(person, id);
      later(1_000);
      await restore(person, id);
      later(1_000);
      await trash(person, id);
      later(1_000);
      const purge = buildChange(person, { purge: [id] });
      expect((await service.call("PUT", "/user/keyring", person.token, { body: purge })).status).toBe(200);
    });
    expect(found.map(({ kind, secret }) => [kind, secret])).toEqual(
      ["secret_changed", "secret_trashed", "secret_restored", "secret_trashed", "secret_purged"].map((kind) => [
        kind,
        tail(id),
      ]),
    );
    expect(await kindsOf(person)).toEqual(expect.arrayContaining(["signed_in", "secret_added", "opener_added"]));
  });

  it("is noted: openers added and removed, and no opener that is sealed to once more", async () => {
    const person = await service.signIn();
    await keepSecret(service, person);
    const image = uuidv7();
    const change = async (slots: unknown, records: unknown) => {
      const body = buildChange(person, { slots: slots as never, image_records: records as never });
      expect((await service.call("PUT", "/user/keyring", person.token, { body })).status).toBe(200);
      confirm(person, body);
      later(1_000);
    };
    const found = await during(person, async () => {
      await change({ set: [buildSlot(image)], remove: [] }, { set: [buildImageRecord(image)], remove: [] });
      await change({ set: [buildSlot(image)], remove: [] }, undefined);
      await change({ set: [], remove: [image] }, { set: [], remove: [image] });
    });
    expect(found.map(({ kind }) => kind)).toEqual(["opener_added", "opener_removed"]);
  });

  it("is noted: shared, opened, revoked once, asked for, answered", async () => {
    const person = await service.signIn();
    const { id } = await keepSecret(service, person);
    const found = await during(person, async () => {
      const link = await keepShare(service, person, id);
      later(1_000);
      const opening = openingOf(link);
      for (let time = 0; time < 2; time++)
        await service.call("POST", "/share/get-public-secret", null, { body: opening }); // the same view
      later(1_000);
      for (let time = 0; time < 2; time++) await service.call("DELETE", `/share/${link.shareId}`, person.token);
      later(1_000);
      const request = await keepRequest(service, person);
      later(1_000);
      await answerRequest(service, request, 500);
    });
    expect(found.map(({ kind, secret }) => [kind, secret])).toEqual([
      ["shared", tail(id)],
      ["share_opened", tail(id)],
      ["share_revoked", tail(id)],
      ["request_made", null],
      ["request_answered", null],
    ]);
  });

  it("is noted: starting anew, its end, a changed profile; and no setting of mails", async () => {
    const person = await service.signIn();
    await keepSecret(service, person);
    const found = await during(person, async () => {
      await service.call("POST", "/user/start-anew", person.token);
      later(1_000);
      for (let time = 0; time < 2; time++)
        await service.call("DELETE", "/user/start-anew?reason=objected", person.token);
      later(1_000);
      await service.call("POST", "/user/me", person.token, { body: { contact_email: "new@example.org" } });
      await service.call("POST", "/user/me", person.token, {
        body: { contact_email: "new@example.org", notifications: { rehearsal: false } },
      });
    });
    expect(found.map(({ kind }) => kind)).toEqual(["anew_asked", "anew_ended", "profile_changed"]);
  });

  it("is not noted where the call was refused", async () => {
    const person = await service.signIn();
    const { id } = await keepSecret(service, person);
    const found = await during(person, async () => {
      expect(
        (
          await service.call("POST", "/secrets/store", person.token, {
            body: buildSecret(person, { id, base: 7 }).body,
          })
        ).status,
      ).toBe(409);
      const link = await keepShare(service, person, id, { max_views: 1 });
      later(1_000);
      for (let time = 0; time < 3; time++)
        await service.call("POST", "/share/get-public-secret", null, { body: openingOf(link) });
    });
    expect(found.map(({ kind }) => kind)).toEqual(["shared", "share_opened"]);
  });

  it("costs what everybody does often no statement of its own", async () => {
    const person = await service.signIn();
    const { id } = await keepSecret(service, person);
    noting.length = 0;
    await keepSecret(service, person, { id, base: 1 });
    await trash(person, id);
    await restore(person, id);
    const link = await keepShare(service, person, id, { version: 2 });
    await service.call("POST", "/share/get-public-secret", null, { body: openingOf(link) });
    expect(noting).toHaveLength(5);
    for (const text of noting)
      expect(text).toMatch(/^with "noted" as \(insert into "activity".*\) update "(accounts|shares)"/s);
  });

  it("does not fill up by a link that is opened all the time", async () => {
    const person = await service.signIn();
    const { id } = await keepSecret(service, person);
    const link = await keepShare(service, person, id, { max_views: 1_000 });
    const openOften = async (times: number): Promise<void> => {
      for (let time = 0; time < times; time++)
        expect((await service.call("POST", "/share/get-public-secret", null, { body: openingOf(link) })).status).toBe(
          200,
        );
    };
    expect(await during(person, () => openOften(25))).toHaveLength(20);
    later(3_600_001);
    expect(await during(person, () => openOften(3))).toHaveLength(1);
  });
});

describe("GET /user/activity", () => {
  it("gives pages, newest first, of all or of one topic", async () => {
    const person = await service.signIn();
    const { id } = await keepSecret(service, person);
    for (let time = 0; time < 3; time++) {
      later(1_000);
      await (time % 2 === 0 ? trash(person, id) : restore(person, id));
    }
    const first = await read(person, "?topic=secrets&limit=3");
    expect(first.entries.map(({ kind }) => kind)).toEqual(["secret_trashed", "secret_restored", "secret_trashed"]);
    const second = await read(person, `?topic=secrets&limit=3&before=${first.next_cursor ?? ""}`);
    expect(second).toMatchObject({ entries: [{ kind: "secret_added" }], next_cursor: null });
    expect((await read(person, "?topic=sessions")).entries.map(({ kind }) => kind)).toEqual(["signed_in"]);
  });

  it("holds nothing of others, no share id, and no more of a secret's id than its end", async () => {
    const [person, other] = [await service.signIn(), await service.signIn()];
    const { id } = await keepSecret(service, person);
    const link = await keepShare(service, person, id);
    const { text } = await service.call("GET", "/user/activity", person.token);
    for (const hidden of [link.shareId, id, person.subject]) expect(text).not.toContain(hidden);
    expect(await kindsOf(other)).toEqual(["signed_in"]);
  });

  it.each(["?topic=others", "?limit=0", "?limit=101", "?before=x", "?more=1"])("refuses %s", async (query) => {
    const person = await service.signIn();
    expect(await service.call("GET", `/user/activity${query}`, person.token)).toMatchObject({
      status: 422,
      body: { code: "validation_error" },
    });
  });

  it("forgets what is 90 days old", async () => {
    const person = await service.signIn();
    await keepSecret(service, person);
    const kept = () => service.app.services.db.$count(activity, eq(activity.accountId, person.userId));
    later((activityDays - 0.001) * 86_400_000);
    await service.app.sweep();
    expect(await kept()).toBeGreaterThan(0);
    later(0.002 * 86_400_000);
    await service.app.sweep();
    expect(await kept()).toBe(0);
  });
});
