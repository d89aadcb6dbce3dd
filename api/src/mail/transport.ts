import { randomUUID } from "node:crypto";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { createTransport } from "nodemailer";

import type { Letter } from "./letter.ts";

export interface Transport {
  /** Resolves once the letter was handed over: accepted by the server, or in the folder. */
  send(to: string, letter: Letter): Promise<void>;
  close(): void;
}

/** Letters come from the service's own texts: nodemailer need not read a file or an address for them. */
const ofOurOwn = { disableFileAccess: true, disableUrlAccess: true } as const;
const headers = { "Auto-Submitted": "auto-generated" };

/** `smtp://` and `smtps://` by nodemailer; anything else is a folder that gets `.eml` files. */
export async function openTransport(url: string, from: string): Promise<Transport> {
  return /^smtps?:\/\//.test(url) ? toServer(url, from) : toFolder(url.startsWith("file://") ? fileURLToPath(url) : url, from);
}

function toServer(url: string, from: string): Transport {
  const { protocol, hostname, port, username, password } = new URL(url);
  const server = createTransport({
    pool: true,
    host: hostname,
    secure: protocol === "smtps:",
    ...(port === "" ? {} : { port: Number(port) }),
    ...(username === "" ? {} : { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 30_000,
    ...ofOurOwn,
  });
  return {
    async send(to, letter) {
      await server.sendMail({ from, to, headers, ...letter });
    },
    close: () => {
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
      const { message } = await composer.sendMail({ from, to, headers, ...letter });
      const name = `${new Date().toISOString().replaceAll(":", "-")}-${randomUUID()}`;
      await writeFile(join(folder, `${name}.tmp`), message, { mode: 0o600 });
      await rename(join(folder, `${name}.tmp`), join(folder, `${name}.eml`));
    },
    close() {},
  };
}
