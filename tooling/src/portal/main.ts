/**
 * `npm run portal -- <act> …`: docs/operations.md, "Releases". Environment: DATA_DIR as for `npm
 * start`, or KEYS_FOLDER, DEPLOYMENTS_FOLDER and RELEASES_FOLDER.
 */
import { existsSync, readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

import { RemoteName, type Deployment } from "@relicario/shared/contract";
import { z } from "zod";

import { buildables } from "../bundle/packages.ts";
import { hashBuiltFiles, describeDifferences, rebuild, type BuiltFiles } from "../bundle/rebuild.ts";
import { loadTeamKeyPair } from "../keys/development-keys.ts";
import { rootFolder } from "../paths.ts";
import { writeBillOfMaterials } from "../release/bill-of-materials.ts";
import { remoteNames } from "../remotes.ts";
import { UserFacingError } from "../user-facing-error.ts";
import { loadMetricsToken } from "../keys/secrets.ts";
import {
  setCanary,
  createOverrideLinks,
  promote,
  registerRelease,
  renewDocuments,
  rollBack,
  setDisabled,
  verifyRelease,
  type Compatibility,
} from "./operations.ts";
import { readAuditLog } from "./audit-log.ts";
import { findHostProblems, fetchServedHost } from "./published-host.ts";
import { getAuditFile, openStore, type PortalStore } from "./store.ts";
import { formatStatus } from "./status.ts";

const usage = `portal release <remote>                   make a release of what is built, into the registry; of a remote from elsewhere by its folder
portal verify <release>                   its files, its signature, and where it fits; --rebuild: and whether the sources here give the same bytes
portal verify host --rebuild              whether the sources here give the host that is built here, or that --origin serves
portal promote <release>                  make it the stable one
portal canary <release> --percent <n>     give it to a share of all sessions; 0 ends that
portal rollback <remote>                  end its canary, or go back to the release before
portal override <release> --hours <n>     links that have one tab run it unpromoted, for 8 hours unless said; never in production
portal disable <release>                  stop it, in open pages too; enable allows it again
portal renew                              sign for another week
portal status                             what is in force, what the registry has, and how loads go
portal log                                what was done

--vendor <vendor> for one alone, --reason <words> and --by <name> for the log, --force past objections of promote and canary`;

/** npm runs scripts in the checkout; paths are meant from where the person is. */
const callerFolder = process.env["INIT_CWD"] ?? process.cwd();
const resolveFolder = (name: string, fallback: string): string => resolve(callerFolder, process.env[name] ?? fallback);

const resolveDataFolder = (): string => resolveFolder("DATA_DIR", join(rootFolder, ".data"));
const resolveKeysFolder = (): string => resolveFolder("KEYS_FOLDER", join(resolveDataFolder(), "keys"));

async function openPortalStore(): Promise<PortalStore> {
  const dataFolder = resolveDataFolder();
  const folders = {
    keys: resolveKeysFolder(),
    deployments: resolveFolder("DEPLOYMENTS_FOLDER", join(dataFolder, "deployments")),
    registry: resolveFolder("RELEASES_FOLDER", join(dataFolder, "releases")),
  };
  // A key that nobody knows would be made otherwise, and could sign nothing that counts.
  if (!existsSync(join(folders.keys, "portal.json")))
    throw new UserFacingError(
      `There is no portal's key in ${folders.keys}: start the portal once, or say where it is by DATA_DIR or KEYS_FOLDER.`,
    );
  return openStore(folders);
}

const options = {
  vendor: { type: "string" },
  reason: { type: "string" },
  by: { type: "string" },
  percent: { type: "string" },
  hours: { type: "string" },
  force: { type: "boolean", default: false },
  rebuild: { type: "boolean", default: false },
  origin: { type: "string" },
} as const;

try {
  const { values, positionals } = parseCommandLine();
  const [commandName = "", subject, ...extraArguments] = positionals;
  if (extraArguments.length > 0) throw new UserFacingError(`Too many words: ${extraArguments.join(" ")}.\n\n${usage}`);
  const commonOptions = { by: values.by ?? userInfo().username, vendor: values.vendor, reason: values.reason };
  const requireSubject = (): string => {
    if (subject === undefined) throw new UserFacingError(`Say which one.\n\n${usage}`);
    return subject;
  };
  const commands: Readonly<Record<string, (portal: PortalStore) => Promise<readonly string[]>>> = {
    release: async (portal) => {
      const { remote, packageFolder, isExternal } = locatePackage(requireSubject());
      if (isExternal) await writeBillOfMaterials(packageFolder);
      return [
        (await registerRelease(portal, { remote, packageFolder, key: await loadTeamKeyPair(remote), ...commonOptions }))
          .record.release,
      ];
    },
    verify: async (portal) => {
      if (subject === "host") return verifyHost(values.origin);
      const { release: registeredRelease, matrix } = await verifyRelease(portal, requireSubject());
      if (matrix.some(({ objections }) => objections.length > 0)) process.exitCode = 1;
      const { files, manifest } = registeredRelease.signedRecord;
      return [
        `${requireSubject()}: ${String(Object.keys(files).length)} files are what the team signed.`,
        ...matrix.map(formatCompatibility),
        ...(values.rebuild ? compareFiles(manifest.name, files, await rebuildFiles(manifest.name)) : []),
      ];
    },
    promote: async (portal) =>
      (await promote(portal, requireSubject(), { ...commonOptions, force: values.force })).map(formatSigned),
    canary: async (portal) =>
      (
        await setCanary(portal, requireSubject(), Number(values.percent ?? Number.NaN), {
          ...commonOptions,
          force: values.force,
        })
      ).map(formatSigned),
    rollback: async (portal) =>
      (await rollBack(portal, requireSubject(), commonOptions)).map(
        (deployment) =>
          `${formatSigned(deployment)} ${requireSubject()} runs ${deployment.releases[requireSubject()]?.stable ?? "nothing"}.`,
      ),
    override: async (portal) => {
      const key = await loadTeamKeyPair(requireSubject().split("-")[0] ?? "");
      return createOverrideLinks(portal, requireSubject(), { ...commonOptions, key, hours: Number(values.hours ?? 8) });
    },
    disable: async (portal) =>
      (await setDisabled(portal, requireSubject(), true, commonOptions)).map(
        (deployment) => `${formatSigned(deployment)} Open pages stop it within a minute.`,
      ),
    enable: async (portal) => (await setDisabled(portal, requireSubject(), false, commonOptions)).map(formatSigned),
    renew: async (portal) => (await renewDocuments(portal, commonOptions)).map(formatSigned),
    status: async (portal) =>
      formatStatus(portal, process.env["METRICS_TOKEN"] ?? (await loadMetricsToken(resolveKeysFolder()))),
    log: async (portal) =>
      readAuditLog(getAuditFile(portal)).map(
        ({ v: _v, former: _former, at, by, action, ...facts }) =>
          `${at}  ${by}  ${action}  ${Object.entries(facts)
            .map(([name, value]) => `${name}=${String(value)}`)
            .join("  ")}`,
      ),
  };
  const runCommand = Object.hasOwn(commands, commandName) ? commands[commandName] : undefined;
  if (runCommand === undefined) throw new UserFacingError(usage);
  for (const line of await runCommand(await openPortalStore())) console.log(line);
} catch (error) {
  // A UserFacingError is written for the person; anything else is a fault of ours, shown whole.
  console.error(error instanceof UserFacingError ? error.message : error);
  process.exitCode = 1;
}

function parseCommandLine() {
  try {
    return parseArgs({ args: process.argv.slice(2), options, allowPositionals: true });
  } catch (error) {
    throw new UserFacingError(
      `${error instanceof Error ? error.message : "These arguments cannot be read"}\n\n${usage}`,
    );
  }
}

/** A remote of this repository by its name, or the folder of another one. */
function locatePackage(remoteOrFolder: string): {
  readonly remote: string;
  readonly packageFolder: string;
  readonly isExternal: boolean;
} {
  const isExternal = !remoteNames.includes(remoteOrFolder);
  const packageFolder = isExternal
    ? resolve(callerFolder, remoteOrFolder)
    : join(rootFolder, `remote-${remoteOrFolder}`);
  const manifest = join(packageFolder, "manifest.json");
  if (!existsSync(manifest))
    throw new UserFacingError(
      `There is no remote ${remoteOrFolder} in this repository (${remoteNames.join(", ")}), and ${packageFolder} is no folder of one.`,
    );
  if (!existsSync(join(packageFolder, "build/web")))
    throw new UserFacingError(
      isExternal
        ? `${packageFolder} is not built: pnpm build there.`
        : `${remoteOrFolder} is not built: pnpm build ${remoteOrFolder}.`,
    );
  return {
    remote: z.object({ name: RemoteName }).parse(JSON.parse(readFileSync(manifest, "utf8"))).name,
    packageFolder,
    isExternal,
  };
}

function formatCompatibility({ vendor, objections }: Compatibility): string {
  return objections.length === 0 ? `${vendor}: fits.` : `${vendor}: ${objections.join("; ")}.`;
}

function formatSigned({ vendor_id: vendor, sequence }: Deployment): string {
  return `${vendor}: signed as number ${String(sequence)}.`;
}

/** What the sources here give. */
async function rebuildFiles(name: string): Promise<BuiltFiles> {
  if (!buildables.includes(name)) throw new UserFacingError(`The sources of ${name} are not in this repository.`);
  return (await rebuild([name])).get(name) ?? {};
}

/** What the sources here give, beside what was built of them elsewhere. */
function compareFiles(name: string, expected: BuiltFiles, actual: BuiltFiles): string[] {
  return formatVerdict(name, Object.keys(expected).length, describeDifferences(expected, actual));
}

function formatVerdict(name: string, files: number, problems: readonly string[]): string[] {
  if (problems.length === 0) return [`${name}: the sources here give the same ${String(files)} files.`];
  process.exitCode = 1;
  return [`${name}: the sources here give other bytes.`, ...problems.map((line) => `  ${line}`)];
}

/**
 * The host that was built here, or what a portal elsewhere serves: its scripts and styles, each
 * fetched, and the page that starts them.
 */
async function verifyHost(origin: string | undefined): Promise<string[]> {
  const rebuiltFiles = await rebuildFiles("host");
  if (origin === undefined) return compareFiles("host", hashBuiltFiles("host"), rebuiltFiles);
  const servedFiles = Object.fromEntries(Object.entries(rebuiltFiles).filter(([path]) => path.startsWith("static/")));
  return formatVerdict(
    "host",
    Object.keys(servedFiles).length,
    findHostProblems(servedFiles, await fetchServedHost(origin, Object.keys(servedFiles))),
  );
}
