import { execFile, spawn } from "node:child_process";
import { hash } from "node:crypto";
import { once } from "node:events";
import { appendFile, mkdir, mkdtemp, open, readdir, readFile, rm, writeFile, type FileHandle } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { uploadPath } from "@relicario/shared/api";
import { checkBackup, checkSystem } from "@relicario/tooling/backup/check";
import { makeBackup } from "@relicario/tooling/backup/make";
import { restoreBackup } from "@relicario/tooling/backup/restore";
import { createTestDatabase, type TestDatabase } from "@relicario/tooling/database/test-database";
import { startBuckets } from "@relicario/tooling/objects/testing";
import { eq } from "drizzle-orm";
import { Client } from "pg";

import { uploadParts, versionObjects } from "../db/schema.ts";
import { migrate, openPool } from "../identity/database.ts";
import { buildChange, buildSecret, confirmChange, type Person, type BuiltSecret } from "../testing/person.ts";
import { startService, type TestResponse, type TestService } from "../testing/service.ts";
import {
  answerRequest,
  startAnswer,
  callOk,
  finishAnswer,
  createRequest,
  buildOpening,
  sendParts,
  createSharedSecret,
} from "../testing/sharing.ts";
import { buildLargeContent } from "../testing/upload.ts";

const execFileAsync = promisify(execFile);
const backupScript = join(__dirname, "../../../tooling/src/backup/main.ts");

let service: TestService;
let identity: TestDatabase;
let folder: string;
let backupFolder: string;

