import { startDatabase, type Database } from "../database/embedded.ts";
import type { Child } from "./child.ts";
import { Complaint } from "./complaint.ts";

/**
 * The embedded PostgreSQL server as a part of the portal: it keeps its port, and so its address,
 * over restarts.
 */
export interface DatabaseChild extends Child {
  /** Address of one of its databases, password included. Only while or after it ran. */
  readonly url: (database: string) => string;
  readonly createDatabase: (name: string) => Promise<void>;
}

export interface DatabaseChildSettings {
  readonly folder: string;
  /** It ended, and nobody had asked it to. */
  readonly onDeath: (name: string, how: string) => void;
}

export function createDatabaseChild({ folder, onDeath }: DatabaseChildSettings): DatabaseChild {
  const name = "database";
  let last: Database | null = null;
  let running: { readonly database: Database; asked: boolean } | null = null;

  const known = (): Database => {
    if (last === null) throw new TypeError("the database was never started");
    return last;
  };

  /** One at a time, whoever asks; it can be ended only once it runs. */
  let starting: Promise<void> | null = null;
  const start = (): Promise<void> =>
    (starting ??= startNow().finally(() => {
      starting = null;
    }));

  async function startNow(): Promise<void> {
    if (running !== null) return;
    const database = await startDatabase(last === null ? { folder } : { folder, port: last.port }).catch(
      (error: unknown) => {
        throw error instanceof Error && error.name === "DatabaseUnavailable"
          ? new Complaint(error.message, { cause: error })
          : error;
      },
    );
    const mine = { database, asked: false };
    [last, running] = [database, mine];
    void database.ended.then((how) => {
      if (running === mine) running = null;
      if (!mine.asked) onDeath(name, how);
    });
  }

  async function end(how: "stop" | "kill"): Promise<void> {
    await starting?.catch(() => undefined); // whoever started it is told
    if (running === null) return;
    running.asked = true;
    await running.database[how]();
    running = null;
  }

  return {
    name,
    port: () => known().port,
    running: () => running !== null,
    start,
    stop: () => end("stop"),
    kill: () => end("kill"),
    url: (database) => known().url(database),
    createDatabase: (database) => known().createDatabase(database),
  };
}
