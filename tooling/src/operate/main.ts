/**
 * `npm run relicario -- …`: see docs/operations.md, "Keys" and "The object store". Environment: as
 * for `npm start`.
 */
import { execFile } from "node:child_process";
import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { promisify } from "node:util";

import { openStorage } from "../backup/portal-storage.ts";
import { DatabaseUnavailableError } from "../database/programs.ts";
import { tryLock } from "../keys/lock.ts";
import { forgetEarlierRecordKeys, loadServiceSecrets, rotateKey } from "../keys/process-secrets.ts";
import { rootFolder } from "../paths.ts";
import { readStartSettings } from "../start/settings.ts";
import { UserFacingError } from "../user-facing-error.ts";
import { moveObjects } from "./move-objects.ts";

const usage = `relicario keys rotate session   sign new sessions with the next key
relicario keys rotate record    seal image records with the next key
relicario keys reseal           seal all image records with the current key, and forget earlier ones
relicario objects move <from> <to>   copy all objects from one store to another`;

/** Paths are relative to the caller's folder; npm runs scripts in the checkout. */
const callerFolder = process.env["INIT_CWD"] ?? process.cwd();
const resolveAddress = (text: string): string => (/^(file|s3):\/\//.test(text) ? text : resolve(callerFolder, text));
const resolveFromCaller = (name: string): Readonly<Record<string, string>> => {
  const text = process.env[name] ?? "";
  return text === "" ? {} : { [name]: resolveAddress(text) };
};
const environment = { ...process.env, ...resolveFromCaller("DATA_DIR"), ...resolveFromCaller("OBJECTS_URL") };

async function rotate(name: "session" | "record"): Promise<string> {
  rejectKeysOfEnvironment(name === "session" ? "SESSION_KEYS" : "RECORD_KEY");
  await rotateKey(readKeysFolder(environment), name);
  return name === "session"
    ? "The next session key is the current one. Restart the portal; sessions that began with the earlier keys continue."
    : "The next record key is the current one. Restart the portal, then run: npm run relicario -- keys reseal";
}

async function reseal(): Promise<string> {
  const keysFolder = readKeysFolder(environment);
  const hasStoredKeys = (environment.RECORD_KEY ?? "") === "";
  if (hasStoredKeys && isPortalOlderThanKeys(readStartSettings(environment).dataDir))
    throw new UserFacingError("The running portal seals with an earlier key: restart it first.");
  const storage = await openStorage(environment);
  try {
    const { RECORD_KEY } = await loadServiceSecrets(keysFolder, environment);
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ["--disable-warning=ExperimentalWarning", join(rootFolder, "api/src/commands/reseal-command.ts")],
      { env: { PATH: process.env["PATH"], DATABASE_URL: storage.databaseUrls.service, RECORD_KEY } },
    );
    if (!hasStoredKeys) return `${stdout}Remove the earlier keys from RECORD_KEY at the next restart.`;
    await forgetEarlierRecordKeys(keysFolder);
    return `${stdout}The earlier keys are forgotten.`;
  } finally {
    await storage.close();
  }
}

/** A running portal read its keys when it took its lock. */
function isPortalOlderThanKeys(dataDir: string): boolean {
  const lockFile = join(dataDir, "running.lock");
  const lock = tryLock(lockFile);
  if ("heldBy" in lock) return statSync(lockFile).mtimeMs <= statSync(join(dataDir, "keys/service.json")).mtimeMs;
  lock.release();
  return false;
}

function rejectKeysOfEnvironment(name: string): void {
  if ((process.env[name] ?? "") !== "")
    throw new UserFacingError(`${name} is set: put a new key second there, and at the next restart first.`);
}

async function move(from: string, to: string): Promise<string> {
  const storage = await openStorage(environment);
  try {
    const { copiedCount, totalCount, damagedKeys } = await moveObjects(storage.databaseUrls.service, from, to);
    for (const key of damagedKeys) console.log(`damaged  ${key}`);
    if (damagedKeys.length > 0) process.exitCode = 1;
    return `${String(totalCount)} objects: ${String(copiedCount)} copied, ${String(damagedKeys.length)} damaged or missing.`;
  } finally {
    await storage.close();
  }
}

try {
  const words = process.argv.slice(2);
  const [from = "", to = ""] = words.slice(2).map(resolveAddress);
  const line = words.slice(0, 3).join(" ");
  if (line === "keys rotate session") console.log(await rotate("session"));
  else if (line === "keys rotate record") console.log(await rotate("record"));
  else if (line === "keys reseal") console.log(await reseal());
  else if (line.startsWith("objects move ") && words.length === 4) console.log(await move(from, to));
  else throw new UserFacingError(usage);
} catch (error) {
  // A UserFacingError is for the operator; anything else is a bug, shown with its stack.
  console.error(error instanceof UserFacingError || error instanceof DatabaseUnavailableError ? error.message : error);
  process.exitCode = 1;
}

function readKeysFolder(variables: NodeJS.ProcessEnv): string {
  return join(readStartSettings(variables).dataDir, "keys");
}
