/**
 * Tests durability under kills: `npm run test:faults [kills]`, 100 by default. Kills services,
 * gateway and database at random during writes; they are restarted as by a supervisor. The last
 * line is JSON; fails when an acknowledged write is missing, changed or duplicated, when a repeated
 * call is refused, or when the portal does not recover.
 */
import { randomInt } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { minPartBytes, SecretContent, SecretPage, uploadPath, StartUploadResponse, Me } from "@relicario/shared/api";
import { Client } from "pg";

import { buildSecret, confirmChange, createPerson, type Person } from "../person.ts";
import { buildFinish, buildLargeContent, type LargeContent } from "../upload.ts";
import { createCaller, type CallResult, type Caller, type CallInit } from "./caller.ts";
import { processNames, startTestDeployment, type ProcessName, type TestDeployment } from "./test-deployment.ts";

/** Milliseconds for which a call is repeated; everything restarts long before. */
const retryForMilliseconds = 120_000;

/**
 * A client that writes, remembers acknowledged writes, and repeats unanswered calls as the portal
 * does.
 */
class Writer {
  readonly acknowledged = new Map<string, Buffer>();
  /** Responses that a repetition does not explain. */
  readonly unexpectedResponses: string[] = [];
  resentCount = 0;
  readonly #deployment: TestDeployment;
  readonly #subject: string;
  #person: Person | null = null;
  #caller: Caller | null = null;

  constructor(deployment: TestDeployment, subject: string) {
    this.#deployment = deployment;
    this.#subject = subject;
  }

