/*
 * [Note: Backup folder]
 *
 * states/<time>/state.json what the state holds, with a digest of each file below
 * states/<time>/<database>/* rows, one file for a table, as PostgreSQL's COPY writes them
 * states/<time>/objects one line for each object: key, bytes, SHA-256 (hex), separated by tabs
 * objects/<key> the objects of all states
 *
 * A state is made under `.unfinished` and gets its name when everything that it names is there.
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
  /** What was applied when the rows were taken: they fit a database with exactly these. */
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

/** An object as a state names it. `sha256` is hex. */
export interface BackedUpObject {
  readonly key: string;
  /** Bytes. */
  readonly size: number;
  readonly sha256: string;
}

export const getStatesFolder = (backupFolder: string): string => join(backupFolder, "states");
export const getObjectsFolder = (backupFolder: string): string => join(backupFolder, "objects");
export const unfinishedStateName = ".unfinished";

/** The names of the states of a backup, oldest first. */
export async function listStateNames(backupFolder: string): Promise<string[]> {
  const names = await readdir(getStatesFolder(backupFolder)).catch((error: unknown) => {
    if (getErrorCode(error) === "ENOENT") return [];
    throw error;
  });
  return names.filter((name) => !name.startsWith(".")).sort();
}

/** @throws UserFacingError when it is not one that this release reads. */
export async function readState(backupFolder: string, name: string): Promise<BackupState> {
  const file = join(getStatesFolder(backupFolder), name, "state.json");
  try {
    return BackupState.parse(JSON.parse(await readFile(file, "utf8")));
  } catch (cause) {
    throw new UserFacingError(`${file} is not a state of a backup that this release reads.`, { cause });
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
 * The objects that a state names. @throws UserFacingError when the list is not what was written.
 */
export async function readObjectList(
  backupFolder: string,
  name: string,
  state: BackupState,
): Promise<BackedUpObject[]> {
  const file = getObjectListFile(join(getStatesFolder(backupFolder), name));
  if ((await hashFile(file))?.sha256 !== state.objects.sha256)
    throw new UserFacingError(`${file} is not what was written.`);
  const lines = (await readFile(file, "utf8")).split("\n").slice(0, -1);
  return lines.map((line) => {
    const [key = "", size, sha256 = ""] = line.split("\t");
    return { key, size: Number(size), sha256 };
  });
}
