/** `pnpm types`: checks all packages in one incremental run of TypeScript 7. */
import { spawnSync } from "node:child_process";
import { existsSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

import { rootFolder } from "../paths.ts";
import { packageFolders } from "../remotes.ts";

// TypeScript would not notice an updated dependency: it has a new path, and the file at its old
// path is unchanged.
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
