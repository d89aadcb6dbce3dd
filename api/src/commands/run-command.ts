import { describeError } from "@relicario/tooling/http";

import { openDatabase, type Db } from "../db/database.ts";

/** An operator's usage error, with a one-line message and an exit code from sysexits.h. */
export class CommandError extends Error {
  readonly exitCode: number;
  constructor(message: string, exitCode: number) {
    super(message);
    this.exitCode = exitCode;
  }
}

/**
 * Runs an operator's command with the arguments after its name and prints its result. Needs only
 * DATABASE_URL.
 */
export function runCommand(name: string, command: (db: Db, args: readonly string[]) => Promise<string>): void {
  runOnDatabase(name, command).then(
    (output) => process.stdout.write(`${output}\n`),
    (error: unknown) => {
      const isExpected = error instanceof CommandError;
      process.stderr.write(
        isExpected ? `${error.message}\n` : `${name}: failed ${JSON.stringify(describeError(error))}\n`,
      );
      process.exitCode = isExpected ? error.exitCode : 1;
    },
  );
}

async function runOnDatabase(
  name: string,
  command: (db: Db, args: readonly string[]) => Promise<string>,
): Promise<string> {
  const url = process.env["DATABASE_URL"];
  if (url === undefined) throw new CommandError(`${name}: DATABASE_URL is missing`, 78);
  // a lost idle connection needs no message here
  const database = openDatabase({ url, timeoutSeconds: 10 }, () => undefined);
  try {
    return await command(database.db, process.argv.slice(2));
  } finally {
    await database.close();
  }
}
