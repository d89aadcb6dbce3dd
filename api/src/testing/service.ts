import { createHash, randomBytes } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { createTestDatabase, type TestDatabase } from "@relicario/tooling/database/for-tests";

import { buildApp, type App, type AppOptions } from "../app.ts";
import { migrateDatabase, migrationsFolder } from "../db/migrate.ts";
import { parseEnv } from "../env/env.ts";
import { findTablesWithoutAccount } from "./account-scoping.ts";
import { createSessionKey, startIssuer, type TestIssuer } from "./issuer.ts";
import { createPerson, type Person } from "./person.ts";

export interface TestResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  /** The parsed JSON; null for an empty answer. */
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
  readonly objectsFolder: string;
  readonly database: TestDatabase;
  /** Everything that was logged so far. */
  readonly log: () => string;
  /** A call as anybody who has this session token, or nobody. */
  call(method: Method, path: string, token: string | null, options?: CallOptions): Promise<TestResponse>;
  /** The same service on a socket. @returns its address. */
  listen(): Promise<string>;
  /** Signs somebody in: token exchange with a real access token. */
  signIn(subject?: string, vendorId?: string): Promise<Person>;
  /**
   * @throws Error when it locked or wrote rows without naming their account
   *   (testing/account-scoping.ts).
   */
  stop(): Promise<void>;
}

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

/** Where the service of this folder of objects puts its mails. */
export function getOutboxFolder(objectsFolder: string): string {
  return `${objectsFolder}-outbox`;
}

/** The variables that the service is started with. */
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

/** The real service on a database and a folder of its own, called without a socket. */
export async function startService(
  overrides: Readonly<Record<string, string>> = {},
  now?: () => Date,
  { onStatement: observeStatement, ...options }: Pick<AppOptions, "wait" | "onStatement"> = {},
): Promise<TestService> {
  const issuer = await startIssuer();
  const database = await createServiceDatabase();
  const objectsFolder = await mkdtemp(join(tmpdir(), "relicario-objects-"));
  const logLines: string[] = [];
  const env = parseEnv({ ...(await createServiceVariables(issuer.issuer, database.url, objectsFolder)), ...overrides });
  const unscopedStatements = new Set<string>();
  const onStatement = (text: string): void => {
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
    const response = await app.http.inject({
      method,
      url: path,
      remoteAddress,
      headers: { ...(token === null ? {} : { authorization: `Bearer ${token}` }), ...headers },
      ...(body === undefined ? {} : { payload: body as object | string }),
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
    log: () => logLines.join(""),
    call,
    listen: () =>
      app.http.server.listening
        ? Promise.resolve(app.http.listeningOrigin)
        : app.http.listen({ host: "127.0.0.1", port: 0 }),
    async signIn(subject = `person-${randomBytes(4).toString("hex")}`, vendorId = "relicario") {
      const token = await issuer.accessToken(subject);
      const response = await call("POST", `/auth/token?app_vendor_id=${vendorId}`, null, { body: { token } });
      if (response.status !== 200) throw new Error(`the exchange answered ${String(response.status)} ${response.text}`);
      return createPerson(subject, String(response.body["token"]));
    },
    async stop() {
      await app.stop();
      await database.drop();
      await issuer.stop();
      for (const folder of [objectsFolder, getOutboxFolder(objectsFolder)])
        await rm(folder, { recursive: true, force: true });
      if (unscopedStatements.size > 0)
        throw new Error(
          `these statements lock or write rows of more than one account:\n${[...unscopedStatements].join("\n")}`,
        );
    },
  };
}
