import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, mkdir, mkdtemp, open, readdir, readFile, rm, writeFile, type FileHandle } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { uploadPath } from "@relicario/shared/api";
import { checkBackup, checkSystem } from "@relicario/tooling/backup/check";
import { makeBackup } from "@relicario/tooling/backup/make";
import { restoreBackup } from "@relicario/tooling/backup/restore";
import { freshDatabase, type TestDatabase } from "@relicario/tooling/database/for-tests";
import { eq } from "drizzle-orm";
import { Client } from "pg";

import { uploadParts, versionObjects } from "../db/schema.ts";
import { migrate, openPool } from "../identity/database.ts";
import { buildChange, buildSecret, confirm, type Person, type SecretCall } from "../testing/person.ts";
import { startService, type Answer, type TestService } from "../testing/service.ts";
import {
  answerRequest,
  beginAnswer,
  done,
  finishOf,
  keepRequest,
  openingOf,
  sendParts,
  sharedBySomebody,
} from "../testing/sharing.ts";
import { buildLarge } from "../testing/upload.ts";

const execute = promisify(execFile);
const script = join(__dirname, "../../../tooling/src/backup/main.ts");

let service: TestService;
let identity: TestDatabase;
let folder: string;
let backup: string;

beforeAll(async () => {
  service = await startService();
  identity = await identityDatabase();
  await query(
    identity.url,
    "insert into accounts (id, username, username_key, email, email_key, password_hash) values (gen_random_uuid(), 'A\tb\\n', 'a', 'a@example.org', 'a@example.org', 'x')",
  );
});
afterAll(async () => {
  await service.stop();
  await identity.drop();
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "relicario-backup-"));
  backup = join(folder, "backup");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const identityDatabase = () =>
  freshDatabase("identity_for_backups", async (url) => {
    const pool = openPool(url, () => undefined);
    await migrate(pool);
    await pool.end();
  });

async function query(url: string, text: string, values: unknown[] = []): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text, values)).rows;
  } finally {
    await client.end();
  }
}

interface Said {
  readonly code: number;
  readonly text: string;
}

type Place = Parameters<typeof makeBackup>[0] & {
  readonly databaseUrls: { readonly service: string; readonly identity: string };
};

const source = (): Place => ({
  databaseUrls: { service: service.database.url, identity: identity.url },
  objects: service.objectsFolder,
});

/** The command as a process; what it says, both streams. */
async function run(
  act: "make" | "restore" | "check",
  where?: string,
  { databaseUrls, objects }: Place = source(),
): Promise<Said> {
  const env = {
    PATH: process.env["PATH"],
    DATA_DIR: join(folder, "data"),
    DATABASE_URL: databaseUrls.service,
    IDENTITY_DATABASE_URL: databaseUrls.identity,
    OBJECTS_URL: objects,
  };
  const child = spawn(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", script, act, ...(where === undefined ? [] : [where])],
    { env },
  );
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece: Buffer) => (said += piece.toString()));
  const [code] = (await once(child, "close")) as [number];
  return { code, text: said };
}

/** Two databases and a folder with nothing in them. */
async function emptyPlace(): Promise<Place & { drop(): Promise<void> }> {
  const [one, other] = [
    await freshDatabase("empty_template", () => Promise.resolve()),
    await freshDatabase("empty_template", () => Promise.resolve()),
  ];
  const drop = async (): Promise<void> => {
    for (const database of [one, other]) await database.drop();
  };
  return { databaseUrls: { service: one.url, identity: other.url }, objects: join(folder, "restored"), drop };
}

async function serviceOn(place: Place): Promise<TestService> {
  const { SESSION_KEYS, RECORD_KEY, IDP_AUTHORITY } = service.app.services.env;
  return startService({
    DATABASE_URL: place.databaseUrls.service,
    OBJECTS_URL: place.objects,
    SESSION_KEYS: JSON.stringify(SESSION_KEYS),
    RECORD_KEY: RECORD_KEY.toString("base64url"),
    IDP_AUTHORITY,
  });
}

async function keep(person: Person, options: Parameters<typeof buildSecret>[1] = {}): Promise<SecretCall> {
  const call = buildSecret(person, options);
  const answer = await service.call("POST", "/secrets/store", person.token, { body: call.body });
  if (answer.status !== 200) throw new Error(answer.text);
  confirm(person, call.body.keyring);
  return call;
}

