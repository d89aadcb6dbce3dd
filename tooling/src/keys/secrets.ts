/**
 * What the processes of one data folder need to know and nobody else: made once, kept in `keys`
 * (0600).
 */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { promisify } from "node:util";

import { z } from "zod";

import { generateKey, StoredKey } from "./development-keys.ts";
import { readOrCreate } from "./write-once.ts";
import { rootFolder } from "../paths.ts";

const execFileAsync = promisify(execFile);

const ServiceSecrets = z.strictObject({
  SESSION_KEYS: z.strictObject({ keys: z.array(StoredKey).min(1) }),
  RECORD_KEY: z.string(),
});
const IdentitySecrets = z.strictObject({ IDENTITY_KEYS: z.string(), COOKIE_KEYS: z.string() });
const Token = z.strictObject({ token: z.string() });
const DemoAccount = z.strictObject({ username: z.string(), email: z.string(), password: z.string() });
export type DemoAccount = z.infer<typeof DemoAccount>;

export interface Secrets {
  readonly service: { readonly SESSION_KEYS: string; readonly RECORD_KEY: string };
  readonly identity: z.infer<typeof IdentitySecrets>;
  /** By which the service may change passwords at the embedded provider. */
  readonly identityAdminToken: string;
  readonly demo: DemoAccount;
}

export async function loadSecrets(keysFolder: string): Promise<Secrets> {
  const [service, identity, identityAdminToken, demo] = await Promise.all([
    loadServiceSecrets(keysFolder),
    loadIdentitySecrets(keysFolder),
    loadAdminToken(keysFolder),
    loadDemoAccount(keysFolder),
  ]);
  return { service, identity, identityAdminToken, demo };
}

export async function loadServiceSecrets(keysFolder: string): Promise<Secrets["service"]> {
  const { SESSION_KEYS, RECORD_KEY } = ServiceSecrets.parse(
    await readOrCreate(join(keysFolder, "service.json"), makeServiceSecrets),
  );
  return { SESSION_KEYS: JSON.stringify(SESSION_KEYS), RECORD_KEY };
}

export async function loadIdentitySecrets(keysFolder: string): Promise<Secrets["identity"]> {
  return IdentitySecrets.parse(await readOrCreate(join(keysFolder, "identity.json"), makeIdentitySecrets));
}

async function loadAdminToken(keysFolder: string): Promise<string> {
  return loadOrCreateToken(join(keysFolder, "identity-admin.json"));
}

/** By which the operator reads what the service measured. */
export async function loadMetricsToken(keysFolder: string): Promise<string> {
  return loadOrCreateToken(join(keysFolder, "metrics.json"));
}

async function loadOrCreateToken(file: string): Promise<string> {
  return Token.parse(await readOrCreate(file, async () => ({ token: randomBytes(32).toString("base64url") }))).token;
}

export async function loadDemoAccount(keysFolder: string): Promise<DemoAccount> {
  return DemoAccount.parse(await readOrCreate(join(keysFolder, "demo-account.json"), makeDemoAccount));
}

/** The first key signs sessions, the next is published already, so that rotation breaks nobody. */
async function makeServiceSecrets(): Promise<z.infer<typeof ServiceSecrets>> {
  return {
    SESSION_KEYS: { keys: [await generateKey(), await generateKey()] },
    RECORD_KEY: randomBytes(32).toString("base64url"),
  };
}

/**
 * The identity provider knows what its keys look like; it is asked in a process of its own, because
 * nobody imports `api`.
 */
async function makeIdentitySecrets(): Promise<unknown> {
  const script =
    'import { generateIdentityKeys } from "./api/src/identity/keys.ts"; console.log(JSON.stringify(await generateIdentityKeys()));';
  const { stdout } = await execFileAsync(process.execPath, ["--input-type=module", "--eval", script], {
    cwd: rootFolder,
  });
  return JSON.parse(stdout);
}

async function makeDemoAccount(): Promise<DemoAccount> {
  return { username: "demo", email: "demo@example.org", password: randomBytes(12).toString("base64url") };
}
