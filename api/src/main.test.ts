import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { SecretContent, SecretPage } from "@relicario/shared/api";
import { Client } from "pg";

import { startIssuer, type TestIssuer } from "./testing/issuer.ts";
import { buildSecret, confirm, createPerson } from "./testing/person.ts";
import { serviceDatabase, serviceVariables } from "./testing/service.ts";
import type { TestDatabase } from "@relicario/tooling/database/for-tests";

let issuer: TestIssuer;
let database: TestDatabase;
let objectsFolder: string;
let variables: Record<string, string>;
const running = new Set<ChildProcess>();

beforeEach(async () => {
  issuer = await startIssuer();
  database = await serviceDatabase();
  objectsFolder = await mkdtemp(join(tmpdir(), "relicario-main-"));
  variables = await serviceVariables(issuer.issuer, database.url, objectsFolder);
});
afterEach(async () => {
  for (const child of running) {
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  await database.drop();
  await issuer.stop();
  await rm(objectsFolder, { recursive: true, force: true });
});

interface Started {
  readonly child: ChildProcess;
  readonly address: string;
  /** Everything on standard output so far. */
  readonly output: () => string;
  readonly exited: Promise<unknown[]>;
}

/** The real process, as the start command starts it. */
async function start(): Promise<Started> {
  const child = spawn(process.execPath, [join(__dirname, "main.ts")], { env: { PATH: process.env["PATH"], ...variables }, stdio: ["ignore", "pipe", "pipe"] });
  running.add(child);
  const exited = once(child, "exit").finally(() => running.delete(child));
  let output = "";
  let complaints = "";
  child.stderr.on("data", (chunk: Buffer) => {
    complaints += chunk.toString();
  });
  const port = await new Promise<number>((ready, failed) => {
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString();
      const [, found] = /^\{"ready":true,"port":(\d+)\}$/m.exec(output) ?? [];
      if (found !== undefined) ready(Number(found));
    });
    void exited.then(() => {
      failed(new Error(`it ended: ${complaints}`));
    });
  });
  return { child, address: `http://127.0.0.1:${String(port)}`, output: () => output, exited };
}

async function signIn(address: string, subject: string): Promise<string> {
  const response = await fetch(`${address}/auth/token?app_vendor_id=relicario`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token: await issuer.accessToken(subject) }),
  });
  const { token } = (await response.json()) as { token: string };
  return token;
}

const post = (address: string, path: string, token: string, body: unknown): Promise<Response> =>
  fetch(`${address}${path}`, { method: "POST", headers: { "content-type": "application/json", authorization: `Bearer ${token}` }, body: JSON.stringify(body) });

describe("the process", () => {
  it("says in one line what is missing, and ends", async () => {
    delete variables["DATABASE_URL"];
    variables["RECORD_KEY"] = "short";
    await expect(start()).rejects.toThrow(/^it ended: The service cannot start: DATABASE_URL is missing; RECORD_KEY is not 32 bytes in base64url\n$/);
  });

  it("prints one ready line, answers, and at SIGTERM finishes what is in flight", async () => {
    const { address, child, exited, output } = await start();
    const token = await signIn(address, "ana");
    const person = createPerson("ana", token);
    const { body } = buildSecret(person, { bytes: 200_000 });
    const answering = post(address, "/secrets/store", token, body);
    const seen = once(child.stdout ?? child, "data"); // the next line of the log: this call's, or that of the end
    const answer = await answering;
    await seen;
    child.kill("SIGTERM");
    const [code] = await exited;
    expect([answer.status, code]).toEqual([200, 0]);
    expect(output().match(/"ready":true/g)).toHaveLength(1);
    await expect(fetch(`${address}/healthz`)).rejects.toThrow();
  });

  it("loses nothing that it confirmed and leaves nothing half published when it is killed at any moment", async () => {
    let service = await start();
    const subject = "marta";
    const person = createPerson(subject, await signIn(service.address, subject));
    const confirmed = new Map<string, string>();

    for (let round = 0; round < 4; round++) {
      const token = await signIn(service.address, subject);
      // Some calls are answered, then the process is killed while the next one is on its way.
      for (let count = 0; count < round; count++) {
        const { body } = buildSecret(person, { bytes: 50_000 });
        expect((await post(service.address, "/secrets/store", token, body)).status).toBe(200);
        confirm(person, body.keyring);
        confirmed.set(body.secret_db_id, body.content);
      }
      const { body } = buildSecret(person, { bytes: 250_000 });
      const before = (await objectKeys()).length;
      const unanswered = post(service.address, "/secrets/store", token, body).then(
        () => true,
        () => false,
      );
      await moreThan(before);
      service.child.kill("SIGKILL");
      await service.exited;
      await unanswered;

      service = await start();
      // The device sends the same call again: first time or repeat, the answer is the same.
      const again = await post(service.address, "/secrets/store", await signIn(service.address, subject), body);
      expect([again.status, await again.json()]).toEqual([200, { secret_db_id: body.secret_db_id, version: 1, state_rev: body.keyring.state_rev }]);
      confirm(person, body.keyring);
      confirmed.set(body.secret_db_id, body.content);
    }

    const token = await signIn(service.address, subject);
    const list = await fetch(`${service.address}/secrets/store`, { headers: { authorization: `Bearer ${token}` } });
    const page = SecretPage.parse(await list.json());
    expect(page.secrets.map(({ secret_db_id }) => secret_db_id)).toEqual([...confirmed.keys()].sort());
    for (const [id, content] of confirmed) {
      const got = SecretContent.parse(await (await post(service.address, "/secrets/store/get-secret", token, { secret_db_id: id })).json());
      expect(got.content).toBe(content);
    }
    // Each file is a published version's, or is written down as loose and will be collected.
    const known = new Set(await objectKeys());
    const files = (await readdir(objectsFolder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile());
    const keys = files.map((entry) => join(entry.parentPath, entry.name).slice(objectsFolder.length + 1).replace(/\.[0-9a-f]{12}\.tmp$/, ""));
    expect(keys.filter((key) => !known.has(key))).toEqual([]);
  });
});

async function query(text: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
}

const objectKeys = async (): Promise<string[]> =>
  (await query("select object_key from version_objects union select object_key from upload_parts union select object_key from loose_objects")).map((row) => String(row["object_key"]));

/** Waits until the service works on the call: its object is announced, or published already. */
async function moreThan(before: number): Promise<void> {
  while ((await objectKeys()).length <= before);
}
