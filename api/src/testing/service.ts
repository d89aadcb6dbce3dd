import { createHash, hash, randomBytes } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { createTestDatabase, type TestDatabase } from "@relicario/tooling/database/test-database";
import { startBuckets } from "@relicario/tooling/objects/testing";

import { buildApp, type App, type AppOptions } from "../app.ts";
import { migrateDatabase, migrationsFolder } from "../db/migrate.ts";
import { parseEnv } from "../env/env.ts";
import { findAccountReads } from "./account-reads.ts";
import { findTablesWithoutAccount } from "./account-scoping.ts";
import { createSessionKey, startIssuer, type TestIssuer } from "./issuer.ts";
import { createPerson, type Person } from "./person.ts";

export interface TestResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  /** Parsed JSON; null for an empty response. */
  readonly body: Record<string, unknown> & { readonly code?: string };
  readonly text: string;
}

export interface CallOptions {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly remoteAddress?: string;
}

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";

export interface TestService {
  readonly app: App;
  readonly issuer: TestIssuer;
  readonly origin: string;
  /** Empty unless objects are files. */
  readonly objectsFolder: string;
  readonly database: TestDatabase;
  /** All log lines so far. */
  readonly readLog: () => string;
  /** Keys of an account's objects. */
  listObjects(accountId: string): Promise<string[]>;
  /** Replaces a stored object behind the service's back. */
  replaceObject(key: string, bytes: Buffer): Promise<void>;
  /** Calls with this session token, or anonymously. */
  call(method: Method, path: string, token: string | null, options?: CallOptions): Promise<TestResponse>;
  /** Also listens on a socket. @returns its address */
  listen(): Promise<string>;
  /** Signs a person in: token exchange with a real access token. */
  signIn(subject?: string, vendorId?: string): Promise<Person>;
  /**
   * @throws Error when a statement locked or wrote rows without their account
   *   (testing/account-scoping.ts), joined rows of two accounts, or a call's read rows of all
   *   (testing/account-reads.ts).
   */
  stop(): Promise<void>;
}

/**
 * Sweeps, and mails after a call, look for due rows on all machines; a sign-out at the provider
 * names its session, not the account.
 */
