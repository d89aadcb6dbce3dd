/**
 * `npm run dev`: the whole portal in watch mode. `npm run dev -- secrets` watches that one package; the rest is served as
 * built. A reload of the page shows a change: a release gets a new name, and the deployment document is signed again.
 */
import { fork } from "node:child_process";
import { join } from "node:path";

import { z } from "zod";

import { buildables, isBuildable, type Buildable } from "../bundle/packages.ts";
import { Complaint } from "./complaint.ts";
import { startPortal, type ProcessName } from "./portal.ts";
import { readStartSettings } from "./settings.ts";

const watchable = [...buildables, "service", "identity"] as const;
const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !watchable.some((known) => known === name));
if (unknown.length > 0) {
  console.error(`Nothing is called ${unknown.join(", ")}: choose of ${watchable.join(", ")}, or none for all.`);
  process.exit(2);
}
const packages = asked.length === 0 ? buildables : asked.filter(isBuildable);
const processes: ProcessName[] = (["service", "identity"] as const).filter((name) => asked.length === 0 || asked.includes(name));
const log = (line: string): void => console.log(line);
const Message = z.object({ built: z.string() });

try {
  const { port, dataDir } = readStartSettings(process.env);
  const portal = await startPortal({ port, dataDir, log, watch: processes });
  const watchers = packages.map((name) => watch(name, portal.publish));
  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    for (const watcher of watchers) watcher.kill();
    portal.stop().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  };
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, stop);
  log(`\n  Open            ${portal.origin}\n  Demo account    ${portal.demo.email}   password  ${portal.demo.password}\n  Watching        ${[...packages, ...processes].join(", ")}\n\nReload the page after a change. Ctrl-C stops everything.`);
} catch (error) {
  console.error(error instanceof Complaint ? error.message : error);
  process.exitCode = 1;
}

/** Builds a package after each change, in a process of its own, and signs the deployment document again. */
function watch(name: Buildable, publish: () => Promise<void>): ReturnType<typeof fork> {
  const watcher = fork(join(import.meta.dirname, "../bundle/build-package.ts"), [name, "--watch"], { execArgv: ["--disable-warning=ExperimentalWarning"] });
  watcher.on("message", (message) => {
    if (!Message.safeParse(message).success) return;
    publish().then(
      () => log(`${name} is built.`),
      (error: unknown) => console.error(error),
    );
  });
  return watcher;
}
