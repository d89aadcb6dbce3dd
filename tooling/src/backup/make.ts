import { mkdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";

import { Complaint } from "../start/complaint.ts";
import { takeLock } from "../start/lock.ts";
import { copyChecked, digestOfFile, filesBelow, keepFile, syncFolders } from "./files.ts";
import { connect, takeLease } from "./lease.ts";
import { objectsOfRows, type RowObject } from "./objects.ts";
import { copyRowsOut } from "./rows.ts";
import {
  lineOf,
  listFile,
  objectsFolder,
  readList,
  readState,
  stateNames,
  statesFolder,
  unfinished,
  type DatabaseState,
  type NamedObject,
  type State,
} from "./state.ts";
import type { System } from "./system.ts";

export interface MadeBackup {
  readonly name: string;
  readonly state: State;
  /** Objects that were not there before. */
  readonly copied: number;
  /** Keys of objects that rows name, and that are missing or changed in the system. */
  readonly damaged: readonly string[];
}

/*
 * [Note: Backup] The portal may run, write and delete meanwhile.
 *
 * 1. The lease: no object is deleted until it is given back.
 * 2. The service's rows, all of one moment, with the list of objects that they name. Every one of
 *    them was there then.
 * 3. The provider's rows, of a later moment: everybody whom the service knows is there.
 * 4. The objects that the backup has not got yet: they never change. Each is compared with its
 *    digest.
 * 5. The lease was not lost. The state gets its name, and objects that no state names go.
 */
export async function makeBackup(
  { databaseUrls, objects }: Pick<System, "databaseUrls" | "objects">,
  backup: string,
  now = new Date(),
): Promise<MadeBackup> {
  await mkdir(backup, { recursive: true, mode: 0o700 });
  const lock = takeLock(join(backup, "running.lock"));
  if ("heldBy" in lock) throw new Complaint(`Process ${String(lock.heldBy.pid)} is writing to ${backup}.`);
  try {
    const name = now.toISOString().replaceAll(":", "-");
    const state = join(statesFolder(backup), unfinished);
    await rm(state, { recursive: true, force: true });
    await mkdir(state, { recursive: true, mode: 0o700 });
    const lease = await takeLease(databaseUrls.service);
    try {
      await lease.client.query("begin isolation level repeatable read read only");
      const service = await copyRowsOut(lease.client, "service", state);
      const named = await objectsOfRows(lease.client);
      await lease.client.query("commit");
      const identity = databaseUrls.identity === null ? null : await copyIdentity(databaseUrls.identity, state);
      const { kept, copied, damaged } = await copyObjects(objects, backup, named);
      await lease.confirm();
      const list = await keepFile(textStream(kept.map(lineOf)), listFile(state));
      const bytes = kept.reduce((sum, { size }) => sum + size, 0);
      const written: State = {
        v: 1,
        made_at: now.toISOString(),
        databases: { service, ...(identity === null ? {} : { identity }) },
        objects: { count: kept.length, bytes, sha256: list.sha256 },
      };
      await keepFile(textStream([JSON.stringify(written, null, 2)]), join(state, "state.json"));
      await syncFolders(
        state,
        (await filesBelow(state)).map((file) => join(state, file)),
      );
      await rename(state, join(statesFolder(backup), name));
      await syncFolders(backup, [join(statesFolder(backup), name)]);
      await dropUnnamed(backup);
      return { name, state: written, copied, damaged };
    } finally {
      await lease.release();
    }
  } finally {
    lock.release();
  }
}

const textStream = (lines: readonly string[]): Readable =>
  Readable.from(
    lines.map((line) => Buffer.from(line)),
    { objectMode: false },
  );

async function copyIdentity(url: string, state: string): Promise<DatabaseState> {
  const client = await connect(url);
  try {
    await client.query("begin isolation level repeatable read read only");
    return await copyRowsOut(client, "identity", state);
  } finally {
    await client.end();
  }
}

async function copyObjects(
  source: string,
  backup: string,
  named: readonly RowObject[],
): Promise<{ kept: NamedObject[]; copied: number; damaged: string[] }> {
  const kept: NamedObject[] = [];
  const damaged: string[] = [];
  const files: string[] = [];
  const there = new Set(await filesBelow(objectsFolder(backup)));
  const noted = named.some(({ sha256 }) => sha256 === null) ? await notedDigests(backup) : null;
  for (const object of named) {
    const file = join(objectsFolder(backup), object.key);
    if (there.has(object.key)) {
      // Written by a backup before, under this name only when it was right: a copy that changed
      // since must not become right.
      kept.push({
        ...object,
        sha256: object.sha256 ?? noted?.get(object.key) ?? (await digestOfFile(file))?.sha256 ?? "",
      });
      continue;
    }
    const { facts, fits } = await copyChecked(join(source, object.key), file, object);
    if (fits && facts !== null) files.push(file);
    else damaged.push(object.key);
    kept.push({ ...object, sha256: object.sha256 ?? (fits ? facts?.sha256 : null) ?? "" });
  }
  await mkdir(objectsFolder(backup), { recursive: true, mode: 0o700 });
  await syncFolders(objectsFolder(backup), files);
  return { kept, copied: files.length, damaged };
}

/**
 * By key, of objects that were found at some time: as the state says that was the first to have
 * each.
 */
async function notedDigests(backup: string): Promise<Map<string, string>> {
  const noted = new Map<string, string>();
  for (const name of await stateNames(backup)) {
    const list = await readState(backup, name)
      .then((state) => readList(backup, name, state))
      .catch(() => []); // dropUnnamed says that it is damaged
    for (const { key, sha256 } of list) if (sha256 !== "" && !noted.has(key)) noted.set(key, sha256);
  }
  return noted;
}

/** Objects of states that somebody removed. */
async function dropUnnamed(backup: string): Promise<void> {
  const named = new Set<string>();
  for (const name of await stateNames(backup))
    for (const { key } of await readList(backup, name, await readState(backup, name))) named.add(key);
  for (const key of await filesBelow(objectsFolder(backup)))
    if (!named.has(key)) await rm(join(objectsFolder(backup), key));
}