const readsAllMachines =
  /^select distinct .* limit \$\d+$| from "mails"( where "mails"\."due_at" <= .*)?$|^select distinct "account_id" from "sessions" where \("sessions"\."provider_session" = /;

export const testVendors = [
  { vendor_id: "relicario", name: "Relicario" },
  { vendor_id: "second", name: "Second", quota_bytes: 100_000, origin: "https://second.example" },
  { vendor_id: "closed", name: "Closed", enabled: false },
];

export async function createServiceDatabase(): Promise<TestDatabase> {
  const digest = createHash("sha256");
  for (const name of (await readdir(migrationsFolder)).filter((file) => file.endsWith(".sql")).sort()) {
    digest.update(await readFile(join(migrationsFolder, name)));
  }
  return createTestDatabase(`service_${digest.digest("hex").slice(0, 16)}`, migrateDatabase);
}

/** The folder for mails of the service with this object folder. */
export function getOutboxFolder(objectsFolder: string): string {
  return `${objectsFolder}-outbox`;
}

/** The service's environment variables. */
export async function createServiceVariables(
  issuer: string,
  databaseUrl: string,
  objectsFolder: string,
): Promise<Record<string, string>> {
  return {
    DATABASE_URL: databaseUrl,
    OBJECTS_URL: objectsFolder,
    IDP_AUTHORITY: issuer,
    IDP_CLIENT_ID: "relicario-portal",
    VENDORS: JSON.stringify(testVendors),
    PUBLIC_ORIGIN: "http://localhost:3000",
    SESSION_KEYS: JSON.stringify({ keys: [await createSessionKey(), await createSessionKey()] }),
    MAIL_URL: getOutboxFolder(objectsFolder),
    RECORD_KEY: randomBytes(32).toString("base64url"),
    STOP_WAIT_SECONDS: "0",
  };
}

/**
 * The real service with its own database and objects, called without a socket. Objects are files,
 * or with `RELICARIO_TEST_S3` in a bucket unless `inFolder` is set.
 */
export async function startService(
  overrides: Readonly<Record<string, string>> = {},
  now?: () => Date,
  {
    onStatement: observeStatement,
    checksPeople = false,
    inFolder = false,
    ...options
  }: Pick<AppOptions, "wait" | "onStatement"> & {
    /** Configures the issuer's admin interface. */
    readonly checksPeople?: boolean;
    readonly inFolder?: boolean;
  } = {},
): Promise<TestService> {
  const issuer = await startIssuer();
  const database = await createServiceDatabase();
  const objectsFolder = await mkdtemp(join(tmpdir(), "relicario-objects-"));
  const buckets = inFolder || process.env["RELICARIO_TEST_S3"] === undefined ? null : await startBuckets();
  const logLines: string[] = [];
  const env = parseEnv({
    ...(await createServiceVariables(issuer.issuer, database.serviceUrl, objectsFolder)),
    ...(buckets === null ? {} : { OBJECTS_URL: await buckets.createAddress() }),
    ...(checksPeople && { IDP_ADMIN: issuer.adminSetting }),
    DATABASE_SECONDS: "60", // on a busy machine a lock may take longer than the default allows
    ...overrides,
  });
  const unscopedStatements = new Set<string>();
  const statements = new Set<string>();
  const statementsOfCalls = new Set<string>();
  let unfinishedCalls = 0;
  const onStatement = (text: string): void => {
    statements.add(text);
    if (unfinishedCalls > 0) statementsOfCalls.add(text);
    if (findTablesWithoutAccount(text).length > 0) unscopedStatements.add(text);
    observeStatement?.(text);
  };
  const app = await buildApp(env, {
    onStatement,
    logStream: { write: (line) => logLines.push(line) },
    ...(now === undefined ? {} : { now }),
    ...options,
  });

  const call: TestService["call"] = async (
    method,
    path,
    token,
    { body, headers = {}, remoteAddress = "127.0.0.1" } = {},
  ) => {
    unfinishedCalls += 1;
    const response = await app.http
      .inject({
        method,
        url: path,
        remoteAddress,
        headers: { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...headers },
        ...(body === undefined ? {} : { payload: body as object | string }),
      })
      .finally(() => {
        unfinishedCalls -= 1;
      });
    const isJson = response.headers["content-type"]?.includes("json") === true;
    return {
      status: response.statusCode,
      headers: response.headers,
      text: response.body,
      body: isJson ? response.json<TestResponse["body"]>() : {},
    };
  };

  return {
    app,
    issuer,
    origin: env.PUBLIC_ORIGIN,
    objectsFolder,
    database,
    readLog: () => logLines.join(""),
    async listObjects(accountId) {
      const keys = new Set<string>();
      for await (const key of app.services.objects.list()) if (key.startsWith(`${accountId}/`)) keys.add(key);
      return [...keys];
    },
    async replaceObject(key, bytes) {
      const { objects } = app.services;
      await objects.delete(key);
      await objects.put(key, bytes, { size: bytes.length, sha256: hash("sha256", bytes, "buffer") });
    },
    call,
    listen: () =>
      app.http.server.listening
        ? Promise.resolve(app.http.listeningOrigin)
        : app.http.listen({ host: "127.0.0.1", port: 0 }),
    async signIn(subject = `person-${randomBytes(4).toString("hex")}`, vendorId = "relicario") {
      const token = await issuer.createAccessToken(subject);
      const response = await call("POST", `/auth/token?app_vendor_id=${vendorId}`, null, { body: { token } });
      if (response.status !== 200) throw new Error(`the exchange answered ${String(response.status)} ${response.text}`);
      return createPerson(subject, String(response.body["token"]));
    },
    async stop() {
      await app.stop();
      await database.drop();
      await issuer.stop();
      await buckets?.stop();
      for (const folder of [objectsFolder, getOutboxFolder(objectsFolder)])
        await rm(folder, { recursive: true, force: true });
      for (const text of statements) {
        const { joined, ofAllAccounts } = await findAccountReads(text);
        if (joined.length > 0) throw new Error(`this statement joins rows of two accounts:\n${text}`);
        if (ofAllAccounts.length > 0 && statementsOfCalls.has(text) && !readsAllMachines.test(text))
          throw new Error(`a call ran this statement, which reads rows of all accounts:\n${text}`);
      }
      if (unscopedStatements.size > 0)
        throw new Error(
          `these statements lock or write rows of more than one account:\n${[...unscopedStatements].join("\n")}`,
        );
    },
  };
}
