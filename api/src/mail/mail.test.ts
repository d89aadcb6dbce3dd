import { createServer, type Server, type Socket } from "node:net";

import { eq } from "drizzle-orm";
import { v7 as uuidv7 } from "uuid";

import { accounts, mails } from "../db/schema.ts";
import { openFaultInjector } from "../testing/database-faults.ts";
import { readMails, parseMail } from "../testing/outbox.ts";
import {
  buildChange,
  buildImageRecord,
  buildSecret,
  buildSlot,
  confirmChange,
  type Person,
} from "../testing/person.ts";
import { startService, type TestService } from "../testing/service.ts";
import { claimSeconds, createMailer, type MailerDeps } from "./mailer.ts";
import { openMailTransport, sendTimeoutSeconds } from "./transport.ts";

let service: TestService;
let clock: Date;
beforeEach(async () => {
  clock = new Date();
  service = await startService({}, () => clock);
});
afterEach(() => service.stop());

const advanceDays = (days: number): void => {
  clock = new Date(clock.getTime() + days * 86_400_000);
};

/** A person with a secret and a verified contact address. */
const createMailReader = async (
  address = "ana@example.org",
  language = "en",
): Promise<{ person: Person; secretId: string }> => {
  const person = await service.signIn();
  const { db } = service.app.services;
  await db
    .update(accounts)
    .set({ contactEmail: address, contactEmailVerified: true })
    .where(eq(accounts.id, person.userId));
  const { body } = buildSecret(person);
  await service.call("POST", "/secrets/store", person.token, { body, headers: { "accept-language": language } });
  confirmChange(person, body.keyring);
  return { person, secretId: body.secret_db_id };
};

const moveToTrash = (person: Person, id: string) => service.call("DELETE", `/secrets/store/${id}`, person.token);

const storeAnotherSecret = async (person: Person): Promise<string> => {
  const { body } = buildSecret(person);
  await service.call("POST", "/secrets/store", person.token, { body });
  confirmChange(person, body.keyring);
  return body.secret_db_id;
};

const readSubjects = async (): Promise<string[]> => (await readMails(service)).map(({ subject }) => subject);

