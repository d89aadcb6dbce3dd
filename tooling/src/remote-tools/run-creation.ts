import { basename, relative, resolve } from "node:path";
import { parseArgs } from "node:util";

import { UserFacingError } from "../user-facing-error.ts";

const usage = "create-relicario-remote <folder> [--name <name>] [--packages <folder of the packed packages>]";

/**
 * Reads the command line, creates the remote, and prints the next steps.
 *
 * @returns the exit code
 */
export async function runCreation(
  argv: readonly string[],
  create: (folder: string, name: string, packagesFolder: string | undefined) => Promise<void> | void,
): Promise<number> {
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      options: { name: { type: "string" }, packages: { type: "string" } },
      allowPositionals: true,
    });
    const [targetFolder, ...extraArguments] = positionals;
    if (targetFolder === undefined || extraArguments.length > 0) throw new UserFacingError(usage);
    const folder = resolve(process.env["INIT_CWD"] ?? process.cwd(), targetFolder);
    await create(folder, values.name ?? basename(folder), values.packages);
    console.log(
      `${relative(process.cwd(), folder)} is made. Next, in it:\n\n  pnpm install\n  pnpm build\n  pnpm test\n\nMore: docs/remotes.md.`,
    );
    return 0;
  } catch (error) {
    const isUserError = error instanceof UserFacingError || (error instanceof TypeError && "code" in error);
    console.error(isUserError ? error.message : error);
    return 1;
  }
}
