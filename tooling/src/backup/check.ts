import { join } from "node:path";

import { Complaint } from "../start/complaint.ts";
import { filesBelow } from "./files.ts";
import { takeLease } from "./lease.ts";
import { compareObjects, looseKeys, objectsOfRows, type Findings } from "./objects.ts";
import { damagedRows } from "./rows.ts";
import {
  databaseNames,
  objectsFolder,
  readList,
  readState,
  stateNames,
  statesFolder,
  type NamedObject,
} from "./state.ts";
import type { System } from "./system.ts";

/**
 * The rows of a system against its objects, while it may run: what is being written is in no
 * finding.
 */
export async function checkSystem({
  databaseUrls,
  objects,
}: Pick<System, "databaseUrls" | "objects">): Promise<Findings> {
  const lease = await takeLease(databaseUrls.service);
  try {
    const there = await filesBelow(objects); // before the rows: whatever is there then was announced before
    await lease.client.query("begin isolation level repeatable read read only");
    const named = await objectsOfRows(lease.client);
    const loose = await looseKeys(lease.client);
    await lease.client.query("commit");
    const findings = await compareObjects(objects, named, there, loose);
    await lease.confirm();
    return findings;
  } finally {
    await lease.release();
  }
}

/**
 * All states of a backup: their rows and their objects. Files of rows stand among the findings by
 * their path.
 */
export async function checkBackup(backup: string): Promise<Findings> {
  const names = await stateNames(backup);
  if (names.length === 0) throw new Complaint(`${backup} holds no backup.`);
  const objects = new Map<string, NamedObject>();
  const rows: Awaited<ReturnType<typeof damagedRows>>[] = [];
  for (const name of names) {
    const state = await readState(backup, name);
    for (const object of await readList(backup, name, state)) objects.set(object.key, object);
    for (const database of databaseNames) {
      const kept = state.databases[database];
      if (kept !== undefined) rows.push(await damagedRows(database, kept, join(statesFolder(backup), name)));
    }
  }
  const folder = objectsFolder(backup);
  const found = await compareObjects(folder, [...objects.values()], await filesBelow(folder));
  const all = [...rows, found];
  return {
    looked: all.reduce((sum, { looked }) => sum + looked, 0),
    missing: all.flatMap(({ missing }) => missing),
    changed: all.flatMap(({ changed }) => changed),
    leftOver: found.leftOver,
  };
}
