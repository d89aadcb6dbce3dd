import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import type { RunningPortal } from "@relicario/tooling/portal";

const root = path.join(import.meta.dirname, "../..");

/** A copy of a remote's package, whose sources a test may change. */
export interface CopiedRemote {
  readonly folder: string;
  readonly write: (file: string, text: string) => Promise<void>;
  readonly change: (file: string, change: (text: string) => string) => Promise<void>;
  readonly remove: () => Promise<void>;
}

export async function copyRemote(name: string): Promise<CopiedRemote> {
  const temporaryFolder = await mkdtemp(path.join(tmpdir(), "relicario-development-"));
  const [sourceFolder, folder] = [path.join(root, `remote-${name}`), path.join(temporaryFolder, `remote-${name}`)];
  await cp(path.join(root, "tsconfig.base.json"), path.join(temporaryFolder, "tsconfig.base.json"));
  for (const entry of ["manifest.json", "package.json", "tsconfig.json", "webpack.config.ts", "src"])
    await cp(path.join(sourceFolder, entry), path.join(folder, entry), { recursive: true });
  await symlink(path.join(sourceFolder, "node_modules"), path.join(folder, "node_modules"));
  return {
    folder,
    write: (file, text) => writeFile(path.join(folder, file), text),
    change: async (file, change) => {
      const text = await readFile(path.join(folder, file), "utf8");
      const changedText = change(text);
      if (changedText === text) throw new TypeError(`${file} does not have the text to change`);
      await writeFile(path.join(folder, file), changedText);
    },
    remove: () => rm(temporaryFolder, { recursive: true, force: true }),
  };
}

/** Runs `npm run dev -- --remote <folder>` next to a portal. */
export async function startDevelopment(
  portal: RunningPortal,
  folder: string,
): Promise<{
  readonly origin: string;
  /** What the terminal shows so far. */
  readonly readOutput: () => string;
  readonly stop: () => Promise<void>;
}> {
  const { port } = new URL(portal.origin);
  const child = spawn(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", path.join(root, "tooling/src/start/dev.ts"), "--remote", folder],
    { env: { ...process.env, PORT: port, DATA_DIR: portal.dataDir }, stdio: ["ignore", "pipe", "pipe"] },
  );
  const exitEvent = once(child, "exit");
  let output = "";
  const origin = await new Promise<string>((resolve, reject) => {
    const collectOutput = (data: Buffer): void => {
      output += data.toString();
      const [, address] = /Open\s+(http:\/\/\S+)/.exec(output) ?? [];
      if (address !== undefined) resolve(address);
    };
    child.stdout.on("data", collectOutput);
    child.stderr.on("data", collectOutput);
    void exitEvent.then(() => {
      reject(new Error(output));
    });
  });
  return {
    origin,
    readOutput: () => output,
    stop: async () => {
      child.kill("SIGTERM");
      await exitEvent;
    },
  };
}
