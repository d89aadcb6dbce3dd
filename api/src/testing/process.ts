import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { compileCacheEnvironment } from "@relicario/tooling/compile-cache";
import { Client } from "pg";

import { startIssuer } from "./issuer.ts";
import { getOutboxFolder, createServiceDatabase, createServiceVariables } from "./service.ts";

export interface RunningService {
  readonly child: ChildProcess;
  readonly address: string;
  /** Everything on standard output so far. */
  readonly output: () => string;
  readonly exited: Promise<unknown[]>;
}

/**
 * The real process on a database and a folder of its own, as the start command starts it, as often
 * as one likes.
 */
export interface ServiceProcess {
  readonly variables: Record<string, string>;
  readonly objectsFolder: string;
  start(): Promise<RunningService>;
  signIn(address: string, subject: string): Promise<string>;
  query(text: string): Promise<Record<string, unknown>[]>;
  /** Keys that a row knows: of versions, of parts, of what is orphaned. */
  knownKeys(): Promise<string[]>;
  /** Files whose key no row knows. */
  strayFiles(): Promise<string[]>;
  stop(): Promise<void>;
}

export async function prepareServiceProcess(): Promise<ServiceProcess> {
  const issuer = await startIssuer();
  const database = await createServiceDatabase();
  const objectsFolder = await mkdtemp(join(tmpdir(), "relicario-main-"));
  const variables = await createServiceVariables(issuer.issuer, database.url, objectsFolder);
  const children = new Set<ChildProcess>();

  const query = async (text: string): Promise<Record<string, unknown>[]> => {
    const client = new Client({ connectionString: database.url });
    await client.connect();
    try {
      return (await client.query<Record<string, unknown>>(text)).rows;
    } finally {
      await client.end();
    }
  };
  const readKnownKeys = async (): Promise<string[]> =>
    (
      await query(
        "select object_key from version_objects union select object_key from upload_parts union select object_key from loose_objects union select object_key from staged_rows where object_key is not null",
      )
    ).map((row) => String(row["object_key"]));

  return {
    variables,
    objectsFolder,
    query,
    knownKeys: readKnownKeys,
    async strayFiles() {
      const knownKeySet = new Set(await readKnownKeys());
      const files = (await readdir(objectsFolder, { recursive: true, withFileTypes: true })).filter((entry) =>
        entry.isFile(),
      );
      const keys = files.map((entry) =>
        join(entry.parentPath, entry.name)
          .slice(objectsFolder.length + 1)
          .replace(/\.[0-9a-f]{12}\.tmp$/, ""),
      );
      return keys.filter((key) => !knownKeySet.has(key));
    },
    async start() {
      const child = spawn(process.execPath, [join(__dirname, "../main.ts")], {
        env: { PATH: process.env["PATH"], ...compileCacheEnvironment, ...variables },
        stdio: ["ignore", "pipe", "pipe"],
      });
      children.add(child);
      const exited = once(child, "exit").finally(() => children.delete(child));
      let output = "";
      let errorOutput = "";
      child.stderr.on("data", (chunk: Buffer) => {
        errorOutput += chunk.toString();
      });
      const port = await new Promise<number>((resolve, reject) => {
        child.stdout.on("data", (chunk: Buffer) => {
          output += chunk.toString();
          const [, portText] = /^\{"ready":true,"port":(\d+)\}$/m.exec(output) ?? [];
          if (portText !== undefined) resolve(Number(portText));
        });
        void exited.then(() => {
          reject(new Error(`it ended: ${errorOutput}`));
        });
      });
      return { child, address: `http://127.0.0.1:${String(port)}`, output: () => output, exited };
    },
    async signIn(address, subject) {
      const response = await fetch(`${address}/auth/token?app_vendor_id=relicario`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ token: await issuer.accessToken(subject) }),
      });
      const { token } = (await response.json()) as { token: string };
      return token;
    },
    async stop() {
      for (const child of children) {
        child.kill("SIGKILL");
        await once(child, "exit");
      }
      await database.drop();
      await issuer.stop();
      for (const folder of [objectsFolder, getOutboxFolder(objectsFolder)])
        await rm(folder, { recursive: true, force: true });
    },
  };
}
