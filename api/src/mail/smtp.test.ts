import { eq } from "drizzle-orm";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";

import { accounts, mails } from "../db/schema.ts";
import { parseMail } from "../testing/outbox.ts";
import { buildSecret } from "../testing/person.ts";
import { startService } from "../testing/service.ts";

const certificate = readFileSync(join(__dirname, "../testing/tls/localhost.crt"), "utf8");
const key = readFileSync(join(__dirname, "../testing/tls/localhost.key"), "utf8");
const credentials = { username: "portal", password: "of the mail server" } as const;

const trustedCertificates = getCACertificates("default");
beforeAll(() => {
  setDefaultCACertificates([...trustedCertificates, certificate]);
});
afterAll(() => {
  setDefaultCACertificates(trustedCertificates);
});

interface MailServer {
  readonly port: number;
  readonly mails: string[];
  /** Passwords, and whether each came through TLS. */
  readonly logins: { readonly password: string | null | undefined; readonly secure: boolean }[];
  stop(): Promise<void>;
}

async function startMailServer(options: SMTPServerOptions): Promise<MailServer> {
  const receivedMails: string[] = [];
  const logins: MailServer["logins"] = [];
  const server = new SMTPServer({
    allowInsecureAuth: true,
    onAuth({ username, password }, { secure }, done) {
      logins.push({ password, secure });
      done(null, username === credentials.username ? { user: username } : {});
    },
    onData(stream, _session, done) {
      const chunks: Buffer[] = [];
      stream.on("data", (chunk: Buffer) => chunks.push(chunk));
      stream.on("end", () => {
        receivedMails.push(Buffer.concat(chunks).toString());
        done();
      });
    },
    ...options,
  });
  server.on("error", () => undefined); // clients that give up
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  const address = server.server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    port: address.port,
    mails: receivedMails,
    logins,
    stop: () =>
      new Promise((resolve) => {
        server.close(resolve);
      }),
  };
}

/** A service that sends a mail in this language about a changed way to open. @returns its log */
async function sendMail(mailUrl: string, language: "en" | "es" = "en"): Promise<{ log: string; isSent: boolean }> {
  const service = await startService({ MAIL_URL: mailUrl, MAIL_FROM: "portal@example.org" });
  try {
    const person = await service.signIn();
    const { db, mailer } = service.app.services;
    await db
      .update(accounts)
      .set({ contactEmail: "ana@example.org", contactEmailVerified: true })
      .where(eq(accounts.id, person.userId));
    await service.call("POST", "/secrets/store", person.token, {
      body: buildSecret(person).body,
      headers: { "accept-language": language },
    });
    await mailer.deliver();
    return { log: service.readLog(), isSent: (await db.select().from(mails)).length === 0 };
  } finally {
    await service.stop();
  }
}

const buildUrl = (
  { port }: MailServer,
  { scheme = "smtp", query = "", password = credentials.password } = {},
): string => `${scheme}://${credentials.username}:${encodeURIComponent(password)}@localhost:${String(port)}${query}`;

describe("a mail server with TLS", () => {
  it.each([
    ["en", "Your ways to open Relicario have changed", "If it was not you, open"],
    ["es", "Han cambiado tus formas de abrir Relicario", "Si no"],
  ] as const)("gets password and mail through TLS, as text and HTML (%s)", async (language, subject, sentence) => {
    const server = await startMailServer({ key, cert: certificate });
    try {
      expect(await sendMail(buildUrl(server), language)).toMatchObject({ isSent: true });
      expect(server.logins).toEqual([{ password: credentials.password, secure: true }]);
      const mail = await parseMail(server.mails[0] ?? "");
      expect(mail).toMatchObject({ to: "ana@example.org", from: "portal@example.org", subject });
      expect(mail.text).toContain(sentence);
      expect(mail.html).toContain(sentence);
      expect(mail.html).toContain(`<html lang="${language}">`);
      expect(mail.html).toContain('<a href="http://localhost:3000">http://localhost:3000</a>');
      expect(mail.html).not.toMatch(/<script|<img|src=|\{\{/);
    } finally {
      await server.stop();
    }
  });

  it("is reached by smtps:// as well", async () => {
    const server = await startMailServer({ secure: true, key, cert: certificate });
    try {
      expect(await sendMail(buildUrl(server, { scheme: "smtps" }))).toMatchObject({ isSent: true });
      expect(server.logins).toEqual([{ password: credentials.password, secure: true }]);
    } finally {
      await server.stop();
    }
  });

  it("gets nothing when its certificate is not trusted", async () => {
    setDefaultCACertificates(trustedCertificates);
    const server = await startMailServer({ key, cert: certificate });
    try {
      expect(await sendMail(buildUrl(server))).toMatchObject({ isSent: false });
      expect([server.logins, server.mails]).toEqual([[], []]);
    } finally {
      setDefaultCACertificates([...trustedCertificates, certificate]);
      await server.stop();
    }
  });
});

describe("a mail server without TLS", () => {
  it("gets neither password nor mail, and the log says why", async () => {
    const server = await startMailServer({ disabledCommands: ["STARTTLS"] });
    try {
      const { isSent, log } = await sendMail(buildUrl(server));
      expect(isSent).toBe(false);
      expect([server.logins, server.mails]).toEqual([[], []]);
      expect(log).toMatch(/"failure":\{[^}]*"code":"ETLS"/);
      expect(log).not.toContain(credentials.password);
    } finally {
      await server.stop();
    }
  });

  it("gets mails when the address allows it", async () => {
    const server = await startMailServer({ disabledCommands: ["STARTTLS"] });
    try {
      expect(await sendMail(buildUrl(server, { query: "?tls=optional" }))).toMatchObject({ isSent: true });
      expect(server.mails).toHaveLength(1);
    } finally {
      await server.stop();
    }
  });
});
