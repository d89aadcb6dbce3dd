/*
 * [Note: Backup folder]
 *
 * states/<time>/state.json: what the state holds, with a digest of each file below
 * states/<time>/state.json.sha256: its own digest (hex)
 * states/<time>/<database>/*: rows, one file for each table, in the format of PostgreSQL's COPY
 * states/<time>/objects: one line for each object: key, bytes, SHA-256 (hex), separated by tabs
 * objects/<key>: the objects of all states
 *
 * A state is written as `.unfinished`, and renamed when everything that it references exists.
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

import { z } from "zod";

import { getErrorCode } from "../error-code.ts";
import { UserFacingError } from "../user-facing-error.ts";
import { hashFile } from "./files.ts";

const HexDigest = z.string().regex(/^[0-9a-f]{64}$/);

export const databaseNames = ["service", "identity"] as const;
export type DatabaseName = (typeof databaseNames)[number];

const Table = z.strictObject({
  schema: z.string().min(1),
  name: z.string().min(1),
  columns: z.array(z.string().min(1)).min(1),
  rows: z.int().nonnegative(),
  sha256: HexDigest,
});
export type Table = z.infer<typeof Table>;

const DatabaseState = z.strictObject({
  /** Migrations that were applied: the rows fit only a database with exactly these. */
  migrations: z.array(z.string()).min(1),
  tables: z.array(Table),
});
export type DatabaseState = z.infer<typeof DatabaseState>;

const BackupState = z.strictObject({
  v: z.literal(1),
  made_at: z.iso.datetime(),
  databases: z.strictObject({ service: DatabaseState, identity: DatabaseState.optional() }),
  objects: z.strictObject({ count: z.int().nonnegative(), bytes: z.int().nonnegative(), sha256: HexDigest }),
});
export type BackupState = z.infer<typeof BackupState>;

/** An object of a state. `sha256` is hex, or empty when the object was never read. */
export interface BackedUpObject {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  readonly sha256: string;
}

export const getStatesFolder = (backupFolder: string): string => join(backupFolder, "states");
export const getObjectsFolder = (backupFolder: string): string => join(backupFolder, "objects");
export const unfinishedStateName = ".unfinished";

/** Names of all states, oldest first. */
export async function listStateNames(backupFolder: string): Promise<string[]> {
  const names = await readdir(getStatesFolder(backupFolder)).catch((error: unknown) => {
    if (getErrorCode(error) === "ENOENT") return [];
    throw error;
  });
  return names.filter((name) => !name.startsWith(".")).sort();
}

/** A file of a backup is not the one that was written. */
export class DamagedFileError extends UserFacingError {
  override readonly name = "DamagedFileError";
  readonly file: string;
  readonly isMissing: boolean;

  constructor(file: string, isMissing: boolean) {
    super(`${file} ${isMissing ? "is missing" : "was changed"}.`);
    this.file = file;
    this.isMissing = isMissing;
  }
}

/** @throws DamagedFileError */
async function assertIntact(file: string, sha256: string): Promise<void> {
  const digest = await hashFile(file);
  if (digest?.sha256 !== sha256) throw new DamagedFileError(file, digest === null);
}

export const getStateFile = (stateFolder: string): string => join(stateFolder, "state.json");
export const getStateDigestFile = (stateFolder: string): string => `${getStateFile(stateFolder)}.sha256`;

/** @throws DamagedFileError; UserFacingError when this release cannot read it */
export async function readState(backupFolder: string, name: string): Promise<BackupState> {
  const stateFolder = join(getStatesFolder(backupFolder), name);
  const file = getStateFile(stateFolder);
  const sha256 = await readFile(getStateDigestFile(stateFolder), "utf8").catch((error: unknown) => {
    throw getErrorCode(error) === "ENOENT" ? new DamagedFileError(getStateDigestFile(stateFolder), true) : error;
  });
  await assertIntact(file, sha256);
  try {
    return BackupState.parse(JSON.parse(await readFile(file, "utf8")));
  } catch (cause) {
    throw new UserFacingError(`${file} is not a state that this release can read.`, { cause });
  }
}

export const getTableFile = (
  stateFolder: string,
  database: DatabaseName,
  { schema, name }: Pick<Table, "schema" | "name">,
): string => join(stateFolder, database, `${schema}.${name}`);

export const getObjectListFile = (stateFolder: string): string => join(stateFolder, "objects");

export const formatObjectLine = ({ key, size, sha256 }: BackedUpObject): string =>
  `${key}\t${String(size)}\t${sha256}\n`;

/**
 * Reads the list of a state's objects.
 *
 * @throws DamagedFileError
 */
export async function readObjectList(
  backupFolder: string,
  name: string,
  state: BackupState,
): Promise<BackedUpObject[]> {
  const file = getObjectListFile(join(getStatesFolder(backupFolder), name));
  await assertIntact(file, state.objects.sha256);
  const lines = (await readFile(file, "utf8")).split("\n").slice(0, -1);
  return lines.map((line) => {
    const [key = "", size, sha256 = ""] = line.split("\t");
    return { key, size: Number(size), sha256 };
  });
}
