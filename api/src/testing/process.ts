import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { compileCacheEnvironment } from "@relicario/tooling/compile-cache";
import { openObjectStore } from "@relicario/tooling/objects";
import { startBuckets } from "@relicario/tooling/objects/testing";
import { Client } from "pg";

import { startIssuer } from "./issuer.ts";
import { getOutboxFolder, createServiceDatabase, createServiceVariables } from "./service.ts";

export interface RunningService {
  readonly child: ChildProcess;
  readonly url: string;
  /** Standard output so far. */
  readonly output: () => string;
  readonly exited: Promise<unknown[]>;
}

/**
 * The real process with its own database and objects, as the start command runs it; can be started
 * repeatedly. Objects are files, or with `RELICARIO_TEST_S3` in a bucket.
 */
export interface ServiceProcess {
  readonly variables: Record<string, string>;
  readonly objectsFolder: string;
  /** @param program this release's by default */
  start(program?: string): Promise<RunningService>;
  signIn(address: string, subject: string): Promise<string>;
  query(text: string): Promise<Record<string, unknown>[]>;
  /** Object keys of all rows: versions, parts, orphans. */
  readKnownKeys(): Promise<string[]>;
  /** Keys of objects, also unfinished ones, without such a row. */
  findStrayObjects(): Promise<string[]>;
  stop(): Promise<void>;
}

/** S3Proxy keeps and lists what it had received of a request that was cut, below `<key>-<UUID>`. */
const partialFileOfS3Proxy = /-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export async function prepareServiceProcess(): Promise<ServiceProcess> {
  const issuer = await startIssuer();
  const database = await createServiceDatabase();
  const objectsFolder = await mkdtemp(join(tmpdir(), "relicario-main-"));
  const buckets = process.env["RELICARIO_TEST_S3"] === undefined ? null : await startBuckets();
  const objectsUrl = (await buckets?.createAddress()) ?? objectsFolder;
  const variables = {
    ...(await createServiceVariables(issuer.issuer, database.serviceUrl, objectsFolder)),
    DATABASE_MIGRATION_URL: database.url,
    OBJECTS_URL: objectsUrl,
  };
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
    readKnownKeys,
    async findStrayObjects() {
      const knownKeySet = new Set(await readKnownKeys());
      const strayKeys: string[] = [];
      for await (const key of (await openObjectStore(objectsUrl)).list())
        if (!knownKeySet.has(key) && !(buckets !== null && partialFileOfS3Proxy.test(key))) strayKeys.push(key);
      return strayKeys;
    },
    async start(program = join(__dirname, "../main.ts")) {
      const child = spawn(process.execPath, [program], {
        env: { ...pickCredentials(process.env), ...compileCacheEnvironment, ...variables },
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
      return { child, url: `http://127.0.0.1:${String(port)}`, output: () => output, exited };
    },
    async signIn(address, subject) {
      const response = await fetch(`${address}/auth/token?app_vendor_id=relicario`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ token: await issuer.createAccessToken(subject) }),
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
      await buckets?.stop();
      for (const folder of [objectsFolder, getOutboxFolder(objectsFolder)])
        await rm(folder, { recursive: true, force: true });
    },
  };
}

const pickCredentials = ({ PATH, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY }: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  PATH,
  AWS_ACCESS_KEY_ID,
  AWS_SECRET_ACCESS_KEY,
});
