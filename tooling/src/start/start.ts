/** `npm start`: the whole portal on this machine, until Ctrl-C. */
import { relative } from "node:path";

import { collect } from "../serve/serve.ts";
import { Complaint } from "./complaint.ts";
import { startPortal, type RunningPortal } from "./portal.ts";
import { secondVendor } from "./second-vendor.ts";
import { readStartSettings } from "./settings.ts";

const began = performance.now();
const log = (line: string): void => console.log(line);

let portal: RunningPortal | null = null;
let stopping = false;
const starting = new AbortController();

/**
 * Ends everything in order. Ctrl-C may arrive twice (from the terminal and from npm): once is
 * enough.
 */
function stop(code: number): void {
  if (stopping) return;
  stopping = true;
  log("Stopping.");
  if (portal === null) {
    starting.abort(); // what was started is undone below
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

/** Starts again what has ended, without waiting for its turn. */
async function revive(running: RunningPortal): Promise<void> {
  for (const name of running.processes.names) {
    if (running.processes.running(name)) continue;
    await running.processes.start(name).then(
      () => log(`${name} runs again.`),
      (error: unknown) => log(error instanceof Error ? error.message : String(error)),
    );
  }
}

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => stop(0));

try {
  const { port, dataDir } = readStartSettings(process.env);
  const second = secondVendor();
  const running = await startPortal({
    port,
    dataDir,
    log,
    signal: starting.signal,
    ...(second !== null && { second }),
  });
  portal = running;
  process.on("SIGUSR2", () => void revive(running));
  const here = (path: string): string => relative(process.cwd(), path) || ".";
  log(`
Ready in ${((performance.now() - began) / 1000).toFixed(1)} s.

  Open            ${running.origin}
${second === null ? "" : `  Open            ${String(running.secondOrigin)}   of ${second.name}, another vendor\n`}  Demo account    ${running.demo.email}   password  ${running.demo.password}
  Data and logs   ${here(dataDir)}

Ctrl-C stops everything.`);
  collect();
} catch (error) {
  // Ctrl-C while starting: all is undone, and what still builds ends with this process
  if (starting.signal.aborted) process.exit(0);
  // A Complaint is written for the person; anything else is a fault of ours, shown whole.
  console.error(error instanceof Complaint ? error.message : error);
  process.exitCode = 1;
}
