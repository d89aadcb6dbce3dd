import { startDatabaseServer, type DatabaseServer } from "../database/embedded.ts";
import type { Child } from "./child.ts";
import { UserFacingError } from "../user-facing-error.ts";

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
  readonly onUnexpectedExit: (name: string, reason: string) => void;
}

export function createDatabaseChild({ folder, onUnexpectedExit }: DatabaseChildSettings): DatabaseChild {
  const name = "database";
  let lastDatabase: DatabaseServer | null = null;
  let current: { readonly database: DatabaseServer; stopRequested: boolean } | null = null;

  const requireDatabase = (): DatabaseServer => {
    if (lastDatabase === null) throw new TypeError("the database was never started");
    return lastDatabase;
  };

  /** One at a time, whoever asks; it can be ended only once it runs. */
  let starting: Promise<void> | null = null;
  const start = (): Promise<void> =>
    (starting ??= startOnce().finally(() => {
      starting = null;
    }));

  async function startOnce(): Promise<void> {
    if (current !== null) return;
    const database = await startDatabaseServer(
      lastDatabase === null ? { folder } : { folder, port: lastDatabase.port },
    ).catch((error: unknown) => {
      throw error instanceof Error && error.name === "DatabaseUnavailable"
        ? new UserFacingError(error.message, { cause: error })
        : error;
    });
    const started = { database, stopRequested: false };
    [lastDatabase, current] = [database, started];
    void database.ended.then((reason) => {
      if (current === started) current = null;
      if (!started.stopRequested) onUnexpectedExit(name, reason);
    });
  }

  async function end(method: "stop" | "kill"): Promise<void> {
    await starting?.catch(() => undefined); // whoever started it is told
    if (current === null) return;
    current.stopRequested = true;
    await current.database[method]();
    current = null;
  }

  return {
    name,
    port: () => requireDatabase().port,
    isRunning: () => current !== null,
    start,
    stop: () => end("stop"),
    kill: () => end("kill"),
    url: (database) => requireDatabase().url(database),
    createDatabase: (database) => requireDatabase().createDatabase(database),
  };
}
