import { existsSync } from "node:fs";
import { basename, join } from "node:path";

import { rootFolder } from "../paths.ts";
import { run } from "./run.ts";

/**
 * Builds a third-party program from Go's registry, unless it is here.
 *
 * @param path of its package, whose last part is the program's name
 * @throws Error without Go, or when the build fails
 */
export async function installGoProgram(path: string, version: string): Promise<string> {
  const name = basename(path);
  const folder = join(rootFolder, `.cache/go/${name}-${version}`);
  const program = join(folder, name);
  if (existsSync(program)) return program;
  console.log(`  Building ${name} ${version}, for a minute or two.`);
  const { code, output } = await run("go", ["install", `${path}@${version}`], { environment: { GOBIN: folder } });
  if (code !== 0) throw new Error(`${name} was not built. It needs Go: apt-get install golang.\n${output}`);
  return program;
}
