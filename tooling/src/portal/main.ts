/**
 * `npm run portal -- <operation> …`: see docs/operations.md, "Releases". Environment: DATA_DIR as
 * for `npm start`, or KEYS_FOLDER, DEPLOYMENTS_FOLDER and RELEASES_FOLDER.
 */
import { existsSync, readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

import { RemoteName, VerificationKey, type Deployment } from "@relicario/shared/contract";
import { z } from "zod";

import { buildTargets } from "../bundle/packages.ts";
import { hashBuiltFiles, describeDifferences, rebuild, type FileHashes } from "../bundle/rebuild.ts";
import { loadTeamKeyPair } from "../keys/signing-keys.ts";
import { rootFolder } from "../paths.ts";
import { formatDeprecations } from "../release/compatibility.ts";
import { writeBillOfMaterials } from "../release/bill-of-materials.ts";
import { remoteNames } from "../remotes.ts";
import { UserFacingError } from "../user-facing-error.ts";
import { loadMetricsToken } from "../keys/process-secrets.ts";
import {
  setCanary,
  createOverrideLinks,
  importRelease,
  parseRemoteName,
  promote,
  registerRelease,
  distrustTeam,
  renewDocuments,
  rollBack,
  setDisabled,
  trustTeam,
  verifyRelease,
  type VendorCompatibility,
} from "./operations.ts";
import { readAuditLog } from "./audit-log.ts";
import { findHostProblems, findVaultProblems, fetchServedHost } from "./published-host.ts";
import { getAuditFile, openStore, type PortalStore } from "./store.ts";
import { describeRemote, formatStatus } from "./status.ts";

const usage = `portal release <remote or folder>         sign what is built as a release, and add it to the registry
portal trust <remote> --key <file>        trust the public key of a team that signs elsewhere; distrust <remote> ends it
portal import <folder>                    add a release that its team built and signed elsewhere to the registry
portal verify <release>                   check its files, its signature and where it fits; --rebuild: and that the sources here give the same bytes
portal verify host --rebuild              check that the sources here give the host that is built here, or that --origin and --vault-origin serve
portal promote <release>                  make it the stable release
portal canary <release> --percent <n>     give it to a share of all sessions; 0 ends the canary
portal rollback <remote>                  end its canary, or return to the previous release
portal override <release> --hours <n>     create links that let one tab run it unpromoted, for 8 hours by default; never in production
portal disable <release>                  stop it, in open pages too; enable allows it again
portal renew                              sign for another week
portal status                             show what is deployed, what the registry has, and how loads go
portal log                                show what was done

<release> may be a remote's name. It then means the release that was registered last; for disable and enable, those that run or are disabled.
--vendor <vendor> limits a command to one vendor, --reason <words> and --by <name> go into the log, --force overrides objections to promote and canary`;

const pagesLearnKeys = "Pages learn this at the gateway's next start.";

/** Paths are relative to the caller's folder; npm runs scripts in the checkout. */
const callerFolder = process.env["INIT_CWD"] ?? process.cwd();
const resolveFolder = (name: string, fallback: string): string => resolve(callerFolder, process.env[name] ?? fallback);

const resolveDataFolder = (): string => resolveFolder("DATA_DIR", join(rootFolder, ".data"));
const resolveKeysFolder = (): string => resolveFolder("KEYS_FOLDER", join(resolveDataFolder(), "keys"));

async function openPortalStore(): Promise<PortalStore> {
  const dataFolder = resolveDataFolder();
  const folders = {
    keysFolder: resolveKeysFolder(),
    deploymentsFolder: resolveFolder("DEPLOYMENTS_FOLDER", join(dataFolder, "deployments")),
    registryFolder: resolveFolder("RELEASES_FOLDER", join(dataFolder, "releases")),
  };
  // Otherwise a key would be created that no page trusts.
  if (!existsSync(join(folders.keysFolder, "portal.json")))
    throw new UserFacingError(
      `There is no portal key in ${folders.keysFolder}: start the portal once, or set DATA_DIR or KEYS_FOLDER.`,
    );
  return openStore(folders);
}

const options = {
  vendor: { type: "string" },
  reason: { type: "string" },
  by: { type: "string" },
  key: { type: "string" },
  percent: { type: "string" },
  hours: { type: "string" },
  force: { type: "boolean", default: false },
  rebuild: { type: "boolean", default: false },
  origin: { type: "string" },
  "vault-origin": { type: "string" },
} as const;

try {
  const { values, positionals } = parseCommandLine();
  const [commandName = "", subject, ...extraArguments] = positionals;
  if (extraArguments.length > 0) throw new UserFacingError(`Too many words: ${extraArguments.join(" ")}.\n\n${usage}`);
  const commonOptions = { by: values.by ?? userInfo().username, vendorId: values.vendor, reason: values.reason };
  const requireSubject = (): string => {
    if (subject === undefined) throw new UserFacingError(`${commandName}: say what it concerns.\n\n${usage}`);
    return subject;
  };
  const requireRemote = (): string => {
    const remote = RemoteName.safeParse(requireSubject());
    if (!remote.success) throw new UserFacingError(`${requireSubject()} is not the name of a remote.`);
    return remote.data;
  };
  const formatChange = (deployment: Deployment): string =>
    `${formatSigned(deployment)} ${describeRemote(deployment, parseRemoteName(requireSubject()))}`;
  const commands: Readonly<Record<string, (store: PortalStore) => Promise<readonly string[]>>> = {
    release: async (store) => {
      const { remote, packageFolder, isExternal } = locatePackage(requireSubject());
      if (isExternal) await writeBillOfMaterials(packageFolder);
      return [
        (
          await registerRelease(store, {
            remote,
            packageFolder,
            keyPair: await loadTeamKeyPair(remote),
            ...commonOptions,
          })
        ).record.release,
      ];
    },
    trust: async (store) =>
      (await trustTeam(store, requireRemote(), readPublicKey(values.key), commonOptions)).map(
        (vendorId) => `${vendorId}: trusts this key of ${requireSubject()}'s team. ${pagesLearnKeys}`,
      ),
    distrust: async (store) =>
      (await distrustTeam(store, requireRemote(), commonOptions)).map(
        (vendorId) => `${vendorId}: trusts no added key of ${requireSubject()}'s team. ${pagesLearnKeys}`,
      ),
    import: async (store) => [await importRelease(store, resolve(callerFolder, requireSubject()), commonOptions)],
    verify: async (store) => {
      if (subject === "host") return verifyHost(values.origin, values["vault-origin"]);
      const { release: registeredRelease, compatibility } = await verifyRelease(store, requireSubject());
      if (compatibility.some(({ objections }) => objections.length > 0)) process.exitCode = 1;
      const { files, manifest, release } = registeredRelease.signedRecord;
      return [
        `${release}: ${String(Object.keys(files).length)} files are what the team signed.`,
        ...compatibility.map(formatCompatibility),
        ...formatDeprecations(),
        ...(values.rebuild ? compareFiles(manifest.name, files, await rebuildFiles(manifest.name)) : []),
      ];
    },
    promote: async (store) =>
      (await promote(store, requireSubject(), { ...commonOptions, force: values.force })).map(formatChange),
    canary: async (store) =>
      (
        await setCanary(store, requireSubject(), Number(values.percent ?? Number.NaN), {
          ...commonOptions,
          force: values.force,
        })
      ).map(formatChange),
    rollback: async (store) => (await rollBack(store, requireSubject(), commonOptions)).map(formatChange),
    override: async (store) =>
      createOverrideLinks(store, requireSubject(), {
        ...commonOptions,
        loadKeyPair: loadTeamKeyPair,
        hours: Number(values.hours ?? 8),
      }),
    disable: async (store) =>
      (await setDisabled(store, requireSubject(), true, commonOptions)).map(
        (deployment) => `${formatChange(deployment)} Open pages stop it within a minute.`,
      ),
    enable: async (store) => (await setDisabled(store, requireSubject(), false, commonOptions)).map(formatChange),
    renew: async (store) => (await renewDocuments(store, commonOptions)).map(formatSigned),
    status: async (store) =>
      formatStatus(store, process.env["METRICS_TOKEN"] ?? (await loadMetricsToken(resolveKeysFolder()))),
    log: async (store) =>
      readAuditLog(getAuditFile(store)).map(
        ({ v: _v, former: _former, at, by, action, key, ...facts }) =>
          `${at}  ${by}  ${action}  ${Object.entries({ ...facts, ...(key !== undefined && { key: key.kid }) })
            .map(([name, value]) => `${name}=${String(value)}`)
            .join("  ")}`,
      ),
  };
  const runCommand = Object.hasOwn(commands, commandName) ? commands[commandName] : undefined;
  if (runCommand === undefined) throw new UserFacingError(usage);
  for (const line of await runCommand(await openPortalStore())) console.log(line);
} catch (error) {
  // A UserFacingError is for the operator; anything else is a bug, shown with its stack.
  console.error(error instanceof UserFacingError ? error.message : error);
  process.exitCode = 1;
}

function readPublicKey(file: string | undefined): VerificationKey {
  if (file === undefined) throw new UserFacingError(`trust: name the team's public key with --key.\n\n${usage}`);
  const path = resolve(callerFolder, file);
  if (!existsSync(path)) throw new UserFacingError(`There is no file ${path}.`);
  try {
    return VerificationKey.parse(JSON.parse(readFileSync(path, "utf8")));
  } catch {
    throw new UserFacingError(`${path} is not a public Ed25519 key in JWK form.`);
  }
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

/** Finds a remote's package by its name in this repository, otherwise by its folder. */
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
      `There is no remote ${remoteOrFolder} in this repository (${remoteNames.join(", ")}), and ${packageFolder} is not the folder of one.`,
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

function formatCompatibility({ vendorId, objections }: VendorCompatibility): string {
  return objections.length === 0 ? `${vendorId}: fits.` : `${vendorId}: ${objections.join("; ")}.`;
}

function formatSigned({ vendor_id: vendor, sequence }: Deployment): string {
  return `${vendor}: signed as number ${String(sequence)}.`;
}

async function rebuildFiles(name: string): Promise<FileHashes> {
  if (!buildTargets.includes(name)) throw new UserFacingError(`The sources of ${name} are not in this repository.`);
  return (await rebuild([name])).get(name) ?? {};
}

function compareFiles(name: string, expected: FileHashes, actual: FileHashes): string[] {
  return formatVerdict(name, Object.keys(expected).length, describeDifferences(expected, actual));
}

function formatVerdict(name: string, fileCount: number, problems: readonly string[]): string[] {
  if (problems.length === 0) return [`${name}: the sources here give the same ${String(fileCount)} files.`];
  process.exitCode = 1;
  return [`${name}: the sources here give other bytes.`, ...problems.map((line) => `  ${line}`)];
}

/** Compares a rebuild with the host that is built here, or that these origins serve. */
async function verifyHost(origin: string | undefined, vaultOrigin: string | undefined): Promise<string[]> {
  const rebuiltFiles = await rebuildFiles("host");
  if (origin === undefined && vaultOrigin === undefined)
    return compareFiles("host", hashBuiltFiles("host"), rebuiltFiles);
  const selectFiles = (folder: string): FileHashes =>
    Object.fromEntries(
      Object.entries(rebuiltFiles)
        .filter(([path]) => path.startsWith(`${folder}static/`))
        .map(([path, integrity]) => [path.slice(folder.length), integrity]),
    );
  const verdicts: string[] = [];
  if (origin !== undefined) {
    const files = selectFiles("");
    const problems = findHostProblems(files, await fetchServedHost(origin, Object.keys(files)));
    verdicts.push(...formatVerdict("host", Object.keys(files).length, problems));
  }
  if (vaultOrigin !== undefined) {
    const files = selectFiles("vault/");
    verdicts.push(
      ...formatVerdict("vault's page", Object.keys(files).length, await findVaultProblems(files, vaultOrigin)),
    );
  }
  return verdicts;
}