async function purge(person: Person, id: string): Promise<void> {
  await service.call("DELETE", `/secrets/store/${id}`, person.token);
  const change = buildChange(person, { purge: [id] });
  expect((await service.call("PUT", "/user/keyring", person.token, { body: change })).status).toBe(200);
  confirm(person, change);
}

async function startUpload(person: Person): Promise<string> {
  const large = buildLarge({ bytes: 2_000 });
  const started = await service.call("POST", "/v2/secrets/secret", person.token, await large.start());
  const id = String(started.body["upload_id"]);
  expect((await service.call("POST", uploadPath(id), person.token, await large.part(1))).status).toBe(200);
  return id;
}

const fileOf = async (id: string): Promise<string> => {
  const [row] = await service.app.services.db.select().from(versionObjects).where(eq(versionObjects.secretId, id));
  return join(service.objectsFolder, String(row?.objectKey));
};

const keyOf = (file: string): string => file.slice(service.objectsFolder.length + 1);

/**
 * A named pipe in place of an object: its reader stands still until `pipe` has the other end, and
 * somebody writes to it.
 */
async function pipeAt(file: string): Promise<{ pipe: () => Promise<FileHandle>; putBack: () => Promise<void> }> {
  const bytes = await readFile(file);
  await rm(file);
  await execute("mkfifo", [file]);
  return {
    pipe: () => open(file, "w"),
    async putBack() {
      await rm(file);
      await writeFile(file, bytes);
    },
  };
}

describe("the lease of a backup", () => {
  it("keeps every object until it is given back, purged, given up or due", async () => {
    const person = await service.signIn();
    const { body } = await keep(person);
    const upload = await startUpload(person);
    const [part] = await service.app.services.db.select().from(uploadParts).where(eq(uploadParts.uploadId, upload));
    const files = [await fileOf(body.secret_db_id), join(service.objectsFolder, String(part?.objectKey))];
    const holder = new Client({ connectionString: service.database.url });
    await holder.connect();
    try {
      await holder.query("select pg_advisory_lock(7235003)");
      await purge(person, body.secret_db_id);
      expect((await service.call("DELETE", uploadPath(upload), person.token)).status).toBe(204);
      await service.app.sweep();
      for (const file of files) expect((await readFile(file)).length).toBeGreaterThan(0);
    } finally {
      await holder.end();
    }
    await service.app.sweep();
    for (const file of files) await expect(readFile(file)).rejects.toThrow("ENOENT");
  });
});

describe("npm run backup", () => {
  it("keeps every secret that was acknowledged before, whatever is written, purged and swept meanwhile", async () => {
    const keeper = await service.signIn();
    const kept = await keep(keeper, { bytes: 50_000 });
    const busy = await service.signIn();
    const purged = (await keep(busy, { bytes: 20_000 })).body.secret_db_id;
    const purgedFile = await fileOf(purged);
    const upload = await startUpload(keeper);
    const givenUp = await startUpload(busy);

    // The backup has its rows, and stands still at the first object.
    const { pipe, putBack } = await pipeAt(await fileOf(kept.body.secret_db_id));
    const making = run("make", backup);
    const end = await pipe();
    await purge(busy, purged);
    expect((await service.call("DELETE", uploadPath(givenUp), busy.token)).status).toBe(204);
    const later = await keep(busy);
    await service.app.sweep();
    await end.writeFile(kept.content);
    await end.close();
    expect(await making).toMatchObject({
      code: 0,
      text: expect.stringMatching(/State \S+: \d+ rows, \d+ objects/) as string,
    });
    await putBack();
    await service.app.sweep();
    await expect(readFile(purgedFile)).rejects.toThrow("ENOENT");

    const place = await emptyPlace();
    expect(await run("restore", backup, place)).toMatchObject({
      code: 0,
      text: expect.stringContaining("Put the keys") as string,
    });
    const restored = await serviceOn(place);
    try {
      const read = (person: Person, id: string) =>
        restored.call("POST", "/secrets/store/get-secret", person.token, { body: { secret_db_id: id } });
      const { content, ticket, label } = kept.body;
      expect(await read(keeper, kept.body.secret_db_id)).toMatchObject({
        status: 200,
        body: { content, ticket, label },
      });
      expect(await read(busy, purged)).toMatchObject({ status: 200 }); // it was there at that moment
      expect(await read(busy, later.body.secret_db_id)).toMatchObject({ status: 404 });
      expect(await restored.call("GET", uploadPath(upload), keeper.token)).toMatchObject({
        status: 200,
        body: { received: [{ part: 1 }] },
      });
      expect(await run("check", undefined, place)).toMatchObject({
        code: 0,
        text: expect.stringMatching(/[1-9]\d* looked at: 0 missing, 0 changed, 0 left over/) as string,
      });
      expect(await query(place.databaseUrls.identity, "select username from accounts")).toEqual([
        { username: "A\tb\\n" },
      ]);
      expect(
        await restored.call("POST", "/secrets/store", keeper.token, { body: buildSecret(keeper).body }),
      ).toMatchObject({ status: 200 }); // it goes on from there
    } finally {
      await restored.stop();
      await place.drop();
    }
  });
});

