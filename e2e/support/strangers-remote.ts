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
const Packed = z.object({ peerDependencies: z.record(z.string(), z.string()), version: z.string() });
const Catalog = /^ {2}"?([@a-z0-9/_-]+)"?: (\d+\.\d+\.\d+\S*)$/gm;

export interface StrangersRemote {
  readonly folder: string;
  /** What `webpack` says; `ok` is false when it ended with an error. */
  readonly build: () => Promise<{ readonly ok: boolean; readonly said: string }>;
  readonly types: () => Promise<{ readonly ok: boolean; readonly said: string }>;
  /** Its tests: the conformance kit. */
  readonly test: () => Promise<{ readonly ok: boolean; readonly said: string }>;
  /** Of a file that is not there yet the text is empty. */
  readonly change: (file: string, edit: (text: string) => string) => Promise<void>;
  readonly remove: () => Promise<void>;
}

/** `e2e/fixtures/strangers-remote` in a folder outside the workspace, with the packed `shared` and what it asks for beside itself, and nothing else of this repository. */
export async function strangersRemote(): Promise<StrangersRemote> {
  const folder = await mkdtemp(path.join(tmpdir(), "strangers-remote-"));
  await cp(path.join(import.meta.dirname, "../fixtures/strangers-remote"), folder, { recursive: true });
  await run("npx", [...pnpm, "pack", "--pack-destination", folder], { cwd: path.join(root, "shared") });
  const shared: unknown = JSON.parse(await readFile(path.join(root, "shared/package.json"), "utf8"));
  const { peerDependencies, version } = Packed.parse(shared);
  const catalog = new Map([...(await readFile(path.join(root, "pnpm-workspace.yaml"), "utf8")).matchAll(Catalog)].map(([, name = "", pinned = ""]) => [name, pinned]));
  const change: StrangersRemote["change"] = async (file, edit) => {
    const target = path.join(folder, file);
    await writeFile(target, edit(existsSync(target) ? await readFile(target, "utf8") : ""));
  };
  await change("package.json", (text) => {
    const asked = [...Object.keys(peerDependencies), "@types/jest", "@types/node", "@types/react", "@types/react-dom", "jest", "typescript"];
    const dependencies = { "@relicario/shared": `file:./relicario-shared-${version}.tgz`, ...Object.fromEntries(asked.map((name) => [name, catalog.get(name) ?? "*"])) };
    return JSON.stringify({ ...z.record(z.string(), z.unknown()).parse(JSON.parse(text)), dependencies });
  });
  await writeFile(path.join(folder, "pnpm-workspace.yaml"), "nodeVersion: 24.21.0\nallowBuilds:\n  \"@swc/core\": true\n  \"@parcel/watcher\": false\n  esbuild: false\n  unrs-resolver: false\n");
  await run("npx", [...pnpm, "install", "--prefer-offline", "--no-frozen-lockfile"], { cwd: folder, env: { ...process.env, CI: "true" } });

  const inFolder = async (program: string, args: readonly string[]) => {
    try {
      const { stdout, stderr } = await run(process.execPath, ["--experimental-vm-modules", path.join(folder, "node_modules", program), ...args], { cwd: folder });
      return { ok: true, said: stdout + stderr };
    } catch (error) {
      const { stdout, stderr } = z.object({ stdout: z.string(), stderr: z.string() }).parse(error);
      return { ok: false, said: stdout + stderr };
    }
  };
  return {
    folder,
    build: () => inFolder("webpack-cli/bin/cli.js", []),
    test: () => inFolder("jest/bin/jest.js", []),
    types: () => inFolder("typescript/bin/tsc", []),
    change,
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}
