import { randomUUID } from "node:crypto";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { createTransport, type SendMailOptions } from "nodemailer";

import type { Letter } from "./letter.ts";

export interface Transport {
  /** Resolves once the letter was handed over: accepted by the server, or in the folder. */
  send(to: string, letter: Letter): Promise<void>;
  /** Breaks off what is being sent. */
  close(): void;
}

/**
 * Letters come from the service's own texts: nodemailer need not read a file or an address for
 * them.
 */
const ofOurOwn = { disableFileAccess: true, disableUrlAccess: true } as const;
const headers = { "Auto-Submitted": "auto-generated" };

/**
 * RFC 8058, where the letter is one that its reader may do without. Whoever sends it on must sign
 * both headers (DKIM).
 */
function messageOf({ unsubscribe, ...letter }: Letter): SendMailOptions {
  if (unsubscribe === undefined) return { headers, ...letter };
  return {
    headers: { ...headers, "List-Unsubscribe-Post": "List-Unsubscribe=One-Click" },
    list: { unsubscribe },
    ...letter,
  };
}

/**
 * A letter that a server has not taken after so long counts as not taken, and its connection is
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
    ? toServer(url, from, seconds)
    : toFolder(url.startsWith("file://") ? fileURLToPath(url) : url, from);
}

/**
 * A connection for each letter: a pool sends one again by itself when its connection breaks,
 * perhaps after it was taken.
 */
function toServer(url: string, from: string, seconds: number): Transport {
  const { protocol, hostname, port, username, password } = new URL(url);
  const server = createTransport({
    host: hostname,
    secure: protocol === "smtps:",
    ...(port === "" ? {} : { port: Number(port) }),
    ...(username === "" ? {} : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 30_000,
    ...ofOurOwn,
  });
  const closed = new AbortController();
  return {
    async send(to, letter) {
      await server.sendMail({
        from,
        to,
        ...messageOf(letter),
        signal: AbortSignal.any([closed.signal, AbortSignal.timeout(seconds * 1_000)]),
      });
    },
    close: () => {
      closed.abort();
      server.close();
    },
  };
}

async function toFolder(path: string, from: string): Promise<Transport> {
  const folder = resolve(path);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const composer = createTransport({ streamTransport: true, buffer: true, newline: "unix", ...ofOurOwn });
  return {
    async send(to, letter) {
      const { message } = await composer.sendMail({ from, to, ...messageOf(letter) });
      const name = `${new Date().toISOString().replaceAll(":", "-")}-${randomUUID()}`;
      await writeFile(join(folder, `${name}.tmp`), message, { mode: 0o600 });
      await rename(join(folder, `${name}.tmp`), join(folder, `${name}.eml`));
    },
    close() {},
  };
}
