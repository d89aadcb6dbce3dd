import { randomUUID } from "node:crypto";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { createTransport, type SendMailOptions } from "nodemailer";

import type { MailMessage } from "./mail-message.ts";

export interface Transport {
  /** Resolves once the mail was handed over: accepted by the server, or in the folder. */
  send(to: string, mail: MailMessage): Promise<void>;
  /** Breaks off what is being sent. */
  close(): void;
}

/**
 * Mails come from the service's own texts: nodemailer need not read a file or an address for
 * them.
 */
const noExternalAccess = { disableFileAccess: true, disableUrlAccess: true } as const;
const headers = { "Auto-Submitted": "auto-generated" };

/**
 * RFC 8058, where the mail is one that its reader may do without. Whoever sends it on must sign
 * both headers (DKIM).
 */
function toSendOptions({ unsubscribe, ...mail }: MailMessage): SendMailOptions {
  if (unsubscribe === undefined) return { headers, ...mail };
  return {
    headers: { ...headers, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" },
    list: { unsubscribe },
    ...mail,
  };
}

/**
 * A mail that a server has not taken after so long counts as not taken, and its connection is
 * closed.
 */
export const sendSeconds = 120;

/**
 * `smtp://` and `smtps://` by nodemailer; anything else is a folder that gets `.eml` files.
 *
 * @param seconds how long one sending may take, all of it; a seam for tests
 */
export async function openTransport(url: string, from: string, seconds: number = sendSeconds): Promise<Transport> {
  return /^smtps?:\/\//.test(url)
    ? createSmtpTransport(url, from, seconds)
    : createFolderTransport(url.startsWith("file://") ? fileURLToPath(url) : url, from);
}

/**
 * A connection for each mail: a pool sends one again by itself when its connection breaks,
 * perhaps after it was taken.
 */
function createSmtpTransport(url: string, from: string, seconds: number): Transport {
  const { protocol, hostname, port, username, password } = new URL(url);
  const server = createTransport({
    host: hostname,
    secure: protocol === "smtps:",
    ...(port === "" ? {} : { port: Number(port) }),
    ...(username === "" ? {} : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 30_000,
    ...noExternalAccess,
  });
  const closeController = new AbortController();
  return {
    async send(to, mail) {
      await server.sendMail({
        from,
        to,
        ...toSendOptions(mail),
        signal: AbortSignal.any([closeController.signal, AbortSignal.timeout(seconds * 1_000)]),
      });
    },
    close: () => {
      closeController.abort();
      server.close();
    },
  };
}

async function createFolderTransport(path: string, from: string): Promise<Transport> {
  const folder = resolve(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const composer = createTransport({ streamTransport: true, buffer: true, newline: "unix", ...noExternalAccess });
  return {
    async send(to, mail) {
      const { message } = await composer.sendMail({ from, to, ...toSendOptions(mail) });
      const name = `${new Date().toISOString().replaceAll(":", "-")}-${randomUUID()}`;
      await writeFile(join(folder, `${name}.tmp`), message, { mode: 0o600 });
      await rename(join(folder, `${name}.tmp`), join(folder, `${name}.eml`));
    },
    close() {},
  };
}
