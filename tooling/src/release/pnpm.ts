import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

import { z } from "zod";

import { rootFolder } from "../paths.ts";

/** Name and version of the checkout's pnpm. */
export function readPinnedPnpm(): string {
  return z
    .object({ config: z.object({ pnpm: z.string() }) })
    .parse(JSON.parse(readFileSync(join(rootFolder, "package.json"), "utf8"))).config.pnpm;
}

/**
 * Runs pnpm, the checkout's by default.
 *
 * @throws Error with its output
 */
export async function runPnpm(
  folder: string,
  args: readonly string[],
  pnpm: string = readPinnedPnpm(),
): Promise<string> {
  const environment = { ...process.env, CI: "true" };
  const { stdout } = await promisify(execFile)("npx", ["--yes", pnpm, ...args], {
    cwd: folder,
    env: environment,
    maxBuffer: 64 * 1024 * 1024,
    shell: process.platform === "win32",
  });
  return stdout;
}
