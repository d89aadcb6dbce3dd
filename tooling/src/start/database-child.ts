import { startDatabaseServer, type DatabaseServer } from "../database/embedded.ts";
import type { Child } from "./child.ts";
import { UserFacingError } from "../user-facing-error.ts";

/** Keeps its port over restarts. */
export interface DatabaseChild extends Child {
  /** URL of a database, with the password. Only after the first start. */
  readonly getUrl: (database: string) => string;
  readonly createDatabase: (name: string) => Promise<void>;
}

export interface DatabaseChildSettings {
  readonly folder: string;
  /** Called when it ends without `stop` or `kill`. */
  readonly onUnexpectedExit: (name: string, reason: string) => void;
}

export function createDatabaseChild({ folder, onUnexpectedExit }: DatabaseChildSettings): DatabaseChild {
  const name = "database";
  let lastDatabase: DatabaseServer | null = null;
  let runningDatabase: { readonly database: DatabaseServer; stopRequested: boolean } | null = null;

  const requireDatabase = (): DatabaseServer => {
    if (lastDatabase === null) throw new TypeError("the database was never started");
    return lastDatabase;
  };

  /** The start under way, if any: concurrent calls share it, and `end` waits for it. */
  let startPromise: Promise<void> | null = null;
  const start = (): Promise<void> =>
    (startPromise ??= startOnce().finally(() => {
      startPromise = null;
    }));

  async function startOnce(): Promise<void> {
    if (runningDatabase !== null) return;
    const database = await startDatabaseServer(
      lastDatabase === null ? { folder } : { folder, port: lastDatabase.port },
    ).catch((error: unknown) => {
      throw error instanceof Error && error.name === "DatabaseUnavailableError"
        ? new UserFacingError(error.message, { cause: error })
        : error;
    });
    const startedDatabase = { database, stopRequested: false };
    [lastDatabase, runningDatabase] = [database, startedDatabase];
    void database.ended.then((reason) => {
      if (runningDatabase === startedDatabase) runningDatabase = null;
      if (!startedDatabase.stopRequested) onUnexpectedExit(name, reason);
    });
  }

  async function end(method: "stop" | "kill"): Promise<void> {
    await startPromise?.catch(() => undefined); // the caller of `start` gets the error
    if (runningDatabase === null) return;
    runningDatabase.stopRequested = true;
    await runningDatabase.database[method]();
    runningDatabase = null;
  }

  return {
    name,
    getPort: () => requireDatabase().port,
    isRunning: () => runningDatabase !== null,
    start,
    stop: () => end("stop"),
    kill: () => end("kill"),
    getUrl: (database) => requireDatabase().getUrl(database),
    createDatabase: (database) => requireDatabase().createDatabase(database),
  };
}
