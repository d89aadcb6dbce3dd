import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

import { z } from "zod";

/** The portal of a checkout, in its own process. */
export interface RunningCheckout {
  readonly origin: string;
  readonly stop: () => Promise<void>;
}

const StartMessage = z.object({ origin: z.url() });

/** Script for that process: prints the portal's origin, and stops the portal when stdin ends. */
const buildStarterScript = (module: string): string => `
  import { startPortal } from ${JSON.stringify(module)};
  const portal = await startPortal({ port: 0, dataDir: process.argv[1], log: (line) => console.error(line) });
  process.stdin.once("close", () => portal.stop().then(() => process.exit(0), (error) => { console.error(error); process.exit(1); })).resume();
  console.log(JSON.stringify({ origin: portal.origin }));
`;

/**
 * Starts the portal of a checkout by its own tools, with a new data folder. Builds it if needed.
 * @throws Error when the folder is no installed checkout, or its portal does not start
 */
export async function startCheckout(folder: string): Promise<RunningCheckout> {
  const module = path.join(folder, "tooling/src/start/portal.ts");
  if (!existsSync(module) || !existsSync(path.join(folder, "node_modules")))
    throw new Error(`${folder} is no installed checkout`);
  const dataDir = await mkdtemp(path.join(tmpdir(), "relicario-bench-"));
  const child = spawn(
    process.execPath,
    [
      "--disable-warning=ExperimentalWarning",
      "--input-type=module",
      "-e",
      buildStarterScript(pathToFileURL(module).href),
      dataDir,
    ],
    {
      cwd: folder,
      stdio: ["pipe", "pipe", "inherit"],
      detached: true, // Ctrl-C reaches only the bench, whose end closes stdin: the portal stops in order
    },
  );
  const exitEvent = once(child, "exit");
  const stop = async (): Promise<void> => {
    child.stdin.end();
    await exitEvent;
    await rm(dataDir, { recursive: true, force: true });
  };
  const [line] = await Promise.race([
    once(createInterface({ input: child.stdout }), "line"),
    exitEvent.then(() => [null]),
  ]);
  const startMessage = StartMessage.safeParse(typeof line === "string" ? JSON.parse(line) : null);
  if (startMessage.success) return { origin: startMessage.data.origin, stop };
  await stop();
  throw new Error(`the portal of ${folder} did not start`);
}

/** Names of the remotes that a checkout has. */
export function listRemotes(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.startsWith("remote-"))
    .map((name) => name.slice("remote-".length));
}
