/**
 * `npm run dev -- --remote secrets`: serves that remote from its sources next to a running `npm
 * start`; changes appear in the open page at once. A folder instead of the name develops a remote
 * outside this repository.
 *
 * `npm run dev`: runs the whole portal and rebuilds what changes; `npm run dev -- secrets` watches
 * that package only. Changes appear after a reload, since a rebuilt release has a new name.
 */
import { fork } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

import { z } from "zod";

import { buildTargets, getPackageFolder, isBuildTarget, type BuildTarget } from "../bundle/packages.ts";
import { rootFolder } from "../paths.ts";
import { remoteNames } from "../remotes.ts";
import { UserFacingError } from "../user-facing-error.ts";
import { defaultVendorId, describeSignIn, startPortal, type ProcessName } from "./portal.ts";
import { derivePorts } from "./ports.ts";
import { readStartSettings } from "./settings.ts";

const log = (line: string): void => console.log(line);
const watchTargets = [...buildTargets, "service", "identity"] as const;
const { remote, requestedNames } = parseCommandLine();
const packages = requestedNames.length === 0 ? buildTargets : requestedNames.filter(isBuildTarget);
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

/** Returns its stop function. */
async function develop(remoteOrFolder: string): Promise<() => Promise<void>> {
  const { port, dataDir } = readStartSettings(process.env);
  const folder =
    isBuildTarget(remoteOrFolder) && remoteOrFolder !== "host"
      ? join(rootFolder, getPackageFolder(remoteOrFolder))
      : resolve(process.env["INIT_CWD"] ?? process.cwd(), remoteOrFolder);
  if (!existsSync(join(folder, "manifest.json")))
    throw new UserFacingError(
      `There is no remote ${remoteOrFolder} in this repository (${remoteNames.join(", ")}), and ${folder} is not the folder of one.`,
    );
  const { developRemoteAndRestart } = await import("../develop/develop-remote.ts"); // webpack is loaded only for this
  return developRemoteAndRestart(
    {
      folder,
      portal: { origin: `http://localhost:${String(port)}`, vendorId: defaultVendorId, dataDir },
      port: derivePorts(port).development,
      log,
    },
    ({ origin, remote }) => {
      log(
        `\n  Open            ${origin}   ${remote} from its sources\n\nWhat you change is in the open page at once. Ctrl-C stops it; the portal keeps running.`,
      );
    },
  );
}

/** Returns its stop function. */
async function watchAll(): Promise<() => Promise<void>> {
  const { port, dataDir } = readStartSettings(process.env);
  const portal = await startPortal({ port, dataDir, log, watch: processes });
  const watchers = packages.map((name) => watch(name, portal.publish));
  log(
    `\n  Open            ${portal.origin}\n${describeSignIn(portal)}\n  Watching        ${[...packages, ...processes].join(", ")}\n\nReload the page after a change. Ctrl-C stops everything.`,
  );
  return () => {
    for (const watcher of watchers) watcher.kill();
    return portal.stop();
  };
}

function parseCommandLine(): { readonly remote: string | undefined; readonly requestedNames: readonly string[] } {
  try {
    const { values, positionals } = parseArgs({ options: { remote: { type: "string" } }, allowPositionals: true });
    const unknownNames = positionals.filter((name) => !watchTargets.some((candidate) => candidate === name));
    if (unknownNames.length > 0)
      throw new UserFacingError(
        `Unknown: ${unknownNames.join(", ")}. Choose from ${watchTargets.join(", ")}, or none for all.`,
      );
    if (values.remote !== undefined && positionals.length > 0)
      throw new UserFacingError("--remote develops one remote next to a running portal, and takes no other names.");
    return { remote: values.remote, requestedNames: positionals };
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exit(2);
  }
}

/** Builds in its own process. */
function watch(name: BuildTarget, publish: () => Promise<void>): ReturnType<typeof fork> {
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
