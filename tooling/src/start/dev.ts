/**
 * `npm run dev -- --remote secrets`: beside a running `npm start`, that remote from its sources in
 * a host in development mode; changes are in the open page at once. A folder in place of the name
 * develops a remote from elsewhere.
 *
 * `npm run dev`: the whole portal in watch mode. `npm run dev -- secrets` watches that one package;
 * the rest is served as built. A reload of the page shows a change: a release gets a new name, and
 * the deployment document is signed again.
 */
import { fork } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

import { z } from "zod";

import { buildables, getPackageFolder, isBuildable, type Buildable } from "../bundle/packages.ts";
import { rootFolder } from "../paths.ts";
import { remoteNames } from "../remotes.ts";
import { UserFacingError } from "../user-facing-error.ts";
import { startPortal, defaultVendorId, type ProcessName } from "./portal.ts";
import { derivePorts } from "./ports.ts";
import { readStartSettings } from "./settings.ts";

const log = (line: string): void => console.log(line);
const watchable = [...buildables, "service", "identity"] as const;
const { remote, requestedNames } = parseCommandLine();
const packages = requestedNames.length === 0 ? buildables : requestedNames.filter(isBuildable);
const processes: ProcessName[] = (["service", "identity"] as const).filter(
  (name) => requestedNames.length === 0 || requestedNames.includes(name),
);
const BuildMessage = z.object({ built: z.string() });

try {
  const stop = await (remote === undefined ? watchAll() : develop(remote));
  let stopping = false;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => {
      if (stopping) return;
      stopping = true;
      stop().then(
        () => process.exit(0),
        (error: unknown) => {
          console.error(error);
          process.exit(1);
        },
      );
    });
  }
} catch (error) {
  console.error(error instanceof UserFacingError ? error.message : error);
  process.exitCode = 1;
}

/** Beside a portal that runs. Returns how to end it. */
async function develop(remoteOrFolder: string): Promise<() => Promise<void>> {
  const { port, dataDir } = readStartSettings(process.env);
  const folder =
    isBuildable(remoteOrFolder) && remoteOrFolder !== "host"
      ? join(rootFolder, getPackageFolder(remoteOrFolder))
      : resolve(process.env["INIT_CWD"] ?? process.cwd(), remoteOrFolder);
  if (!existsSync(join(folder, "manifest.json")))
    throw new UserFacingError(
      `There is no remote ${remoteOrFolder} in this repository (${remoteNames.join(", ")}), and ${folder} is no folder of one.`,
    );
  const { developRemote } = await import("../develop/develop-remote.ts"); // webpack and its parts, for this alone
  const development = await developRemote({
    folder,
    portal: { origin: `http://localhost:${String(port)}`, vendor: defaultVendorId, dataDir },
    port: derivePorts(port).development,
    log,
  });
  log(
    `\n  Open            ${development.origin}   ${development.remote} from its sources\n\nWhat you change is in the open page at once. Ctrl-C stops it; the portal goes on.`,
  );
  return development.stop;
}

/** The whole portal. Returns how to end it. */
async function watchAll(): Promise<() => Promise<void>> {
  const { port, dataDir } = readStartSettings(process.env);
  const portal = await startPortal({ port, dataDir, log, watch: processes });
  const watchers = packages.map((name) => watch(name, portal.publish));
  log(
    `\n  Open            ${portal.origin}\n  Demo account    ${portal.demo.email}   password  ${portal.demo.password}\n  Watching        ${[...packages, ...processes].join(", ")}\n\nReload the page after a change. Ctrl-C stops everything.`,
  );
  return () => {
    for (const watcher of watchers) watcher.kill();
    return portal.stop();
  };
}

function parseCommandLine(): { readonly remote: string | undefined; readonly requestedNames: readonly string[] } {
  try {
    const { values, positionals } = parseArgs({ options: { remote: { type: "string" } }, allowPositionals: true });
    const unknownNames = positionals.filter((name) => !watchable.some((candidate) => candidate === name));
    if (unknownNames.length > 0)
      throw new UserFacingError(
        `Nothing is called ${unknownNames.join(", ")}: choose of ${watchable.join(", ")}, or none for all.`,
      );
    if (values.remote !== undefined && positionals.length > 0)
      throw new UserFacingError("--remote develops one remote beside a portal that runs, and nothing else.");
    return { remote: values.remote, requestedNames: positionals };
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(2);
  }
}

/**
 * Builds a package after each change, in a process of its own, and signs the deployment document
 * again.
 */
function watch(name: Buildable, publish: () => Promise<void>): ReturnType<typeof fork> {
  const watcher = fork(join(import.meta.dirname, "../bundle/build-package.ts"), [name, "--watch"], {
    execArgv: ["--disable-warning=ExperimentalWarning"],
  });
  watcher.on("message", (message) => {
    if (!BuildMessage.safeParse(message).success) return;
    publish().then(
      () => log(`${name} is built.`),
      (error: unknown) => console.error(error),
    );
  });
  return watcher;
}
