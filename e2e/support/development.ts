import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";

import type { RunningPortal } from "@relicario/tooling/portal";

const root = path.join(import.meta.dirname, "../..");

/** A remote's package in a folder of its own, whose sources a test may change. */
export interface CopiedRemote {
  readonly folder: string;
  readonly change: (file: string, change: (text: string) => string) => Promise<void>;
  readonly remove: () => Promise<void>;
}

export async function copyOfRemote(name: string): Promise<CopiedRemote> {
  const outside = await mkdtemp(path.join(tmpdir(), "relicario-development-"));
  const [from, folder] = [path.join(root, `remote-${name}`), path.join(outside, `remote-${name}`)];
  await cp(path.join(root, "tsconfig.base.json"), path.join(outside, "tsconfig.base.json"));
  for (const part of ["manifest.json", "package.json", "tsconfig.json", "webpack.config.ts", "src"])
    await cp(path.join(from, part), path.join(folder, part), { recursive: true });
  await symlink(path.join(from, "node_modules"), path.join(folder, "node_modules"));
  return {
    folder,
    change: async (file, change) => {
      const text = await readFile(path.join(folder, file), "utf8");
      const changed = change(text);
      if (changed === text) throw new TypeError(`${file} has not what should change`);
      await writeFile(path.join(folder, file), changed);
    },
    remove: () => rm(outside, { recursive: true, force: true }),
  };
}

/** `npm run dev -- --remote <folder>` beside a portal. */
export async function develop(
  portal: RunningPortal,
  folder: string,
): Promise<{ readonly origin: string; readonly stop: () => Promise<void> }> {
  const { port } = new URL(portal.origin);
  const child = spawn(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", path.join(root, "tooling/src/start/dev.ts"), "--remote", folder],
    { env: { ...process.env, PORT: port, DATA_DIR: portal.dataDir }, stdio: ["ignore", "pipe", "pipe"] },
  );
  const ended = once(child, "exit");
  let said = "";
  const origin = await new Promise<string>((resolve, reject) => {
    const hear = (data: Buffer): void => {
      said += data.toString();
      const [, address] = /Open\s+(http:\/\/\S+)/.exec(said) ?? [];
      if (address !== undefined) resolve(address);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    void ended.then(() => {
      reject(new Error(said));
    });
  });
  return {
    origin,
    stop: async () => {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