describe("makeBackup", () => {
  it("copies only objects that it has not got, and drops those of states that were removed", async () => {
    const person = await service.signIn();
    const { body } = await keep(person);
    const first = await makeBackup(source(), backup);
    await purge(person, body.secret_db_id);
    await keep(person);
    const second = await makeBackup(source(), backup);
    expect(first.copied).toBe(first.state.objects.count);
    expect(second.copied).toBe(1);
    const copies = join(backup, "objects", person.userId, body.secret_db_id);
    expect(await readdir(copies)).toHaveLength(1);
    await rm(join(backup, "states", first.name), { recursive: true });
    await makeBackup(source(), backup);
    expect(await readdir(copies)).toEqual([]);
  });

  it("is no backup when its lease was lost on the way, and can be made again", async () => {
    const { pipe, putBack } = await pipeAt(await fileOf((await keep(await service.signIn())).body.secret_db_id));
    const making = makeBackup(source(), backup);
    const end = await pipe();
    expect(
      await query(
        service.database.url,
        "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objid = 7235003 and granted",
      ),
    ).toHaveLength(1);
    await end.close();
    await expect(making).rejects.toThrow("connection to the database was lost");
    await putBack();
    await expect(restoreBackup(source(), backup)).rejects.toThrow("holds no backup");
    expect((await makeBackup(source(), backup)).damaged).toEqual([]);
    expect(await readdir(join(backup, "states"))).toHaveLength(1);
  });

  it("names an object that is missing, changed or unreadable, keeps all others, and takes it when it is back", async () => {
    const person = await service.signIn();
    const files = [];
    for (let count = 0; count < 3; count++) files.push(await fileOf((await keep(person)).body.secret_db_id));
    const [changed, missing, unreadable] = files as [string, string, string];
    const written = await Promise.all(files.map((file) => readFile(file)));
    const [changedKey, missingKey, unreadableKey] = [keyOf(changed), keyOf(missing), keyOf(unreadable)];
    const stray = join(service.objectsFolder, person.userId, "stray");
    try {
      await writeFile(changed, "other bytes");
      await rm(missing);
      await rm(unreadable);
      await mkdir(unreadable); // nobody can read it as a file
      await writeFile(stray, "nobody's");
      const { damaged, state } = await makeBackup(source(), backup);
      expect(damaged).toEqual([changedKey, missingKey, unreadableKey].sort());
      expect(await checkSystem(source())).toMatchObject({
        missing: [missingKey],
        changed: [changedKey, unreadableKey].sort(),
        leftOver: [keyOf(stray)],
      });
      const { looked, ...found } = await checkBackup(backup);
      expect(found).toEqual({ missing: [changedKey, missingKey, unreadableKey].sort(), changed: [], leftOver: [] });
      expect(looked).toBeGreaterThan(state.objects.count);
    } finally {
      await rm(unreadable, { recursive: true, force: true });
      for (const [index, file] of files.entries()) await writeFile(file, written[index] ?? "");
      await rm(stray);
    }
    expect((await makeBackup(source(), backup)).damaged).toEqual([]);
    expect(await checkBackup(backup)).toMatchObject({ missing: [], changed: [] });
    await writeFile(join(backup, "objects", changedKey), "other bytes");
    await writeFile(join(backup, "objects", `${changedKey}x`), "nobody's");
    expect(await checkBackup(backup)).toMatchObject({
      missing: [],
      changed: [changedKey],
      leftOver: [`${changedKey}x`],
    });
  });

  it("finds a copy that changed later, of an object without a digest too", async () => {
    const { body } = await keep(await service.signIn());
    const file = await fileOf(body.secret_db_id);
    await query(service.database.url, "update version_objects set sha256 = null where object_key = $1", [keyOf(file)]);
    await makeBackup(source(), backup);
    await writeFile(join(backup, "objects", keyOf(file)), Buffer.alloc((await readFile(file)).length));
    await makeBackup(source(), backup);
    expect((await checkBackup(backup)).changed).toEqual([keyOf(file)]);
    await rm(join(backup, "objects", keyOf(file)));
    expect((await makeBackup(source(), backup)).copied).toBe(1);
    expect(await checkBackup(backup)).toMatchObject({ missing: [], changed: [] });
  });

  it("has nothing to say of what is being written while it looks", async () => {
    const person = await service.signIn();
    await startUpload(person);
    const announced = `${person.userId}/${person.imageId}/1-announced`;
    await query(
      service.database.url,
      "insert into loose_objects (account_id, object_key, due_at) values ($1, $2, now() + interval '1 day')",
      [person.userId, announced],
    );
    await service.app.services.objects.put(announced, Buffer.from("on its way"));
    await writeFile(join(service.objectsFolder, `${announced}.0123456789ab.tmp`), "half");
    expect((await checkSystem(source())).leftOver).toEqual([]);
  });
});

