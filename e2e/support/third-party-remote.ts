import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";

import { z } from "zod";

const run = promisify(execFile);
const rootFolder = path.join(import.meta.dirname, "../..");
const npxArguments = ["--yes", "pnpm@12.21.0"];

export interface ThirdPartyRemote {
  readonly folder: string;
  /** Runs the guide's build command (docs/remotes.md). `ok` is false when the command fails. */
  readonly runBuild: () => Promise<{ readonly ok: boolean; readonly output: string }>;
  readonly checkTypes: () => Promise<{ readonly ok: boolean; readonly output: string }>;
  /** Makes a signing key, then signs what is built. `output` is the release's folder. */
  readonly sign: () => Promise<{ readonly ok: boolean; readonly output: string }>;
  /** Runs the conformance kit. */
  readonly runTests: () => Promise<{ readonly ok: boolean; readonly output: string }>;
  /** Edits a file; a missing one starts empty. */
  readonly editFile: (file: string, edit: (text: string) => string) => Promise<void>;
  /**
   * Replaces the template's pages by `e2e/fixtures/third-party-remote`, which uses parts of the
   * shared packages that no page of the portal uses.
   */
  readonly replacePagesWithFixture: () => Promise<void>;
  readonly remove: () => Promise<void>;
}

/**
 * Creates a remote with the packed packages and the guide's commands (docs/remotes.md) in a folder
 * outside the workspace, and installs its dependencies. Nothing else of this repository is there.
 */
export async function createThirdPartyRemote(): Promise<ThirdPartyRemote> {
  const folder = await mkdtemp(path.join(tmpdir(), "third-party-remote-"));
  const packages = await mkdtemp(path.join(tmpdir(), "third-party-packages-"));
  await run(process.execPath, [path.join(rootFolder, "tooling/src/remote-tools/pack-main.ts"), packages]);
  const tools = (await readdir(packages)).find((file) => file.startsWith("relicario-remote-tools-"));
  if (tools === undefined) throw new Error("the tools were not packed");
  await run("npx", [
    ...["--yes", "--package", path.join(packages, tools), "create-relicario-remote"],
    ...[folder, "--name", "garden", "--packages", packages],
  ]);
  await rm(packages, { recursive: true });
  await run("npx", [...npxArguments, "install", "--prefer-offline", "--no-frozen-lockfile"], {
    cwd: folder,
    env: { ...process.env, CI: "true" },
  });

  const editFile: ThirdPartyRemote["editFile"] = async (file, edit) => {
    const target = path.join(folder, file);
    await writeFile(target, edit(existsSync(target) ? await readFile(target, "utf8") : ""));
  };
  /** Runs a script with the machine's own Node, not this workspace's. */
  const runScript = async (...script: readonly string[]) => {
    const pathEntries = (process.env["PATH"] ?? "")
      .split(path.delimiter)
      .filter((pathEntry) => !pathEntry.includes("node_modules"));
    try {
      const { stdout, stderr } = await run("npx", [...npxArguments, ...script], {
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
    runTests: () => runScript("test"),
    sign: async () => {
      const key = await runScript("relicario-remote", "key");
      return key.ok ? runScript("relicario-remote", "sign") : key;
    },
    checkTypes: () => runScript("types"),
    editFile,
    replacePagesWithFixture: async () => {
      await rm(path.join(folder, "src/page"), { recursive: true });
      await cp(path.join(import.meta.dirname, "../fixtures/third-party-remote"), folder, { recursive: true });
    },
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