describe("a mail", () => {
  it("goes to the verified address when slots, key statement or image records change, not with every saved secret", async () => {
    const { person } = await createMailReader();
    expect(await readMails(service)).toMatchObject([
      { to: "ana@example.org", from: "no-reply@localhost", subject: "Your ways to open Relicario have changed" },
    ]);
    await storeAnotherSecret(person);
    expect(await readMails(service)).toHaveLength(1);
    const recoveryCodeChange = buildChange(person, {
      slots: { set: [buildSlot(uuidv7(), "recovery_code")], remove: [] },
    });
    expect((await service.call("PUT", "/user/keyring", person.token, { body: recoveryCodeChange })).status).toBe(200);
    confirmChange(person, recoveryCodeChange);
    const imageId = uuidv7();
    const imageChange = buildChange(person, {
      slots: { set: [buildSlot(imageId)], remove: [] },
      image_records: { set: [buildImageRecord(imageId)], remove: [] },
    });
    expect((await service.call("PUT", "/user/keyring", person.token, { body: imageChange })).status).toBe(200);
    expect(await readMails(service)).toHaveLength(3);
  });

  it("is not sent for a refused change, and is sent once for a repeated change", async () => {
    const { person } = await createMailReader();
    const change = buildChange(person, { slots: { set: [buildSlot(uuidv7(), "recovery_code")], remove: [] } });
    await service.call("PUT", "/user/keyring", person.token, { body: { ...change, sig: "A".repeat(86) } });
    expect(await readMails(service)).toHaveLength(1);
    for (let count = 0; count < 2; count++) await service.call("PUT", "/user/keyring", person.token, { body: change });
    expect(await readMails(service)).toHaveLength(2);
  });

  it("reports trashed secrets once a day", async () => {
    const { person, secretId } = await createMailReader();
    const secondId = await storeAnotherSecret(person);
    await moveToTrash(person, secretId);
    await moveToTrash(person, secondId);
    expect((await readSubjects()).slice(1)).toEqual(["A secret was moved to your Relicario trash"]);
    advanceDays(1);
    await moveToTrash(person, await storeAnotherSecret(person));
    expect((await readSubjects()).slice(1)).toHaveLength(2);
  });

  it("is not sent without a verified address", async () => {
    const { person, secretId } = await createMailReader();
    await service.app.services.mailer.deliver();
    await service.app.services.db
      .update(accounts)
      .set({ contactEmailVerified: false })
      .where(eq(accounts.id, person.userId));
    await moveToTrash(person, secretId);
    expect(await readMails(service)).toHaveLength(1);
    expect(await service.app.services.db.select().from(mails)).toEqual([]);
  });

  it("notifies the previous address when the contact address changes", async () => {
    const { person } = await createMailReader();
    await service.call("POST", "/user/me", person.token, { body: { contact_email: "thief@example.org" } });
    expect((await readMails(service)).at(-1)).toMatchObject({
      to: "ana@example.org",
      subject: "Your Relicario contact e-mail was changed",
    });
    expect((await service.call("GET", "/user/me", person.token)).body).toMatchObject({
      contact_email: "thief@example.org",
      contact_email_verified: false,
    });
  });

  it("is written in the language of the person's last calls", async () => {
    const { person, secretId } = await createMailReader("eva@example.org", "es-MX,es;q=0.9,en;q=0.5");
    await moveToTrash(person, secretId);
    const confirmation = buildChange(person, { trash_confirm: [secretId] });
    await service.call("PUT", "/user/keyring", person.token, { body: confirmation });
    advanceDays(23.1);
    await service.app.sweep();
    expect(await readSubjects()).toEqual([
      "Han cambiado tus formas de abrir Relicario",
      "Se ha movido un secreto a tu papelera de Relicario",
      "Tu papelera de Relicario se vaciará en 7 días",
    ]);
  });

  it("contains nothing of a secret, a token, or another account, and is not logged", async () => {
    const { person, secretId } = await createMailReader();
    await moveToTrash(person, secretId);
    const allSources = (await readMails(service)).map(({ source }) => source).join("\n");
    for (const planted of [secretId, person.userId, person.token, person.subject, person.state ?? ""])
      expect(allSources).not.toContain(planted);
    expect(service.readLog()).toContain('"mail":"trashed"');
    expect(service.readLog()).not.toContain("ana@example.org");
  });

  it("is sent once by concurrent processes", async () => {
    const { person, secretId } = await createMailReader();
    await moveToTrash(person, secretId);
    const { mailer } = service.app.services;
    await Promise.all([mailer.deliver(), mailer.deliver(), service.app.sweep()]);
    expect(await readMails(service)).toHaveLength(2);
  });

  it("is sent soon when it is queued during a delivery", async () => {
    const { person } = await createMailReader();
    await readMails(service);
    const { db, vendors } = service.app.services;
    const recipients: string[] = [];
    let releaseSend: () => void = () => undefined;
    const transport = {
      send: (to: string) => {
        recipients.push(to);
        return new Promise<void>((resolve) => {
          releaseSend = resolve;
        });
      },
      close: () => undefined,
    };
    const mailer = createMailer({
      db,
      vendors,
      transport,
      publicOrigin: service.origin,
      recordKey: Buffer.alloc(32),
      createUnsubscribeLink: () => Promise.resolve("https://portal.example/u"),
      log: service.app.http.log,
      now: () => clock,
    });
    const queueMail = () => db.transaction((tx) => mailer.queue(tx, person.userId, "openers_changed", { now: clock }));
    const waitUntilSent = async (count: number) => {
      while (recipients.length < count) await db.select().from(mails);
    };

    await queueMail();
    const firstDelivery = mailer.deliver();
    await waitUntilSent(1);
    await queueMail();
    const secondDelivery = mailer.deliver();
    releaseSend();
    await waitUntilSent(2);
    releaseSend();
    expect(await Promise.all([firstDelivery, secondDelivery])).toEqual([2, 2]);
  });
});