  async writeSmall(): Promise<void> {
    const person = await this.#requirePerson();
    const { body, content } = buildSecret(person, { bytes: randomInt(100, 100_000) });
    await this.#callUntilAnswered("/secrets/store", {
      method: "POST",
      headers: jsonHeaders,
      body: JSON.stringify(body),
    });
    confirmChange(person, body.keyring);
    this.acknowledged.set(body.secret_db_id, content);
  }

  async writeLarge(): Promise<void> {
    const person = await this.#requirePerson();
    const largeContent = buildLargeContent({ bytes: minPartBytes + randomInt(1, 200_000) });
    const startResponse = await this.#callUntilAnswered("/v2/secrets/secret", {
      method: "POST",
      ...(await largeContent.buildStartForm()),
    });
    const uploadId = StartUploadResponse.parse(JSON.parse(startResponse.body.toString())).upload_id;
    await Promise.all(
      largeContent.parts.map(async (_, index) =>
        this.#callUntilAnswered(uploadPath(uploadId), {
          method: "POST",
          ...(await largeContent.buildPartForm(index + 1)),
        }),
      ),
    );
    await this.#finish(person, uploadId, largeContent);
  }

  async #finish(person: Person, uploadId: string, largeContent: LargeContent): Promise<void> {
    const finish = buildFinish(person, largeContent);
    await this.#callUntilAnswered(uploadPath(uploadId), {
      method: "PUT",
      headers: jsonHeaders,
      body: JSON.stringify(finish),
    });
    confirmChange(person, finish.keyring);
    this.acknowledged.set(largeContent.id, largeContent.content);
  }

  /** Counts ids that are missing, changed or unknown, and checks the account's counters. */
  async check(): Promise<{ readonly missing: number; readonly changed: number; readonly unknown: number }> {
    const [ids, contents] = [[] as string[], new Map<string, Buffer>()];
    for (let cursor: string | null = ""; cursor !== null;) {
      const query = cursor === "" ? "" : `?cursor=${encodeURIComponent(cursor)}`;
      const page: SecretPage = SecretPage.parse(
        JSON.parse((await this.#callUntilAnswered(`/secrets/store${query}`, {})).body.toString()),
      );
      ids.push(...page.secrets.filter(({ version }) => version === 1).map(({ secret_db_id: id }) => id));
      cursor = page.next_cursor;
    }
    for (const id of ids) contents.set(id, await this.#readContent(id));
    const missing = [...this.acknowledged.keys()].filter((id) => !contents.has(id)).length;
    const changed = [...this.acknowledged].filter(
      ([id, content]) => contents.get(id)?.equals(content) === false,
    ).length;
    const { licence } = Me.parse(JSON.parse((await this.#callUntilAnswered("/user/me", {})).body.toString()));
    if (licence.secrets !== this.acknowledged.size)
      this.unexpectedResponses.push(
        `the account counts ${String(licence.secrets)} secrets of ${String(this.acknowledged.size)}`,
      );
    return { missing, changed, unknown: ids.length - (this.acknowledged.size - missing) };
  }

  async #readContent(id: string): Promise<Buffer> {
    const secretContent = SecretContent.parse(
      JSON.parse((await this.#callUntilAnswered("/secrets/store/get-secret", buildSecretRequest(id))).body.toString()),
    );
    return secretContent.content === null
      ? (await this.#callUntilAnswered("/v2/secrets/get-secret", buildSecretRequest(id))).body
      : Buffer.from(secretContent.content, "base64url");
  }

  async #requirePerson(): Promise<Person> {
    if (this.#person !== null) return this.#person;
    await this.#signIn();
    return (this.#person ??= createPerson(this.#subject, this.#caller?.authorization.slice("Bearer ".length) ?? ""));
  }

  async #signIn(): Promise<Caller> {
    for (const startedAt = performance.now(); performance.now() - startedAt < retryForMilliseconds;) {
      const token = await this.#deployment.signIn(this.#subject).catch(() => null);
      if (token !== null) return (this.#caller = createCaller(this.#deployment.origin, "127.0.0.1", token));
      await pause(50);
    }
    throw new Error(`${this.#subject} can no longer sign in`);
  }

  /** Repeats the call, byte for byte, until it succeeds. @throws when it never does */
  async #callUntilAnswered(path: string, init: CallInit): Promise<CallResult> {
    for (const startedAt = performance.now(); performance.now() - startedAt < retryForMilliseconds;) {
      const caller = this.#caller ?? (await this.#signIn());
      const response = await caller.call(path, init).catch(() => null);
      if (response !== null && response.status < 300) return response;
      if (response?.status === 401) await this.#signIn();
      else if (response !== null && response.status < 500 && response.status !== 429) {
        this.unexpectedResponses.push(
          `${init.method ?? "GET"} ${path.replace(/[0-9a-f-]{36}/, ":id")}: ${String(response.status)} ${response.body.toString().slice(0, 200)}`,
        );
        throw new Error(this.unexpectedResponses.at(-1));
      }
      this.resentCount++;
      await pause(50);
    }
    throw new Error(`${init.method ?? "GET"} ${path.replace(/[0-9a-f-]{36}/, ":id")} is no longer answered`);
  }
}

const jsonHeaders = { "content-type": "application/json" };
const buildSecretRequest = (id: string): CallInit => ({
  method: "POST",
  headers: jsonHeaders,
  body: JSON.stringify({ secret_db_id: id }),
});

const killCount = Number(process.argv[2] ?? 100);
const deployment = await startTestDeployment({
  RATE_LIMITS: JSON.stringify({
    write: 1_000_000,
    exchange: 1_000_000,
    sign_in: 1_000_000,
    exchange_person: 1_000_000,
  }),
});
try {
  const writers = ["ana", "ben", "eva"].map((subject) => new Writer(deployment, subject));
  const countWritten = (): number => writers.reduce((sum, { acknowledged }) => sum + acknowledged.size, 0);
  let shouldStop = false;
  const isStopping = (): boolean => shouldStop;
  const writerLoops = writers.map(async (writer, index) => {
    while (!isStopping()) {
      await (index === 2 ? writer.writeLarge() : writer.writeSmall());
      await pause(index === 2 ? 500 : 20); // large contents are rarer: the disk is not tested here
    }
  });
  const writersFailure = Promise.all(writerLoops).then(
    () => null,
    (error: unknown) => error,
  );

  const killCounts: Partial<Record<ProcessName, number>> = {};
  const recoveryTimes: number[] = [];
  for (let kill = 1; kill <= killCount; kill++) {
    const before = countWritten();
    while (countWritten() === before) {
      const failure = await Promise.race([writersFailure, pause(5, undefined)]);
      if (failure instanceof Error) throw failure;
    }
    await pause(randomInt(60)); // at a random moment
    const name = processNames[randomInt(processNames.length)] ?? "gateway";
    await deployment.kill(name);
    killCounts[name] = (killCounts[name] ?? 0) + 1;
    recoveryTimes.push(await deployment.waitUntilReady());
    if (kill % 10 === 0) console.log(`${String(kill)} kills, ${String(countWritten())} writes acknowledged`);
  }
  shouldStop = true;
  const failure = await writersFailure;
  const checks = await Promise.all(writers.map((writer) => writer.check()));
  const sumChecks = (name: "missing" | "changed" | "unknown"): number =>
    checks.reduce((total, check) => total + check[name], 0);
  const figures = {
    ...{
      kills: killCount,
      killed: killCounts,
      acknowledged: countWritten(),
      sent_again: writers.reduce((total, { resentCount }) => total + resentCount, 0),
    },
    ...{
      missing: sumChecks("missing"),
      changed: sumChecks("changed"),
      unknown: sumChecks("unknown"),
      stray_files: await countStrayFiles(deployment),
    },
    ...{
      slowest_return_ms: Math.round(Math.max(...recoveryTimes)),
      surprises: writers.flatMap(({ unexpectedResponses }) => unexpectedResponses),
    },
  };
  const ok =
    failure === null &&
    figures.missing + figures.changed + figures.unknown + figures.stray_files + figures.surprises.length === 0;
  console.log(JSON.stringify({ test: "kills", ok, ...figures }));
  process.exitCode = ok ? 0 : 1;
} finally {
  await deployment.stop();
}

/** Files of objects without a row. */
async function countStrayFiles({ databaseUrl, objectsFolder }: TestDeployment): Promise<number> {
  const client = new Client({ connectionString: databaseUrl() });
  await client.connect();
  const { rows } = await client.query<{ object_key: string }>(
    "select object_key from version_objects union select object_key from upload_parts union select object_key from loose_objects union select object_key from staged_rows where object_key is not null",
  );
  await client.end();
  const knownKeys = new Set(rows.map(({ object_key: key }) => key));
  const files = (await readdir(objectsFolder, { recursive: true, withFileTypes: true })).filter((entry) =>
    entry.isFile(),
  );
  return files.filter(
    (entry) =>
      !knownKeys.has(
        join(entry.parentPath, entry.name)
          .slice(objectsFolder.length + 1)
          .replace(/\.[0-9a-f]{12}\.tmp$/, ""),
      ),
  ).length;
}
