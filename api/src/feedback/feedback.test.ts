import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";

import { eq } from "drizzle-orm";

import { feedback } from "../db/schema.ts";
import { readMails } from "../testing/outbox.ts";
import type { Person } from "../testing/person.ts";
import { startService, type TestService } from "../testing/service.ts";

let service: TestService;
let clock: Date;
beforeEach(async () => {
  clock = new Date();
  service = await startService({ OPERATOR_EMAIL: "operator@example.org" }, () => clock);
});
afterEach(() => service.stop());

const validFeedback = {
  rating: 4,
  message: "The list is quick.",
  page: "/edit-secret/:secretId",
  app_version: "0.3.1",
};
const sendFeedback = ({ token }: Person, body: unknown = validFeedback) =>
  service.call("POST", "/user/feedback", token, { body });
const readStoredFeedback = ({ userId }: Person) =>
  service.app.services.db.select().from(feedback).where(eq(feedback.accountId, userId));
const execFileAsync = promisify(execFile);
const runFeedbackCommand = async () =>
  (
    await execFileAsync(
      process.execPath,
      ["--disable-warning=ExperimentalWarning", join(__dirname, "feedback-command.ts")],
      {
        env: { PATH: process.env["PATH"] ?? "", DATABASE_URL: service.database.serviceUrl },
      },
    )
  ).stdout;

describe("POST /user/feedback", () => {
  it("stores the message, and mails the operator that there is one, without its text", async () => {
    const person = await service.signIn();
    expect(await sendFeedback(person)).toMatchObject({ status: 204, text: "" });
    expect(await readStoredFeedback(person)).toMatchObject([
      { rating: 4, message: "The list is quick.", page: "/edit-secret/:secretId", appVersion: "0.3.1" },
    ]);
    const mail = (await readMails(service)).at(-1);
    expect(mail).toMatchObject({ to: "operator@example.org", subject: "Relicario: new feedback" });
    expect(mail?.source).not.toContain("quick");
  });

  it("accepts a message without a rating", async () => {
    const person = await service.signIn();
    expect((await sendFeedback(person, { ...validFeedback, rating: undefined })).status).toBe(204);
    expect(await readStoredFeedback(person)).toMatchObject([{ rating: null }]);
  });

  it.each([
    { ...validFeedback, rating: 0 },
    { ...validFeedback, rating: 6 },
    { ...validFeedback, rating: 2.5 },
    { ...validFeedback, message: "   " },
    { ...validFeedback, message: "x".repeat(4_001) },
    { ...validFeedback, page: "https://elsewhere.example" },
    { ...validFeedback, page: "/shared/abc#s=key" },
    { ...validFeedback, page: "/home?x=1" },
    { ...validFeedback, app_version: "" },
    { ...validFeedback, more: 1 },
    { rating: 3 },
  ])("refuses %j", async (body) => {
    const person = await service.signIn();
    expect((await sendFeedback(person, body)).status).toBe(422);
    expect(await readStoredFeedback(person)).toEqual([]);
  });

  it("is limited per hour", async () => {
    const [person, otherUser] = [await service.signIn(), await service.signIn()];
    for (let count = 0; count < 10; count++) expect((await sendFeedback(person)).status).toBe(204);
    expect(await sendFeedback(person)).toMatchObject({ status: 429, body: { code: "too_many_requests" } });
    expect((await sendFeedback(otherUser)).status).toBe(204);
    expect(await readStoredFeedback(person)).toHaveLength(10);
  });

  it("is deleted after a year, and never logged", async () => {
    const person = await service.signIn();
    await sendFeedback(person, { ...validFeedback, message: "planted sentinel" });
    expect(service.readLog()).not.toContain("planted sentinel");
    clock = new Date(clock.getTime() + 364 * 86_400_000);
    await service.app.sweep();
    expect(await readStoredFeedback(person)).toHaveLength(1);
    clock = new Date(clock.getTime() + 2 * 86_400_000);
    await service.app.sweep();
    expect(await readStoredFeedback(person)).toEqual([]);
  });
});

describe("the operator's command", () => {
  it("prints messages without control characters", async () => {
    expect(await runFeedbackCommand()).toBe("feedback: no messages\n");
    await sendFeedback(await service.signIn(), { ...validFeedback, message: "red \u001b[31m text" });
    expect(await runFeedbackCommand()).toMatch(
      /^\S+Z 4\/5 \/edit-secret\/:secretId 0\.3\.1 "red \\u001b\[31m text"\n$/,
    );
  });
});
