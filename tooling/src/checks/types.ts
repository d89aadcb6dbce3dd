/**
 * `pnpm types`: all packages in one run of TypeScript 7. What is unchanged since the last run is
 * not checked again.
 */
import { spawnSync } from "node:child_process";
import { existsSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

import { rootFolder } from "../paths.ts";
import { packageFolders } from "../remotes.ts";

// A package that was updated lies in another folder: TypeScript would find the former one
// unchanged, and look no further.
const installedAt = statSync(join(rootFolder, "node_modules/.pnpm/lock.yaml")).mtimeMs;
for (const folder of packageFolders) {
  const buildInfo = join(rootFolder, folder, "tsconfig.tsbuildinfo");
  if (existsSync(buildInfo) && statSync(buildInfo).mtimeMs < installedAt) rmSync(buildInfo);
}

const { status } = spawnSync(
  process.execPath,
  [
    join(rootFolder, "node_modules/typescript-7/bin/tsc"),
    "--build",
    "--incremental",
    "--singleThreaded",
    ...packageFolders,
  ],
  { cwd: rootFolder, stdio: "inherit" },
);
process.exitCode = status ?? 1;