describe("smtp://", () => {
  let server: Server;
  let receivedMails: string[];
  let isRefusing: boolean;
  let smtpCommands: string[];
  beforeEach(async () => {
    [receivedMails, smtpCommands, isRefusing] = [[], [], false];
    server = createServer((socket) => {
      serveSmtp(socket, {
        isRefusing: () => isRefusing,
        onCommand: (line) => smtpCommands.push(line),
        onMail: (source) => receivedMails.push(source),
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  afterEach(() => new Promise((resolve) => server.close(resolve)));

  it("hands mails to the server, and retries refused ones later", async () => {
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    let now = new Date();
    const smtpService = await startService(
      { MAIL_URL: `smtp://127.0.0.1:${String(address.port)}?tls=optional`, MAIL_FROM: "portal@example.org" },
      () => now,
    );
    try {
      const person = await smtpService.signIn();
      const { db, mailer } = smtpService.app.services;
      await db
        .update(accounts)
        .set({ contactEmail: "ana@example.org", contactEmailVerified: true })
        .where(eq(accounts.id, person.userId));
      isRefusing = true;
      await smtpService.call("POST", "/secrets/store", person.token, { body: buildSecret(person).body });
      await mailer.deliver();
      expect(receivedMails).toEqual([]);
      isRefusing = false;
      expect(await mailer.deliver()).toBe(0); // its pause is not over
      now = new Date(now.getTime() + 61_000);
      expect(await mailer.deliver()).toBe(1);
      expect(await Promise.all(receivedMails.map(parseMail))).toMatchObject([
        { from: "portal@example.org", to: "ana@example.org", subject: "Your ways to open Relicario have changed" },
      ]);
      expect(smtpCommands).toContain("RCPT TO:<ana@example.org>");
      expect(await db.select().from(mails)).toEqual([]);
      expect(smtpService.readLog()).not.toContain("ana@example.org");
    } finally {
      await smtpService.stop();
    }
  });

  it("gives up a mail after three days", async () => {
    let now = new Date();
    const smtpService = await startService({ MAIL_URL: "smtp://127.0.0.1:1" }, () => now);
    try {
      const person = await smtpService.signIn();
      const { db, mailer } = smtpService.app.services;
      await db
        .update(accounts)
        .set({ contactEmail: "ana@example.org", contactEmailVerified: true })
        .where(eq(accounts.id, person.userId));
      await smtpService.call("POST", "/secrets/store", person.token, { body: buildSecret(person).body });
      await mailer.deliver();
      expect(await db.select().from(mails)).toMatchObject([{ attempts: 1 }]);
      now = new Date(now.getTime() + 3.1 * 86_400_000);
      await mailer.deliver();
      expect(await db.select().from(mails)).toEqual([]);
      expect(smtpService.readLog()).toContain('"given_up":true');
    } finally {
      await smtpService.stop();
    }
  });
});

describe("a mail to a slow or refusing server", () => {
  let server: Server;
  let receivedMails: string[];
  /** Replies that the server withholds until the test sends them. */
  let pendingReplies: (() => void)[] | null;
  let isRefusing: boolean;
  let sockets: Set<Socket>;
  let url: string;
  beforeEach(async () => {
    [receivedMails, pendingReplies, isRefusing, sockets] = [[], null, false, new Set()];
    server = createServer((socket) => {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket));
      serveSmtp(socket, {
        isRefusing: () => isRefusing,
        onCommand: () => undefined,
        onMail: (source) => receivedMails.push(source),
        onReply: (send) => {
          if (pendingReplies === null) send();
          else pendingReplies.push(send);
        },
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    url = `smtp://127.0.0.1:${String(address.port)}?tls=optional`;
  });
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });

  /** A mailer of another process; the test triggers its schedule. */
  const createTestMailer = async (overrides: Partial<MailerDeps> = {}) => {
    const { db, vendors } = service.app.services;
    const scheduled: { readonly milliseconds: number; readonly callback: () => void }[] = [];
    const schedule = (milliseconds: number, callback: () => void) => {
      scheduled.push({ milliseconds, callback });
      return () => undefined;
    };
    const transport = await openMailTransport(url, "portal@example.org");
    const mailer = createMailer({
      db,
      vendors,
      transport,
      publicOrigin: service.origin,
      recordKey: Buffer.alloc(32),
      createUnsubscribeLink: () => Promise.resolve("https://portal.example/u"),
      log: service.app.http.log,
      now: () => clock,
      schedule,
      ...overrides,
    });
    return { mailer, scheduled };
  };
  const queueMails = async (mailer: { queue: ReturnType<typeof createMailer>["queue"] }, count = 1) => {
    const { person } = await createMailReader();
    await service.app.services.mailer.deliver(); // these mails go to the folder
    const { db } = service.app.services;
    for (let index = 0; index < count; index++)
      await db.transaction((tx) => mailer.queue(tx, person.userId, "openers_changed", { now: clock }));
  };
  const waitUntil = async (condition: () => boolean) => {
    while (!condition()) await service.app.services.db.select().from(mails);
  };

  it("is sent only once, though another process looks for due mails while the server takes minutes", async () => {
    pendingReplies = [];
    const [firstProcess, secondProcess] = [await createTestMailer(), await createTestMailer()];
    await queueMails(firstProcess.mailer, 3);
    const firstDelivery = firstProcess.mailer.deliver();
    await waitUntil(() => pendingReplies !== null && pendingReplies.length > 0);
    clock = new Date(clock.getTime() + 5 * 60_000);
    const secondDelivery = secondProcess.mailer.deliver();
    expect(await secondDelivery).toBe(0);
    const replies = pendingReplies;
    pendingReplies = null;
    for (const send of replies) send();
    expect(await firstDelivery).toBe(3);
    expect(receivedMails).toHaveLength(3);
    expect(await service.app.services.db.select().from(mails)).toEqual([]);
    await Promise.all([firstProcess.mailer.stop(), secondProcess.mailer.stop()]);
  });

  it("is claimed for longer than its sending may take", () => {
    expect(claimSeconds).toBeGreaterThanOrEqual(2 * sendTimeoutSeconds);
  });

  it("is released when the server does not finish in time", async () => {
    pendingReplies = [];
    const { mailer } = await createTestMailer({ transport: await openMailTransport(url, "portal@example.org", 1) });
    await queueMails(mailer);
    expect(await mailer.deliver()).toBe(0);
    expect(await service.app.services.db.select().from(mails)).toMatchObject([
      { attempts: 1, dueAt: new Date(clock.getTime() + 60_000) },
    ]);
    await waitUntil(() => sockets.size === 0); // the connection does not stay open
    await mailer.stop();
  });

  it("is aborted and released when the process stops", async () => {
    pendingReplies = [];
    const { mailer, scheduled } = await createTestMailer();
    await queueMails(mailer, 7);
    const delivery = mailer.deliver();
    await waitUntil(() => pendingReplies?.length === 5);
    const stopPromise = mailer.stop();
    expect(scheduled.at(-1)?.milliseconds).toBe(5_000);
    scheduled.at(-1)?.callback();
    await stopPromise;
    expect(await delivery).toBe(0);
    expect((await service.app.services.db.select().from(mails)).map(({ attempts }) => attempts).sort()).toEqual([
      0, 0, 1, 1, 1, 1, 1,
    ]);
    expect(await mailer.deliver()).toBe(0);
  });

  it("is not sent again when the database connection was lost after the server accepted the mail", async () => {
    const faultInjector = await openFaultInjector(service.database.url);
    const connectionCuts: Promise<void>[] = [];
    const send = async (): Promise<void> => {
      await faultInjector.lockTable("mails");
      const cutConnection = faultInjector.waitForBlocked(1).then(async () => {
        await faultInjector.terminate("waiting");
        await faultInjector.release();
      });
      connectionCuts.push(cutConnection);
    };
    const { mailer } = await createTestMailer({ transport: { send, close: () => undefined } });
    await queueMails(mailer);
    expect(await mailer.deliver()).toBe(1);
    await Promise.all(connectionCuts);
    await faultInjector.close();
    expect(await service.app.services.db.select().from(mails)).toEqual([]);
    await mailer.stop();
  });

  it("is retried by the mailer after one minute, then after two minutes", async () => {
    isRefusing = true;
    const { mailer, scheduled } = await createTestMailer();
    await queueMails(mailer);
    await mailer.deliver();
    expect(scheduled.at(-1)?.milliseconds).toBe(60_000);
    clock = new Date(clock.getTime() + 60_000);
    const scheduledCountBefore = scheduled.length;
    scheduled.at(-1)?.callback();
    await waitUntil(() => scheduled.length > scheduledCountBefore);
    expect(scheduled.at(-1)?.milliseconds).toBe(120_000);
    expect(receivedMails).toEqual([]);
    isRefusing = false;
    clock = new Date(clock.getTime() + 120_000);
    scheduled.at(-1)?.callback();
    await waitUntil(() => receivedMails.length === 1);
    await mailer.stop();
    expect(await service.app.services.db.select().from(mails)).toEqual([]);
  });

  it("is sent by a process that did not queue it", async () => {
    isRefusing = true;
    const [firstProcess, secondProcess] = [await createTestMailer(), await createTestMailer()];
    await queueMails(firstProcess.mailer);
    await firstProcess.mailer.deliver();
    clock = new Date(clock.getTime() + 20_000);
    expect(await secondProcess.mailer.deliver()).toBe(0);
    expect(secondProcess.scheduled.at(-1)?.milliseconds).toBe(40_000);
    await Promise.all([firstProcess.mailer.stop(), secondProcess.mailer.stop()]);
  });
});

interface SmtpHandlers {
  isRefusing(): boolean;
  /** Sends the reply, now or later. */
  onReply?(send: () => void): void;
  onCommand(line: string): void;
  onMail(source: string): void;
}

/** As much of RFC 5321 as a mail needs. */
function serveSmtp(socket: Socket, { isRefusing, onCommand, onMail, onReply = (send) => send() }: SmtpHandlers): void {
  const reply = (line: string) => onReply(() => socket.write(`${line}\r\n`));
  let receivedText = "";
  let isReadingData = false;
  reply("220 test");
  socket.on("data", (chunk) => {
    receivedText += chunk.toString();
    for (
      let end = receivedText.indexOf(isReadingData ? "\r\n.\r\n" : "\r\n");
      end >= 0;
      end = receivedText.indexOf(isReadingData ? "\r\n.\r\n" : "\r\n")
    ) {
      const content = receivedText.slice(0, end);
      receivedText = receivedText.slice(end + (isReadingData ? 5 : 2));
      if (isReadingData) {
        onMail(content);
        isReadingData = false;
        reply("250 kept");
        continue;
      }
      onCommand(content);
      isReadingData = content === "DATA";
      if (content.startsWith("RCPT") && isRefusing()) reply("451 not now");
      else reply(isReadingData ? "354 go on" : content === "QUIT" ? "221 bye" : "250 ok");
    }
  });
  socket.on("error", () => undefined); // the client may disconnect at any time
}
