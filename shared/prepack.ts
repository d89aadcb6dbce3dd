/**
 * What `pnpm pack` runs first: the package as teams outside this repository get it, in `dist`. Node
 * strips no types below `node_modules`.
 */
import { spawnSync } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import { join } from "node:path";

const folder = import.meta.dirname;
const dist = join(folder, "dist");

rmSync(dist, { recursive: true, force: true });
const { status } = spawnSync("tsc", ["-p", "tsconfig.build.json"], {
  cwd: folder,
  stdio: "inherit",
  shell: process.platform === "win32",
});
if (status !== 0) process.exit(status ?? 1);
// Screens are tested with the real texts of the frame around them.
cpSync(join(folder, "../host/src/locales"), join(dist, "testing/locales"), { recursive: true });
