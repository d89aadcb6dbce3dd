import { openDatabase, type Db } from "../db/database.ts";
import { factsOf } from "../http/logging.ts";

/**
 * What the operator typed is wrong; the message says it in one line, `exitCode` in sysexits.h's
 * words.
 */
export class CommandError extends Error {
  readonly exitCode: number;
  constructor(message: string, exitCode: number) {
    super(message);
    this.exitCode = exitCode;
  }
}

/**
 * Runs a command of the operator with the words behind its name, and prints what `work` says. It
 * asks for DATABASE_URL alone.
 */
export function runCommand(name: string, work: (db: Db, words: readonly string[]) => Promise<string>): void {
  runOnDatabase(name, work).then(
    (said) => process.stdout.write(`${said}\n`),
    (error: unknown) => {
      const known = error instanceof CommandError;
      process.stderr.write(known ? `${error.message}\n` : `${name}: failed ${JSON.stringify(factsOf(error))}\n`);
      process.exitCode = known ? error.exitCode : 1;
    },
  );
}

async function runOnDatabase(
  name: string,
  work: (db: Db, words: readonly string[]) => Promise<string>,
): Promise<string> {
  const url = process.env["DATABASE_URL"];
  if (url === undefined) throw new CommandError(`${name}: DATABASE_URL is missing`, 78);
  // an idle connection that is lost is no news here
  const database = openDatabase({ url, seconds: 10 }, () => undefined);
  try {
    return await work(database.db, process.argv.slice(2));
  } finally {
    await database.close();
  }
}