beforeAll(async () => {
  service = await startService({}, undefined, { inFolder: true });
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
  backupFolder = join(folder, "backup");
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const identityDatabase = () =>
  createTestDatabase("identity_for_backups", async (url) => {
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

interface CommandResult {
  readonly code: number;
  readonly output: string;
}

type BackupSource = Parameters<typeof makeBackup>[0] & {
  readonly databaseUrls: { readonly service: string; readonly identity: string };
};

const createBackupSource = (): BackupSource => ({
  databaseUrls: { service: service.database.url, identity: identity.url },
  objectsUrl: service.objectsFolder,
});

/** Runs the command as a process. @returns the text of both streams */
async function runBackupCommand(
  command: "make" | "restore" | "check",
  folderArgument?: string,
  { databaseUrls, objectsUrl }: BackupSource = createBackupSource(),
): Promise<CommandResult> {
  const env = {
    PATH: process.env["PATH"],
    DATA_DIR: join(folder, "data"),
    DATABASE_URL: databaseUrls.service,
    IDENTITY_DATABASE_URL: databaseUrls.identity,
    OBJECTS_URL: objectsUrl,
  };
  const child = spawn(
    process.execPath,
    [
      "--disable-warning=ExperimentalWarning",
      backupScript,
      command,
      ...(folderArgument === undefined ? [] : [folderArgument]),
    ],
    { env },
  );
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (piece: Buffer) => (output += piece.toString()));
  const [code] = (await once(child, "close")) as [number];
  return { code, output };
}

/** Two databases and a folder, all empty. */
async function createEmptyTarget(): Promise<BackupSource & { drop(): Promise<void> }> {
  const [serviceDatabase, identityTarget] = [
    await createTestDatabase("empty_template", () => Promise.resolve()),
    await createTestDatabase("empty_template", () => Promise.resolve()),
  ];
  const drop = async (): Promise<void> => {
    for (const database of [serviceDatabase, identityTarget]) await database.drop();
  };
  return {
    databaseUrls: { service: serviceDatabase.url, identity: identityTarget.url },
    objectsUrl: join(folder, "restored"),
    drop,
  };
}

async function startServiceOn(target: BackupSource): Promise<TestService> {
  const { SESSION_KEYS, RECORD_KEY, IDP_AUTHORITY } = service.app.services.env;
  return startService({
    DATABASE_URL: target.databaseUrls.service,
    OBJECTS_URL: target.objectsUrl,
    SESSION_KEYS: JSON.stringify(SESSION_KEYS),
    RECORD_KEY: RECORD_KEY.map((key) => key.toString("base64url")).join(","),
    IDP_AUTHORITY,
  });
}

async function storeSecret(person: Person, options: Parameters<typeof buildSecret>[1] = {}): Promise<BuiltSecret> {
  const call = buildSecret(person, options);
  const response = await service.call("POST", "/secrets/store", person.token, { body: call.body });
  if (response.status !== 200) throw new Error(response.text);
  confirmChange(person, call.body.keyring);
  return call;
}

async function purgeSecret(person: Person, id: string): Promise<void> {
  await service.call("DELETE", `/secrets/store/${id}`, person.token);
  const change = buildChange(person, { purge: [id] });
  expect((await service.call("PUT", "/user/keyring", person.token, { body: change })).status).toBe(200);
  confirmChange(person, change);
}

async function startUpload(person: Person): Promise<string> {
  const largeContent = buildLargeContent({ bytes: 2_000 });
  const startResponse = await service.call(
    "POST",
    "/v2/secrets/secret",
    person.token,
    await largeContent.buildStartForm(),
  );
  const id = String(startResponse.body["upload_id"]);
  expect((await service.call("POST", uploadPath(id), person.token, await largeContent.buildPartForm(1))).status).toBe(
    200,
  );
  return id;
}

const findObjectFile = async (id: string): Promise<string> => {
  const [row] = await service.app.services.db.select().from(versionObjects).where(eq(versionObjects.secretId, id));
  return join(service.objectsFolder, String(row?.objectKey));
};

const getObjectKey = (file: string): string => file.slice(service.objectsFolder.length + 1);

/**
 * Replaces an object by a named pipe: reading it blocks until `openPipe` opens the other end and
 * the test writes to it.
 */
async function replaceWithPipe(
  file: string,
): Promise<{ openPipe: () => Promise<FileHandle>; restoreFile: () => Promise<void> }> {
  const bytes = await readFile(file);
  await rm(file);
  await execFileAsync("mkfifo", [file]);
  return {
    openPipe: () => open(file, "w"),
    async restoreFile() {
      await rm(file);
      await writeFile(file, bytes);
    },
  };
}

describe("the lease of a backup", () => {
  it("prevents the deletion of objects that are purged, cancelled or due", async () => {
    const person = await service.signIn();
    const { body } = await storeSecret(person);
    const upload = await startUpload(person);
    const [part] = await service.app.services.db.select().from(uploadParts).where(eq(uploadParts.uploadId, upload));
    const files = [await findObjectFile(body.secret_db_id), join(service.objectsFolder, String(part?.objectKey))];
    const lockHolder = new Client({ connectionString: service.database.url });
    await lockHolder.connect();
    try {
      await lockHolder.query("select pg_advisory_lock(7235003)");
      await purgeSecret(person, body.secret_db_id);
      expect((await service.call("DELETE", uploadPath(upload), person.token)).status).toBe(204);
      await service.app.sweep();
      for (const file of files) expect((await readFile(file)).length).toBeGreaterThan(0);
    } finally {
      await lockHolder.end();
    }
    await service.app.sweep();
    for (const file of files) await expect(readFile(file)).rejects.toThrow("ENOENT");
  });
});

describe("npm run backup", () => {
  it("contains every secret that was acknowledged before it started, despite writes, purges and sweeps meanwhile", async () => {
    const keepingPerson = await service.signIn();
    const keptSecret = await storeSecret(keepingPerson, { bytes: 50_000 });
    const busyPerson = await service.signIn();
    const purgedId = (await storeSecret(busyPerson, { bytes: 20_000 })).body.secret_db_id;
    const purgedFile = await findObjectFile(purgedId);
    const upload = await startUpload(keepingPerson);
    const cancelledUpload = await startUpload(busyPerson);

    // The backup has copied the rows and blocks at the first object.
    const { openPipe, restoreFile } = await replaceWithPipe(await findObjectFile(keptSecret.body.secret_db_id));
    const backupRun = runBackupCommand("make", backupFolder);
    const pipeEnd = await openPipe();
    await purgeSecret(busyPerson, purgedId);
    expect((await service.call("DELETE", uploadPath(cancelledUpload), busyPerson.token)).status).toBe(204);
    const laterSecret = await storeSecret(busyPerson);
    await service.app.sweep();
    await pipeEnd.writeFile(keptSecret.content);
    await pipeEnd.close();
    expect(await backupRun).toMatchObject({
      code: 0,
      output: expect.stringMatching(/State \S+: \d+ rows, \d+ objects/) as string,
    });
    await restoreFile();
    await service.app.sweep();
    await expect(readFile(purgedFile)).rejects.toThrow("ENOENT");

    const target = await createEmptyTarget();
    expect(await runBackupCommand("restore", backupFolder, target)).toMatchObject({
      code: 0,
      output: expect.stringContaining("Put the keys") as string,
    });
    const restoredService = await startServiceOn(target);
    try {
      const readSecret = (person: Person, id: string) =>
        restoredService.call("POST", "/secrets/store/get-secret", person.token, { body: { secret_db_id: id } });
      const { content, ticket, label } = keptSecret.body;
      expect(await readSecret(keepingPerson, keptSecret.body.secret_db_id)).toMatchObject({
        status: 200,
        body: { content, ticket, label },
      });
      expect(await readSecret(busyPerson, purgedId)).toMatchObject({ status: 200 }); // it existed at that moment
      expect(await readSecret(busyPerson, laterSecret.body.secret_db_id)).toMatchObject({ status: 404 });
      expect(await restoredService.call("GET", uploadPath(upload), keepingPerson.token)).toMatchObject({
        status: 200,
        body: { received: [{ part: 1 }] },
      });
      expect(await runBackupCommand("check", undefined, target)).toMatchObject({
        code: 0,
        output: expect.stringMatching(/[1-9]\d* checked: 0 missing, 0 changed, 0 left over/) as string,
      });
      expect(await query(target.databaseUrls.identity, "select username from accounts")).toEqual([
        { username: "A\tb\\n" },
      ]);
      expect(
        await restoredService.call("POST", "/secrets/store", keepingPerson.token, {
          body: buildSecret(keepingPerson).body,
        }),
      ).toMatchObject({ status: 200 }); // the upload continues there
    } finally {
      await restoredService.stop();
      await target.drop();
    }
  });
});

describe("makeBackup", () => {
  it("copies only missing objects, and deletes those of removed states only", async () => {
    const person = await service.signIn();
    const { body } = await storeSecret(person);
    const firstBackup = await makeBackup(createBackupSource(), backupFolder);
    await purgeSecret(person, body.secret_db_id);
    await storeSecret(person);
    const secondBackup = await makeBackup(createBackupSource(), backupFolder);
    expect(firstBackup.copiedCount).toBe(firstBackup.state.objects.count);
    expect(secondBackup.copiedCount).toBe(1);
    const copiesFolder = join(backupFolder, "objects", person.userId, body.secret_db_id);
    expect(await readdir(copiesFolder)).toHaveLength(1);
    await rm(join(backupFolder, "states", firstBackup.name), { recursive: true });
    await makeBackup(createBackupSource(), backupFolder);
    expect(await readdir(copiesFolder)).toEqual([]);
  });

  it("fails when its lease is lost, and can be repeated", async () => {
    const { openPipe, restoreFile } = await replaceWithPipe(
      await findObjectFile((await storeSecret(await service.signIn())).body.secret_db_id),
    );
    const backupRun = makeBackup(createBackupSource(), backupFolder);
    const pipeEnd = await openPipe();
    expect(
      await query(
        service.database.url,
        "select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objid = 7235003 and granted",
      ),
    ).toHaveLength(1);
    await pipeEnd.close();
    await expect(backupRun).rejects.toThrow("connection to the database was lost");
    await restoreFile();
    await expect(restoreBackup(createBackupSource(), backupFolder)).rejects.toThrow("holds no backup");
    expect((await makeBackup(createBackupSource(), backupFolder)).damagedKeys).toEqual([]);
    expect(await readdir(join(backupFolder, "states"))).toHaveLength(1);
  });

  it("reports missing, changed and unreadable objects, copies all other objects, and copies the reported objects once they are restored", async () => {
    const person = await service.signIn();
    const files = [];
    for (let count = 0; count < 3; count++)
      files.push(await findObjectFile((await storeSecret(person)).body.secret_db_id));
    const [changedFile, missingFile, unreadableFile] = files as [string, string, string];
    const originalBytes = await Promise.all(files.map((file) => readFile(file)));
    const [changedKey, missingKey, unreadableKey] = [
      getObjectKey(changedFile),
      getObjectKey(missingFile),
      getObjectKey(unreadableFile),
    ];
    const strayFile = join(service.objectsFolder, person.userId, "stray");
    try {
      await writeFile(changedFile, "other bytes");
      await rm(missingFile);
      await rm(unreadableFile);
      await mkdir(unreadableFile); // reading a folder as a file fails
      await writeFile(strayFile, "nobody's");
      const { damagedKeys, state } = await makeBackup(createBackupSource(), backupFolder);
      expect(damagedKeys).toEqual([changedKey, missingKey, unreadableKey].sort());
      expect(await checkSystem(createBackupSource())).toMatchObject({
        missing: [missingKey],
        changed: [changedKey, unreadableKey].sort(),
        unreferenced: [getObjectKey(strayFile)],
      });
      const { checkedCount, ...findings } = await checkBackup(backupFolder);
      expect(findings).toEqual({
        missing: [changedKey, missingKey, unreadableKey].sort(),
        changed: [],
        unreferenced: [],
      });
      expect(checkedCount).toBeGreaterThan(state.objects.count);
    } finally {
      await rm(unreadableFile, { recursive: true, force: true });
      for (const [index, file] of files.entries()) await writeFile(file, originalBytes[index] ?? "");
      await rm(strayFile);
    }
    expect((await makeBackup(createBackupSource(), backupFolder)).damagedKeys).toEqual([]);
    expect(await checkBackup(backupFolder)).toMatchObject({ missing: [], changed: [] });
    await writeFile(join(backupFolder, "objects", changedKey), "other bytes");
    await writeFile(join(backupFolder, "objects", `${changedKey}x`), "nobody's");
    expect(await checkBackup(backupFolder)).toMatchObject({
      missing: [],
      changed: [changedKey],
      unreferenced: [`${changedKey}x`],
    });
  });

  it("finds a copy that changed later, also of an object without a digest", async () => {
    const { body } = await storeSecret(await service.signIn());
    const file = await findObjectFile(body.secret_db_id);
    await query(service.database.url, "update version_objects set sha256 = null where object_key = $1", [
      getObjectKey(file),
    ]);
    await makeBackup(createBackupSource(), backupFolder);
    await writeFile(join(backupFolder, "objects", getObjectKey(file)), Buffer.alloc((await readFile(file)).length));
    await makeBackup(createBackupSource(), backupFolder);
    expect((await checkBackup(backupFolder)).changed).toEqual([getObjectKey(file)]);
    await rm(join(backupFolder, "objects", getObjectKey(file)));
    expect((await makeBackup(createBackupSource(), backupFolder)).copiedCount).toBe(1);
    expect(await checkBackup(backupFolder)).toMatchObject({ missing: [], changed: [] });
  });

  it("finds any damage of a state's own files, and still checks the other states", async () => {
    await storeSecret(await service.signIn());
    await makeBackup(createBackupSource(), backupFolder, new Date("2026-11-01T00:00:00Z"));
    const { name } = await makeBackup(createBackupSource(), backupFolder);
    const file = join(backupFolder, "states", name, "state.json");
    const text = await readFile(file, "utf8");
    for (const damagedText of [
      text.replace(/"made_at": "\d/, '"made_at": "3'),
      text.replace(/[0-9a-f](?="\n *\],\n *"tables")/, (digit) => (digit === "0" ? "1" : "0")),
      text.replace(/"count": \d/, '"count": 9'),
      text.slice(0, -10),
      "",
    ]) {
      expect(damagedText).not.toBe(text);
      await writeFile(file, damagedText);
      expect(await checkBackup(backupFolder)).toMatchObject({ missing: [], changed: [file], unreferenced: [] });
    }
    await writeFile(file, text);
    for (const [path, finding] of [
      [file, { missing: [file], changed: [] }],
      [`${file}.sha256`, { missing: [`${file}.sha256`], changed: [] }],
      [join(file, "../objects"), { missing: [join(file, "../objects")], changed: [] }],
    ] as const) {
      const bytes = await readFile(path);
      await rm(path);
      expect(await checkBackup(backupFolder)).toMatchObject(finding);
      await writeFile(path, bytes);
    }
    expect(await checkBackup(backupFolder)).toMatchObject({ missing: [], changed: [] });
  });

  it("ignores objects that are being written", async () => {
    const person = await service.signIn();
    await startUpload(person);
    const reservedKey = `${person.userId}/${person.imageId}/1-announced`;
    await query(
      service.database.url,
      "insert into loose_objects (account_id, object_key, due_at) values ($1, $2, now() + interval '1 day')",
      [person.userId, reservedKey],
    );
    await service.replaceObject(reservedKey, Buffer.from("on its way"));
    await writeFile(join(service.objectsFolder, `${reservedKey}.0123456789ab.tmp`), "half");
    expect((await checkSystem(createBackupSource())).unreferenced).toEqual([]);
  });
});

describe("restoreBackup", () => {
  it("restores shares, answers to requests, and answers under way", async () => {
    const { owner, secret, share } = await createSharedSecret(service, { max_views: 2 });
    const request = await createRequest(service, owner);
    const answer = await answerRequest(service, request, 6 * 1024 ** 2);
    const openRequest = await createRequest(service, owner);
    const unfinishedAnswer = await startAnswer(service, openRequest);
    await sendParts(service, unfinishedAnswer);
    await callOk(service, "POST", "/share/get-public-secret", null, { body: buildOpening(share) });
    expect(await checkSystem(createBackupSource())).toMatchObject({ missing: [], changed: [], unreferenced: [] });
    const backupReport = await makeBackup(createBackupSource(), backupFolder);
    expect(backupReport.damagedKeys).toEqual([]);
    const target = await createEmptyTarget();
    await restoreBackup(target, backupFolder);
    const restoredService = await startServiceOn(target);
    try {
      expect(await checkSystem(target)).toMatchObject({ missing: [], changed: [], unreferenced: [] });
      const downloadAnswered = async (answerWithDownload: TestResponse, token: string | null): Promise<Buffer> => {
        const { download } = answerWithDownload.body as unknown as { download: { token: string } };
        const headers = token === null ? {} : { authorization: `Bearer ${token}` };
        return (
          await restoredService.app.http.inject({
            method: "POST",
            url: "/share/content",
            headers,
            payload: { token: download.token },
          })
        ).rawPayload;
      };
      const collectResponse = await callOk(restoredService, "POST", "/requests/collect", owner.token, {
        body: { request_id: request.requestId },
      });
      expect((await downloadAnswered(collectResponse, owner.token)).equals(answer.content)).toBe(true);
      const openShare = () =>
        restoredService.call("POST", "/share/get-public-secret", null, { body: buildOpening(share) });
      expect((await downloadAnswered(await openShare(), null)).equals(secret.content)).toBe(true);
      expect((await openShare()).status).toBe(404);
      expect((await finishAnswer(restoredService, unfinishedAnswer)).status).toBe(200);
    } finally {
      await restoredService.stop();
      await target.drop();
    }
  });

  it("restores objects of a folder into a bucket, and those of the bucket into a folder, all equal", async () => {
    const person = await service.signIn();
    const { body, content } = await storeSecret(person, { bytes: 200_000 });
    await startUpload(person);
    const buckets = await startBuckets();
    const bucketTarget = { ...(await createEmptyTarget()), objectsUrl: await buckets.createAddress() };
    const folderTarget = await createEmptyTarget();
    try {
      await makeBackup(createBackupSource(), backupFolder);
      expect(await restoreBackup(bucketTarget, backupFolder)).toMatchObject({ damagedKeys: [] });
      const findings = await checkSystem(bucketTarget);
      expect(findings).toMatchObject({ missing: [], changed: [], unreferenced: [] });
      expect(findings.checkedCount).toBeGreaterThan(1);
      const bucketService = await startServiceOn(bucketTarget);
      try {
        expect(
          await bucketService.call("POST", "/secrets/store/get-secret", person.token, {
            body: { secret_db_id: body.secret_db_id },
          }),
        ).toMatchObject({ status: 200, body: { content: content.toString("base64url") } });
      } finally {
        await bucketService.stop();
      }

      const secondBackup = join(folder, "second");
      const { state, damagedKeys } = await makeBackup(bucketTarget, secondBackup);
      expect([damagedKeys, state.objects.count]).toEqual([[], findings.checkedCount]);
      expect(await restoreBackup(folderTarget, secondBackup)).toMatchObject({ damagedKeys: [] });
      expect(await checkSystem(folderTarget)).toEqual(findings);
    } finally {
      await bucketTarget.drop();
      await folderTarget.drop();
      await buckets.stop();
    }
  });

  it("refuses a non-empty target and altered rows; the same target then accepts the right rows", async () => {
    await storeSecret(await service.signIn());
    const { name } = await makeBackup(createBackupSource(), backupFolder);
    await expect(restoreBackup(createBackupSource(), backupFolder)).rejects.toThrow("is not empty");
    const target = await createEmptyTarget();
    try {
      await expect(restoreBackup({ ...target, objectsUrl: backupFolder }, backupFolder)).rejects.toThrow(
        "objects that are not of this backup",
      );
      await expect(restoreBackup(target, backupFolder, "another")).rejects.toThrow("holds no state another");
      await expect(restoreBackup(target, folder)).rejects.toThrow("holds no backup");
      const rows = join(backupFolder, "states", name, "service/public.accounts");
      const rowsText = await readFile(rows);
      await appendFile(rows, "\n");
      await expect(restoreBackup(target, backupFolder)).rejects.toThrow("public.accounts was changed");
      expect((await checkBackup(backupFolder)).changed).toEqual([rows]);
      await writeFile(rows, rowsText);

      const file = join(backupFolder, "states", name, "state.json");
      const state = await readFile(file, "utf8");
      const { databases, ...rest } = JSON.parse(state) as { databases: { service: { migrations: string[] } } };
      const digest = await readFile(`${file}.sha256`, "utf8");
      const stateOfAnotherRelease = JSON.stringify({
        ...rest,
        databases: { ...databases, service: { ...databases.service, migrations: ["0".repeat(64)] } },
      });
      await writeFile(file, stateOfAnotherRelease);
      await writeFile(`${file}.sha256`, hash("sha256", stateOfAnotherRelease, "hex"));
      await expect(restoreBackup(target, backupFolder)).rejects.toThrow("another release");
      expect(await query(target.databaseUrls.service, "select from accounts")).toEqual([]);
      await writeFile(`${file}.sha256`, digest);
      await expect(restoreBackup(target, backupFolder)).rejects.toThrow("state.json was changed");
      await writeFile(file, state);

      expect(await restoreBackup(target, backupFolder)).toMatchObject({ name, damagedKeys: [] });
      await expect(restoreBackup(target, backupFolder)).rejects.toThrow("is not empty");
    } finally {
      await target.drop();
    }
  });
});
