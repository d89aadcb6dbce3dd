/**
 * Compiles the package into `dist`, before `pnpm pack`, for teams outside this repository. Node
 * does not strip types in files below `node_modules`.
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
// The kit's tests of screens use the real texts of the host's frame.
cpSync(join(folder, "../host/src/locales"), join(dist, "testing/locales"), { recursive: true });
