/**
 * Whether what was acknowledged stays, whatever is killed: `npm run test:faults [kills]`, 100 of
 * them by default. Services, gateway and database are killed at random under writes, and started
 * again as a supervisor would. The last line is JSON; fails when an acknowledged write is missing,
 * changed or there twice, when a repeated call is refused, or when the portal does not come back.
 */
import { randomInt } from "node:crypto";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

import { minPartBytes, SecretContent, SecretPage, uploadPath, UploadStarted, Me } from "@relicario/shared/api";
import { Client } from "pg";

import { buildSecret, confirm, createPerson, type Person } from "../person.ts";
import { buildFinish, buildLarge, type LargeContent } from "../upload.ts";
import { createCaller, type Answered, type Caller, type Sent } from "./calls.ts";
import { processNames, startStand, type ProcessName, type Stand } from "./stand.ts";

/** How long the same call is sent again, in milliseconds: what is down comes back long before. */
const answersWithinMs = 120_000;

/**
 * Somebody who writes, keeps what was acknowledged, and sends again what was not answered, as the
 * portal does.
 */
class Writer {
  readonly acknowledged = new Map<string, Buffer>();
  /** Answers that no repetition explains. */
  readonly surprises: string[] = [];
  sentAgain = 0;
  readonly #stand: Stand;
  readonly #subject: string;
  #person: Person | null = null;
  #caller: Caller | null = null;

  constructor(stand: Stand, subject: string) {
    this.#stand = stand;
    this.#subject = subject;
  }

  async writeSmall(): Promise<void> {
    const person = await this.#signedIn();
    const { body, content } = buildSecret(person, { bytes: randomInt(100, 100_000) });
    await this.#untilAnswered("/secrets/store", { method: "POST", headers: json, body: JSON.stringify(body) });
    confirm(person, body.keyring);
    this.acknowledged.set(body.secret_db_id, content);
  }

  async writeLarge(): Promise<void> {
    const person = await this.#signedIn();
    const large = buildLarge({ bytes: minPartBytes + randomInt(1, 200_000) });
    const started = await this.#untilAnswered("/v2/secrets/secret", { method: "POST", ...(await large.start()) });
    const upload = UploadStarted.parse(JSON.parse(started.body.toString())).upload_id;
    await Promise.all(
      large.parts.map(async (_, index) =>
        this.#untilAnswered(uploadPath(upload), { method: "POST", ...(await large.part(index + 1)) }),
      ),
    );
    await this.#finish(person, upload, large);
  }

