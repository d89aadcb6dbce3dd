/** Secrets of the processes of one data folder, created once and stored in `keys` (0600). */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { promisify } from "node:util";

import { z } from "zod";

import { generateKey, StoredKey } from "./signing-keys.ts";
import { readOrCreate, replaceFile } from "./write-once.ts";
import { rootFolder } from "../paths.ts";

const execFileAsync = promisify(execFile);

const ServiceSecrets = z.strictObject({
  SESSION_KEYS: z.strictObject({ keys: z.array(StoredKey).min(1) }),
  /** Keys separated by commas, as `SESSION_KEYS` the current one first, then the next. */
  RECORD_KEY: z.string(),
});
const IdentitySecrets = z.strictObject({ IDENTITY_KEYS: z.string(), COOKIE_KEYS: z.string() });
const Token = z.strictObject({ token: z.string() });
const DemoAccount = z.strictObject({ username: z.string(), email: z.string(), password: z.string() });
export type DemoAccount = z.infer<typeof DemoAccount>;

export interface ProcessSecrets {
  readonly service: { readonly SESSION_KEYS: string; readonly RECORD_KEY: string };
  readonly identity: z.infer<typeof IdentitySecrets>;
  /** For the service, which changes passwords at the embedded identity provider. */
  readonly identityAdminToken: string;
  readonly demoAccount: DemoAccount;
}

export async function loadProcessSecrets(keysFolder: string): Promise<ProcessSecrets> {
  const [service, identity, identityAdminToken, demoAccount] = await Promise.all([
    loadServiceSecrets(keysFolder),
    loadIdentitySecrets(keysFolder),
    loadAdminToken(keysFolder),
    loadDemoAccount(keysFolder),
  ]);
  return { service, identity, identityAdminToken, demoAccount };
}

/** Keys of the environment come first: then the operator rotates them. */
export async function loadServiceSecrets(
  keysFolder: string,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<ProcessSecrets["service"]> {
  const { SESSION_KEYS, RECORD_KEY } = await readServiceSecrets(keysFolder);
  return {
    SESSION_KEYS: readSetting(environment, "SESSION_KEYS") ?? JSON.stringify(SESSION_KEYS),
    RECORD_KEY: readSetting(environment, "RECORD_KEY") ?? RECORD_KEY,
  };
}

/** Null for an empty one, as of compose without a value. */
function readSetting(environment: NodeJS.ProcessEnv, name: string): string | null {
  const value = environment[name] ?? "";
  return value === "" ? null : value;
}

const getServiceSecretsFile = (keysFolder: string): string => join(keysFolder, "service.json");

async function readServiceSecrets(keysFolder: string): Promise<z.infer<typeof ServiceSecrets>> {
  return ServiceSecrets.parse(await readOrCreate(getServiceSecretsFile(keysFolder), makeServiceSecrets));
}

/** Session keys before the current one that still verify: two rotations. */
const keptSessionKeys = 2;

export type RotatedKey = "session" | "record";

/**
 * Makes the next key the current one, and a new one the next. Earlier ones still verify and open.
 *
 * @param folder must not be used by another rotation at the same time
 */
export async function rotateKey(keysFolder: string, name: RotatedKey): Promise<void> {
  const secrets = await readServiceSecrets(keysFolder);
  const file = getServiceSecretsFile(keysFolder);
  if (name === "session") {
    const keys = await rotate(secrets.SESSION_KEYS.keys, generateKey);
    replaceFile(file, { ...secrets, SESSION_KEYS: { keys: keys.slice(0, 2 + keptSessionKeys) } });
  } else {
    const keys = await rotate(secrets.RECORD_KEY.split(","), async () => makeRecordKey());
    replaceFile(file, { ...secrets, RECORD_KEY: keys.join(",") });
  }
}

/** Removes the keys before the current one. Nothing may be sealed with them any more. */
export async function forgetEarlierRecordKeys(keysFolder: string): Promise<void> {
  const secrets = await readServiceSecrets(keysFolder);
  replaceFile(getServiceSecretsFile(keysFolder), {
    ...secrets,
    RECORD_KEY: secrets.RECORD_KEY.split(",").slice(0, 2).join(","),
  });
}

async function rotate<T>([current, next, ...earlier]: readonly T[], make: () => Promise<T>): Promise<T[]> {
  return [next ?? (await make()), await make(), ...(current === undefined ? [] : [current]), ...earlier];
}

/** Keys of the environment come first, as those of the service. */
export async function loadIdentitySecrets(
  keysFolder: string,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<ProcessSecrets["identity"]> {
  const secrets = IdentitySecrets.parse(await readOrCreate(join(keysFolder, "identity.json"), makeIdentitySecrets));
  return {
    IDENTITY_KEYS: readSetting(environment, "IDENTITY_KEYS") ?? secrets.IDENTITY_KEYS,
    COOKIE_KEYS: readSetting(environment, "COOKIE_KEYS") ?? secrets.COOKIE_KEYS,
  };
}

async function loadAdminToken(keysFolder: string): Promise<string> {
  return loadOrCreateToken(join(keysFolder, "identity-admin.json"));
}

/** For the operator, who reads the service's metrics. */
export async function loadMetricsToken(keysFolder: string): Promise<string> {
  return loadOrCreateToken(join(keysFolder, "metrics.json"));
}

async function loadOrCreateToken(file: string): Promise<string> {
  return Token.parse(await readOrCreate(file, async () => ({ token: randomBytes(32).toString("base64url") }))).token;
}

export async function loadDemoAccount(keysFolder: string): Promise<DemoAccount> {
  return DemoAccount.parse(await readOrCreate(join(keysFolder, "demo-account.json"), makeDemoAccount));
}

const makeRecordKey = (): string => randomBytes(32).toString("base64url");

/** The second of each is known in advance, so that no process meets an unknown key. */
async function makeServiceSecrets(): Promise<z.infer<typeof ServiceSecrets>> {
  return {
    SESSION_KEYS: { keys: [await generateKey(), await generateKey()] },
    RECORD_KEY: [makeRecordKey(), makeRecordKey()].join(","),
  };
}

/**
 * Runs the identity provider's own generator in a process, because tooling may not import `api`.
 */
async function makeIdentitySecrets(): Promise<unknown> {
  const script =
    'import { generateIdentityKeys } from "./api/src/identity/generate-keys.ts"; console.log(JSON.stringify(await generateIdentityKeys()));';
  const { stdout } = await execFileAsync(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: rootFolder,
  });
  return JSON.parse(stdout);
}

async function makeDemoAccount(): Promise<DemoAccount> {
  return { username: "demo", email: "demo@example.org", password: randomBytes(12).toString("base64url") };
}
