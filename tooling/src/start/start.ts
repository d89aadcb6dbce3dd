/** `npm start`: the whole portal on this machine, until Ctrl-C. */
import { relative } from "node:path";

import { collectGarbage } from "../serve/serve.ts";
import { UserFacingError } from "../user-facing-error.ts";
import { describeSignIn, startPortal, type RunningPortal } from "./portal.ts";
import { findSecondVendor } from "./second-vendor.ts";
import { readStartSettings } from "./settings.ts";

const startedAt = performance.now();
const log = (line: string): void => console.log(line);

let portal: RunningPortal | null = null;
let stopping = false;
const startAbort = new AbortController();

/** Ctrl-C may arrive twice, from the terminal and from npm: only the first counts. */
function stop(code: number): void {
  if (stopping) return;
  stopping = true;
  log("Stopping.");
  if (portal === null) {
    startAbort.abort(); // startPortal stops what it started and rejects
    return;
  }
  portal.stop().then(
    () => process.exit(code),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
}

/** Restarts ended processes without the supervisor's delay. */
async function restartEnded(runningPortal: RunningPortal): Promise<void> {
  for (const name of runningPortal.processes.names) {
    if (runningPortal.processes.isRunning(name)) continue;
    await runningPortal.processes.start(name).then(
      () => log(`${name} runs again.`),
      (error: unknown) => log(error instanceof Error ? error.message : String(error)),
    );
  }
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stop(0));

try {
  const { port, dataDir } = readStartSettings(process.env);
  const vendor = findSecondVendor();
  const startedPortal = await startPortal({
    port,
    dataDir,
    log,
    signal: startAbort.signal,
    ...(vendor !== null && { secondVendor: vendor }),
  });
  portal = startedPortal;
  process.on("SIGUSR2", () => void restartEnded(startedPortal));
  const relativePath = (path: string): string => relative(process.cwd(), path) || ".";
  log(`
Ready in ${((performance.now() - startedAt) / 1000).toFixed(1)} s.

  Open            ${startedPortal.origin}
${vendor === null ? "" : `  Open            ${String(startedPortal.secondOrigin)}   of ${vendor.name}, another vendor\n`}${describeSignIn(startedPortal)}
  Data and logs   ${relativePath(dataDir)}

Ctrl-C stops everything.`);
  collectGarbage();
} catch (error) {
  // Ctrl-C during the start: all is stopped, and running builds end with this process.
  if (startAbort.signal.aborted) process.exit(0);
  // A UserFacingError is for the operator; anything else is a bug, shown with its stack.
  console.error(error instanceof UserFacingError ? error.message : error);
  process.exitCode = 1;
}