  async #finish(person: Person, upload: string, large: LargeContent): Promise<void> {
    const finish = buildFinish(person, large);
    await this.#untilAnswered(uploadPath(upload), { method: "PUT", headers: json, body: JSON.stringify(finish) });
    confirm(person, finish.keyring);
    this.acknowledged.set(large.id, large.content);
  }

  /** Ids that are missing, changed, or there twice, and what the account is said to hold. */
  async check(): Promise<{ readonly missing: number; readonly changed: number; readonly unknown: number }> {
    const [ids, contents] = [[] as string[], new Map<string, Buffer>()];
    for (let cursor: string | null = ""; cursor !== null;) {
      const query = cursor === "" ? "" : `?cursor=${encodeURIComponent(cursor)}`;
      const page: SecretPage = SecretPage.parse(
        JSON.parse((await this.#untilAnswered(`/secrets/store${query}`, {})).body.toString()),
      );
      ids.push(...page.secrets.filter(({ version }) => version === 1).map(({ secret_db_id: id }) => id));
      cursor = page.next_cursor;
    }
    for (const id of ids) contents.set(id, await this.#contentOf(id));
    const missing = [...this.acknowledged.keys()].filter((id) => !contents.has(id)).length;
    const changed = [...this.acknowledged].filter(
      ([id, content]) => contents.get(id)?.equals(content) === false,
    ).length;
    const { licence } = Me.parse(JSON.parse((await this.#untilAnswered("/user/me", {})).body.toString()));
    if (licence.secrets !== this.acknowledged.size)
      this.surprises.push(`the account counts ${String(licence.secrets)} secrets of ${String(this.acknowledged.size)}`);
    return { missing, changed, unknown: ids.length - (this.acknowledged.size - missing) };
  }

  async #contentOf(id: string): Promise<Buffer> {
    const small = SecretContent.parse(
      JSON.parse((await this.#untilAnswered("/secrets/store/get-secret", ofSecret(id))).body.toString()),
    );
    return small.content === null
      ? (await this.#untilAnswered("/v2/secrets/get-secret", ofSecret(id))).body
      : Buffer.from(small.content, "base64url");
  }

  async #signedIn(): Promise<Person> {
    if (this.#person !== null) return this.#person;
    await this.#signIn();
    return (this.#person ??= createPerson(this.#subject, this.#caller?.authorization.slice("Bearer ".length) ?? ""));
  }

  async #signIn(): Promise<Caller> {
    for (const began = performance.now(); performance.now() - began < answersWithinMs;) {
      const token = await this.#stand.signIn(this.#subject).catch(() => null);
      if (token !== null) return (this.#caller = createCaller(this.#stand.origin, "127.0.0.1", token));
      await pause(50);
    }
    throw new Error(`${this.#subject} can sign in no more`);
  }

  /** The same call, byte for byte, until it is answered with success. @throws when it never is. */
  async #untilAnswered(path: string, sent: Sent): Promise<Answered> {
    for (const began = performance.now(); performance.now() - began < answersWithinMs;) {
      const caller = this.#caller ?? (await this.#signIn());
      const answer = await caller.call(path, sent).catch(() => null);
      if (answer !== null && answer.status < 300) return answer;
      if (answer?.status === 401) await this.#signIn();
      else if (answer !== null && answer.status < 500 && answer.status !== 429) {
        this.surprises.push(
          `${sent.method ?? "GET"} ${path.replace(/[0-9a-f-]{36}/, ":id")}: ${String(answer.status)} ${answer.body.toString().slice(0, 200)}`,
        );
        throw new Error(this.surprises.at(-1));
      }
      this.sentAgain++;
      await pause(50);
    }
    throw new Error(`${sent.method ?? "GET"} ${path.replace(/[0-9a-f-]{36}/, ":id")} is answered no more`);
  }
}

const json = { "content-type": "application/json" };
const ofSecret = (id: string): Sent => ({ method: "POST", headers: json, body: JSON.stringify({ secret_db_id: id }) });

const wanted = Number(process.argv[2] ?? 100);
const stand = await startStand({ RATE_LIMITS: JSON.stringify({ write: 1_000_000, exchange: 1_000_000 }) });
try {
  const writers = ["ana", "ben", "eva"].map((subject) => new Writer(stand, subject));
  const written = (): number => writers.reduce((sum, { acknowledged }) => sum + acknowledged.size, 0);
  let ending = false;
  const isEnding = (): boolean => ending;
  const writing = writers.map(async (writer, index) => {
    while (!isEnding()) {
      await (index === 2 ? writer.writeLarge() : writer.writeSmall());
      await pause(index === 2 ? 500 : 20); // a hundred kills take minutes, and the disk is not what is tried
    }
  });
  const failed = Promise.all(writing).then(
    () => null,
    (error: unknown) => error,
  );

  const killed: Partial<Record<ProcessName, number>> = {};
  const cameBack: number[] = [];
  for (let kill = 1; kill <= wanted; kill++) {
    const before = written();
    while (written() === before) {
      const failure = await Promise.race([failed, pause(5, undefined)]);
      if (failure instanceof Error) throw failure;
    }
    await pause(randomInt(60)); // another moment each time
    const name = processNames[randomInt(processNames.length)] ?? "gateway";
    await stand.kill(name);
    killed[name] = (killed[name] ?? 0) + 1;
    cameBack.push(await stand.whole());
    if (kill % 10 === 0) console.log(`${String(kill)} kills, ${String(written())} writes acknowledged`);
  }
  ending = true;
  const failure = await failed;
  const found = await Promise.all(writers.map((writer) => writer.check()));
  const sum = (name: "missing" | "changed" | "unknown"): number => found.reduce((total, one) => total + one[name], 0);
  const figures = {
    ...{
      kills: wanted,
      killed,
      acknowledged: written(),
      sent_again: writers.reduce((total, { sentAgain }) => total + sentAgain, 0),
    },
    ...{
      missing: sum("missing"),
      changed: sum("changed"),
      unknown: sum("unknown"),
      stray_files: await strayFiles(stand),
    },
    ...{
      slowest_return_ms: Math.round(Math.max(...cameBack)),
      surprises: writers.flatMap(({ surprises }) => surprises),
    },
  };
  const ok =
    failure === null &&
    figures.missing + figures.changed + figures.unknown + figures.stray_files + figures.surprises.length === 0;
  console.log(JSON.stringify({ test: "kills", ok, ...figures }));
  process.exitCode = ok ? 0 : 1;
} finally {
  await stand.stop();
}

/** Files of objects whose key no row knows. */
async function strayFiles({ databaseUrl, objectsFolder }: Stand): Promise<number> {
  const client = new Client({ connectionString: databaseUrl() });
  await client.connect();
  const { rows } = await client.query<{ object_key: string }>(
    "select object_key from version_objects union select object_key from upload_parts union select object_key from loose_objects union select object_key from staged_rows where object_key is not null",
  );
  await client.end();
  const known = new Set(rows.map(({ object_key: key }) => key));
  const files = (await readdir(objectsFolder, { recursive: true, withFileTypes: true })).filter((entry) =>
    entry.isFile(),
  );
  return files.filter(
    (entry) =>
      !known.has(
        join(entry.parentPath, entry.name)
          .slice(objectsFolder.length + 1)
          .replace(/\.[0-9a-f]{12}\.tmp$/, ""),
      ),
  ).length;
}
