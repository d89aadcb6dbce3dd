import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { z } from "zod";

const run = promisify(execFile);
const root = path.join(import.meta.dirname, "../..");
const pnpmArguments = ["--yes", "pnpm@12.21.0"];

export interface ThirdPartyRemote {
  readonly folder: string;
  /** What the guide's command says; `ok` is false when it ended with an error. */
  readonly runBuild: () => Promise<{ readonly ok: boolean; readonly output: string }>;
  readonly types: () => Promise<{ readonly ok: boolean; readonly output: string }>;
  /** Its tests: the conformance kit. */
  readonly test: () => Promise<{ readonly ok: boolean; readonly output: string }>;
  /** Of a file that is not there yet the text is empty. */
  readonly change: (file: string, edit: (text: string) => string) => Promise<void>;
  /**
   * Puts the pages of `e2e/fixtures/third-party-remote`, which use of the shared packages what no
   * page of ours does, in the place of the template's.
   */
  readonly copyFixture: () => Promise<void>;
  readonly remove: () => Promise<void>;
}

/**
 * A remote that the command of the guide (docs/remotes.md) makes in a folder outside the workspace,
 * installed, with nothing else of this repository.
 */
export async function createThirdPartyRemote(): Promise<ThirdPartyRemote> {
  const folder = await mkdtemp(path.join(tmpdir(), "third-party-remote-"));
  await run(process.execPath, [path.join(root, "tooling/bin/create-relicario-remote.mjs"), folder, "--name", "garden"]);
  await run("npx", [...pnpmArguments, "install", "--prefer-offline", "--no-frozen-lockfile"], {
    cwd: folder,
    env: { ...process.env, CI: "true" },
  });

  const change: ThirdPartyRemote["change"] = async (file, edit) => {
    const target = path.join(folder, file);
    await writeFile(target, edit(existsSync(target) ? await readFile(target, "utf8") : ""));
  };
  /**
   * As somebody types it there: with the machine's own Node, not the one that comes with this
   * workspace.
   */
  const runScript = async (script: string) => {
    const pathEntries = (process.env["PATH"] ?? "")
      .split(path.delimiter)
      .filter((pathEntry) => !pathEntry.includes("node_modules"));
    try {
      const { stdout, stderr } = await run("npx", [...pnpmArguments, script], {
        cwd: folder,
        env: { ...process.env, PATH: pathEntries.join(path.delimiter), NODE_OPTIONS: "" },
      });
      return { ok: true, output: stdout + stderr };
    } catch (error) {
      const { stdout, stderr } = z.object({ stdout: z.string(), stderr: z.string() }).parse(error);
      return { ok: false, output: stdout + stderr };
    }
  };
  return {
    folder,
    runBuild: () => runScript("build"),
    test: () => runScript("test"),
    types: () => runScript("types"),
    change,
    copyFixture: async () => {
      await rm(path.join(folder, "src/page"), { recursive: true });
      await cp(path.join(import.meta.dirname, "../fixtures/third-party-remote"), folder, { recursive: true });
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
