import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

import { z } from "zod";

/** The whole portal as one checkout builds and starts it, in a process of its own. */
export interface RunningCheckout {
  readonly origin: string;
  readonly stop: () => Promise<void>;
}

const StartMessage = z.object({ origin: z.url() });

/** In the other checkout's process: says where the portal is, and stops it when the input ends. */
const starterScript = (module: string): string => `
  import { startPortal } from ${JSON.stringify(module)};
  const portal = await startPortal({ port: 0, dataDir: process.argv[1], log: (line) => console.error(line) });
  process.stdin.once("close", () => portal.stop().then(() => process.exit(0), (error) => { console.error(error); process.exit(1); })).resume();
  console.log(JSON.stringify({ origin: portal.origin }));
`;

/**
 * Starts the portal of a checkout by that checkout's own tools, with data of its own. It is built
 * first where it is not.
 * @throws Error when the folder is no installed checkout, or its portal does not start
 */
export async function startCheckout(folder: string): Promise<RunningCheckout> {
  const module = path.join(folder, "tooling/src/start/portal.ts");
  if (!existsSync(module) || !existsSync(path.join(folder, "node_modules")))
    throw new Error(`${folder} is no checkout that is installed`);
  const dataDir = await mkdtemp(path.join(tmpdir(), "relicario-bench-"));
  const child = spawn(
    process.execPath,
    [
      "--disable-warning=ExperimentalWarning",
      "--input-type=module",
      "-e",
      starterScript(pathToFileURL(module).href),
      dataDir,
    ],
    {
      cwd: folder,
      stdio: ["pipe", "pipe", "inherit"],
      detached: true, // Ctrl-C reaches the bench alone: its end closes the input, and the portal stops in order
    },
  );
  const exited = once(child, "exit");
  const stop = async (): Promise<void> => {
    child.stdin.end();
    await exited;
    await rm(dataDir, { recursive: true, force: true });
  };
  const [line] = await Promise.race([
    once(createInterface({ input: child.stdout }), "line"),
    exited.then(() => [null]),
  ]);
  const started = StartMessage.safeParse(typeof line === "string" ? JSON.parse(line) : null);
  if (started.success) return { origin: started.data.origin, stop };
  await stop();
  throw new Error(`the portal of ${folder} did not start`);
}

/** Names of the remotes that a checkout has. */
export function listRemotes(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.startsWith("remote-"))
    .map((name) => name.slice("remote-".length));
}
