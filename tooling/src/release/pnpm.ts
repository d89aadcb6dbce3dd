import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

import { z } from "zod";

import { rootFolder } from "../paths.ts";

/**
 * Runs the pinned pnpm.
 *
 * @throws Error with its output
 */
export async function runPnpm(folder: string, args: readonly string[]): Promise<string> {
  const { config } = z
    .object({ config: z.object({ pnpm: z.string() }) })
    .parse(JSON.parse(readFileSync(join(rootFolder, "package.json"), "utf8")));
  const environment = { ...process.env, CI: "true" };
  const { stdout } = await promisify(execFile)("npx", ["--yes", config.pnpm, ...args], {
    cwd: folder,
    env: environment,
    maxBuffer: 64 * 1024 * 1024,
    shell: process.platform === "win32",
  });
  return stdout;
}
