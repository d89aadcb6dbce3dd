import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { z } from "zod";

const run = promisify(execFile);
const root = path.join(import.meta.dirname, "../..");
const pnpm = ["--yes", "pnpm@12.21.0"];

export interface StrangersRemote {
  readonly folder: string;
  /** What the guide's command says; `ok` is false when it ended with an error. */
  readonly build: () => Promise<{ readonly ok: boolean; readonly said: string }>;
  readonly types: () => Promise<{ readonly ok: boolean; readonly said: string }>;
  /** Its tests: the conformance kit. */
  readonly test: () => Promise<{ readonly ok: boolean; readonly said: string }>;
  /** Of a file that is not there yet the text is empty. */
  readonly change: (file: string, edit: (text: string) => string) => Promise<void>;
  /**
   * Puts the pages of `e2e/fixtures/strangers-remote`, which use of the shared packages what no
   * page of ours does, in the place of the template's.
   */
  readonly takeFixture: () => Promise<void>;
  readonly remove: () => Promise<void>;
}

/**
 * A remote that the command of the guide (docs/remotes.md) makes in a folder outside the workspace,
 * installed, with nothing else of this repository.
 */
export async function strangersRemote(): Promise<StrangersRemote> {
  const folder = await mkdtemp(path.join(tmpdir(), "strangers-remote-"));
  await run(process.execPath, [path.join(root, "tooling/bin/create-relicario-remote.mjs"), folder, "--name", "garden"]);
  await run("npx", [...pnpm, "install", "--prefer-offline", "--no-frozen-lockfile"], {
    cwd: folder,
    env: { ...process.env, CI: "true" },
  });

  const change: StrangersRemote["change"] = async (file, edit) => {
    const target = path.join(folder, file);
    await writeFile(target, edit(existsSync(target) ? await readFile(target, "utf8") : ""));
  };
  /**
   * As somebody types it there: with the machine's own Node, not the one that comes with this
   * workspace.
   */
  const inFolder = async (script: string) => {
    const programs = (process.env["PATH"] ?? "").split(path.delimiter).filter((each) => !each.includes("node_modules"));
    try {
      const { stdout, stderr } = await run("npx", [...pnpm, script], {
        cwd: folder,
        env: { ...process.env, PATH: programs.join(path.delimiter), NODE_OPTIONS: "" },
      });
      return { ok: true, said: stdout + stderr };
    } catch (error) {
      const { stdout, stderr } = z.object({ stdout: z.string(), stderr: z.string() }).parse(error);
      return { ok: false, said: stdout + stderr };
    }
  };
  return {
    folder,
    build: () => inFolder("build"),
    test: () => inFolder("test"),
    types: () => inFolder("types"),
    change,
    takeFixture: async () => {
      await rm(path.join(folder, "src/page"), { recursive: true });
      await cp(path.join(import.meta.dirname, "../fixtures/strangers-remote"), folder, { recursive: true });
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
