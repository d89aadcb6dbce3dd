import { mkdir } from "node:fs/promises";
import { join } from "node:path";

import type { Client } from "pg";

import { Complaint } from "../start/complaint.ts";
import { copyChecked, filesBelow, syncFolders } from "./files.ts";
import { connect } from "./lease.ts";
import { copyRowsIn, damagedRows, isEmpty, prepareTables } from "./rows.ts";
import {
  databaseNames,
  objectsFolder,
  readList,
  readState,
  stateNames,
  statesFolder,
  type DatabaseName,
  type DatabaseState,
  type NamedObject,
  type State,
} from "./state.ts";
import type { System } from "./system.ts";

export interface Restored {
  readonly name: string;
  readonly state: State;
  /** Keys of objects that the backup has not got, or not as they were. */
  readonly damaged: readonly string[];
}

interface Target {
  readonly database: DatabaseName;
  readonly url: string;
  readonly client: Client;
  readonly kept: DatabaseState;
}

/**
 * Puts a state into an empty place: objects first, then the rows that name them, committed when all
 * are loaded. One that broke off can be started again.
 *
 * @param wanted a state's name; the newest when undefined
 * @throws Complaint when there is no such state, when the place is not empty, or for rows that are
 *   not what was written
 */
export async function restoreBackup(
  { databaseUrls, objects }: Pick<System, "databaseUrls" | "objects">,
  backup: string,
  wanted?: string,
): Promise<Restored> {
  const names = await stateNames(backup);
  const name = wanted ?? names.at(-1);
  if (name === undefined || !names.includes(name))
    throw new Complaint(`${backup} holds no ${wanted === undefined ? "backup" : `state ${wanted}`}.`);
  const state = await readState(backup, name);
  const list = await readList(backup, name, state);
  await refuseOthers(objects, list);
  const targets: Target[] = [];
  try {
    for (const database of databaseNames) {
      const [url, kept] = [databaseUrls[database], state.databases[database]];
      if (kept === undefined) continue;
      const { missing, changed } = await damagedRows(database, kept, join(statesFolder(backup), name));
      const [damaged] = [...missing, ...changed];
      if (damaged !== undefined) throw new Complaint(`${damaged} is not what was written.`);
      if (url === null)
        throw new Complaint("The backup has rows of the identity provider: set IDENTITY_DATABASE_URL too.");
      targets.push({ database, url, client: await connect(url), kept });
    }
    for (const { client, database } of targets)
      if (!(await isEmpty(client, database)))
        throw new Complaint(`The database of ${database} is not empty: restore into a new one.`);
    await Promise.all(targets.map(({ client, url, database, kept }) => prepareTables(client, url, database, kept)));
    const damaged = await copyBack(backup, objects, list);
    for (const { client, database, kept } of targets) {
      await client.query("begin");
      await copyRowsIn(client, database, kept, join(statesFolder(backup), name));
    }
    for (const { client } of targets) await client.query("commit");
    return { name, state, damaged };
  } finally {
    for (const { client } of targets) await client.end();
  }
}

async function refuseOthers(folder: string, list: readonly NamedObject[]): Promise<void> {
  const ours = new Set(list.map(({ key }) => key));
  const others = (await filesBelow(folder)).filter((path) => !ours.has(path.replace(/\.[0-9a-f]{12}\.tmp$/, "")));
  if (others.length > 0)
    throw new Complaint(
      `${folder} is not empty (${String(others.length)} objects that are not of this backup): restore into a new folder.`,
    );
}

async function copyBack(backup: string, folder: string, list: readonly NamedObject[]): Promise<string[]> {
  const damaged: string[] = [];
  const files: string[] = [];
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const object of list) {
    const file = join(folder, object.key);
    const { fits } = await copyChecked(join(objectsFolder(backup), object.key), file, object);
    if (fits) files.push(file);
    else damaged.push(object.key);
  }
  await syncFolders(folder, files);
  return damaged;
}
