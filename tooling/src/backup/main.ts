/**
 * `npm run backup <folder>`, `npm run restore <folder> [state]`, `npm run backup:check [folder]`:
 * docs/operations.md, "Backups". Environment: that of `npm start`, and `OBJECTS_URL`.
 */
import { resolve } from "node:path";

import { DatabaseUnavailable } from "../database/programs.ts";
import { Complaint } from "../start/complaint.ts";
import { checkBackup, checkSystem } from "./check.ts";
import { makeBackup } from "./make.ts";
import type { Findings } from "./objects.ts";
import { restoreBackup } from "./restore.ts";
import { openSystem, openTarget, type System } from "./system.ts";

/** npm runs scripts in the checkout; paths are meant from where the person is. */
const from = process.env["INIT_CWD"] ?? process.cwd();
const environment = { ...process.env, ...meant("DATA_DIR"), ...meant("OBJECTS_URL") };
const [act, folder, state] = process.argv.slice(2);

function meant(name: string): Readonly<Record<string, string>> {
  const path = process.env[name] ?? "";
  return path === "" || path.startsWith("file://") ? {} : { [name]: resolve(from, path) };
}

async function within<T>(system: Promise<System>, work: (system: System) => Promise<T>): Promise<T> {
  const open = await system;
  try {
    return await work(open);
  } finally {
    await open.close();
  }
}

const acts: Readonly<Record<string, () => Promise<boolean>>> = {
  make: () =>
    within(openSystem(environment), async (system) => {
      const { name, state: made, copied, damaged } = await makeBackup(system, backupFolder());
      for (const key of damaged) console.log(`damaged  ${key}`);
      const rows = [made.databases.service, made.databases.identity]
        .flatMap((database) => database?.tables ?? [])
        .reduce((sum, table) => sum + table.rows, 0);
      console.log(
        `State ${name}: ${String(rows)} rows, ${String(made.objects.count)} objects (${String(copied)} new${damaged.length > 0 ? `, ${String(damaged.length)} damaged` : ""}).`,
      );
      if (system.databaseUrls.identity === null)
        console.log("The identity provider is your own: its accounts are not in here.");
      console.log(`Keys are not in here either: keep ${system.keys} apart from it.`);
      return damaged.length === 0;
    }),
  restore: () =>
    within(openTarget(environment), async (system) => {
      const { name, damaged } = await restoreBackup(system, backupFolder(), state);
      for (const key of damaged) console.log(`damaged  ${key}`);
      console.log(
        `Restored ${name}${damaged.length > 0 ? `, but for ${String(damaged.length)} objects` : ""}. Put the keys of that time into ${system.keys} before the first start.`,
      );
      return damaged.length === 0;
    }),
  check: async () =>
    report(
      folder === undefined ? await within(openSystem(environment), checkSystem) : await checkBackup(backupFolder()),
    ),
};

function backupFolder(): string {
  if (folder === undefined)
    throw new Complaint(
      "Say which folder: npm run backup <folder>, npm run restore <folder> [state], npm run backup:check [folder].",
    );
  return resolve(from, folder);
}

function report({ looked, missing, changed, leftOver }: Findings): boolean {
  for (const key of missing) console.log(`missing    ${key}`);
  for (const key of changed) console.log(`changed    ${key}`);
  for (const key of leftOver) console.log(`left over  ${key}`);
  console.log(
    `${String(looked)} looked at: ${String(missing.length)} missing, ${String(changed.length)} changed, ${String(leftOver.length)} left over.`,
  );
  return missing.length === 0 && changed.length === 0;
}

try {
  const work = acts[act ?? ""];
  if (work === undefined) throw new Complaint(`Say what to do: ${Object.keys(acts).join(", ")}.`);
  process.exitCode = (await work()) ? 0 : 1;
} catch (error) {
  // A Complaint is written for the person; anything else is a fault of ours, shown whole.
  console.error(error instanceof Complaint || error instanceof DatabaseUnavailable ? error.message : error);
  process.exitCode = 1;
}