describe("restoreBackup", () => {
  it("brings back what is shared, what came to a request and what is on its way to one", async () => {
    const { owner, secret, share } = await sharedBySomebody(service, { max_views: 2 });
    const request = await keepRequest(service, owner);
    const answer = await answerRequest(service, request, 6 * 1024 ** 2);
    const open = await keepRequest(service, owner);
    const unfinished = await beginAnswer(service, open);
    await sendParts(service, unfinished);
    await done(service, "POST", "/share/get-public-secret", null, { body: openingOf(share) });
    expect(await checkSystem(source())).toMatchObject({ missing: [], changed: [], leftOver: [] });
    const made = await makeBackup(source(), backup);
    expect(made.damaged).toEqual([]);
    const place = await emptyPlace();
    await restoreBackup(place, backup);
    const restored = await serviceOn(place);
    try {
      expect(await checkSystem(place)).toMatchObject({ missing: [], changed: [], leftOver: [] });
      const read = async (given: Answer, token: string | null): Promise<Buffer> => {
        const { download } = given.body as unknown as { download: { token: string } };
        const headers = token === null ? {} : { authorization: `Bearer ${token}` };
        return (
          await restored.app.http.inject({
            method: "POST",
            url: "/share/content",
            headers,
            payload: { token: download.token },
          })
        ).rawPayload;
      };
      const came = await done(restored, "POST", "/requests/collect", owner.token, {
        body: { request_id: request.requestId },
      });
      expect((await read(came, owner.token)).equals(answer.content)).toBe(true);
      const opened = () => restored.call("POST", "/share/get-public-secret", null, { body: openingOf(share) });
      expect((await read(await opened(), null)).equals(secret.content)).toBe(true);
      expect((await opened()).status).toBe(404);
      expect((await finishOf(restored, unfinished)).status).toBe(200);
    } finally {
      await restored.stop();
      await place.drop();
    }
  });

  it("refuses a place that is not empty, and rows that are not what was written; then the same place takes the right ones", async () => {
    await keep(await service.signIn());
    const { name } = await makeBackup(source(), backup);
    await expect(restoreBackup(source(), backup)).rejects.toThrow("is not empty");
    const place = await emptyPlace();
    try {
      await expect(restoreBackup({ ...place, objects: backup }, backup)).rejects.toThrow(
        "objects that are not of this backup",
      );
      await expect(restoreBackup(place, backup, "another")).rejects.toThrow("holds no state another");
      await expect(restoreBackup(place, folder)).rejects.toThrow("holds no backup");
      const rows = join(backup, "states", name, "service/public.accounts");
      const written = await readFile(rows);
      await appendFile(rows, "\n");
      await expect(restoreBackup(place, backup)).rejects.toThrow("public.accounts is not what was written");
      expect((await checkBackup(backup)).changed).toEqual([rows]);
      await writeFile(rows, written);

      const file = join(backup, "states", name, "state.json");
      const state = await readFile(file, "utf8");
      const { databases, ...rest } = JSON.parse(state) as { databases: { service: { migrations: string[] } } };
      await writeFile(
        file,
        JSON.stringify({
          ...rest,
          databases: { ...databases, service: { ...databases.service, migrations: ["0".repeat(64)] } },
        }),
      );
      await expect(restoreBackup(place, backup)).rejects.toThrow("another release");
      expect(await query(place.databaseUrls.service, "select from accounts")).toEqual([]);
      await writeFile(file, state);

      expect(await restoreBackup(place, backup)).toMatchObject({ name, damaged: [] });
      await expect(restoreBackup(place, backup)).rejects.toThrow("is not empty");
    } finally {
      await place.drop();
    }
  });
});
