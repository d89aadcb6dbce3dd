import { mailTopics } from "@relicario/shared/api";
import { eq } from "drizzle-orm";

import { accounts } from "../db/schema.ts";
import { readMails, type ReceivedMail } from "../testing/outbox.ts";
import type { Person } from "../testing/person.ts";
import { startService, type TestService } from "../testing/service.ts";
import { storeSecret, createShare, buildOpening } from "../testing/sharing.ts";

let service: TestService;
let clock: Date;
beforeAll(async () => {
  clock = new Date();
  service = await startService({}, () => clock);
});
afterAll(() => service.stop());

const oneClickForm = "List-Unsubscribe=One-Click";
const urlencodedHeaders = { "content-type": "application/x-www-form-urlencoded" };

/** A person who got a mail about an opened share, and a function that opens it again. */
async function createMailReader(): Promise<{
  person: Person;
  mails: () => Promise<ReceivedMail[]>;
  openShareAgain: () => Promise<void>;
}> {
  const person = await service.signIn();
  const address = `${person.subject}@example.org`;
  await service.app.services.db
    .update(accounts)
    .set({ contactEmail: address, contactEmailVerified: true })
    .where(eq(accounts.id, person.userId));
  const { id } = await storeSecret(service, person);
  const link = await createShare(service, person, id, { notify: true });
  const openShareAgain = async () => {
    expect((await service.call("POST", "/share/get-public-secret", null, { body: buildOpening(link) })).status).toBe(
      200,
    );
  };
  await openShareAgain();
  return {
    person,
    openShareAgain,
    mails: async () =>
      (await readMails(service)).filter(({ to, subject }) => to === address && subject.includes("opened a secret")),
  };
}

/** The path and query of the mail's link, for calls without the gateway. */
function findUnsubscribePath({ source }: ReceivedMail): string {
  const [, address = ""] = /^List-Unsubscribe:\s+<([^>]+)>$/m.exec(source) ?? [];
  expect(address.startsWith(`${service.origin}/api/`)).toBe(true);
  return address.slice(`${service.origin}/api`.length);
}
const requireFirstMail = ([mail]: readonly ReceivedMail[]): ReceivedMail => {
  if (mail === undefined) throw new Error("no mail came");
  return mail;
};
const readNotifications = async (person: Person) =>
  (await service.call("GET", "/user/me", person.token)).body["notifications"];

describe("an optional mail", () => {
  it("has an unsubscribe link according to RFC 8058", async () => {
    const { source } = requireFirstMail(await (await createMailReader()).mails());
    expect(source).toMatch(/^List-Unsubscribe:\s+<http[^>\s]+>$/m);
    expect(source).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click$/m);
  });

  it("is turned off by one POST without a session, also when repeated; other mails are still sent", async () => {
    const { person, mails, openShareAgain } = await createMailReader();
    const path = findUnsubscribePath(requireFirstMail(await mails()));
    for (let time = 0; time < 2; time++)
      expect((await service.call("POST", path, null, { body: oneClickForm, headers: urlencodedHeaders })).status).toBe(
        204,
      );
    await openShareAgain();
    expect(await mails()).toHaveLength(1);
    expect(await readNotifications(person)).toEqual({
      ...Object.fromEntries(mailTopics.map((topic) => [topic, true])),
      share_opened: false,
    });
  });

  it("can be turned off by a multipart form too, and turned on again", async () => {
    const { person, mails, openShareAgain } = await createMailReader();
    const body = `--b\r\nContent-Disposition: form-data; name="List-Unsubscribe"\r\n\r\nOne-Click\r\n--b--\r\n`;
    expect(
      (
        await service.call("POST", findUnsubscribePath(requireFirstMail(await mails())), null, {
          body,
          headers: { "content-type": "multipart/form-data; boundary=b" },
        })
      ).status,
    ).toBe(204);
    await service.call("POST", "/user/me", person.token, { body: { notifications: { share_opened: true } } });
    await openShareAgain();
    expect(await mails()).toHaveLength(2);
  });

  it("is not turned off by a GET, an altered token, or a token that is a year old", async () => {
    const { person, mails } = await createMailReader();
    const path = findUnsubscribePath(requireFirstMail(await mails()));
    expect((await service.call("GET", path, null)).status).toBe(404);
    expect(
      (
        await service.call("POST", `${path.slice(0, -8)}AAAAAAAA`, null, {
          body: oneClickForm,
          headers: urlencodedHeaders,
        })
      ).status,
    ).toBe(404);
    clock = new Date(clock.getTime() + 366 * 86_400_000);
    expect((await service.call("POST", path, null, { body: oneClickForm, headers: urlencodedHeaders })).status).toBe(
      404,
    );
    clock = new Date();
    expect(await readNotifications(person)).toMatchObject({ share_opened: true });
  });

  it("keeps its token out of the log", async () => {
    const path = findUnsubscribePath(requireFirstMail(await (await createMailReader()).mails()));
    await service.call("POST", path, null, { body: oneClickForm, headers: urlencodedHeaders });
    expect(service.readLog()).not.toContain(path.split("token=")[1]);
  });
});

describe("mail settings", () => {
  it("are stored, changed one by one, and returned", async () => {
    const { person } = await createMailReader();
    await service.call("POST", "/user/me", person.token, {
      body: { notifications: { new_device: false, rehearsal: false } },
    });
    await service.call("POST", "/user/me", person.token, {
      body: { notifications: { rehearsal: true }, telemetry: false },
    });
    expect((await service.call("GET", "/user/me", person.token)).body).toMatchObject({
      notifications: { new_device: false, rehearsal: true, share_opened: true },
      telemetry: false,
    });
  });

  it("refuse unknown members", async () => {
    const { person } = await createMailReader();
    for (const notifications of [{ trashed: false }, { rehearsal: "no" }]) {
      expect(await service.call("POST", "/user/me", person.token, { body: { notifications } })).toMatchObject({
        status: 422,
        body: { code: "validation_error" },
      });
    }
  });
});
