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
import { builtFiles, differences, rebuild, type BuiltFiles } from "../bundle/rebuild.ts";
import { teamKey } from "../keys/development-keys.ts";
import { rootFolder } from "../paths.ts";
import { writeBillOfMaterials } from "../release/bill-of-materials.ts";
import { remoteNames } from "../remotes.ts";
import { Complaint } from "../start/complaint.ts";
import { metricsToken } from "../start/secrets.ts";
import {
  canary,
  override,
  promote,
  release,
  renew,
  rollback,
  setDisabled,
  verify,
  type Compatibility,
} from "./acts.ts";
import { readAuditLog } from "./audit-log.ts";
import { hostProblems, servedHost } from "./published-host.ts";
import { auditFile, openStore, type PortalStore } from "./store.ts";
import { statusOf } from "./status.ts";

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
const from = process.env["INIT_CWD"] ?? process.cwd();
const folder = (name: string, otherwise: string): string => resolve(from, process.env[name] ?? otherwise);

const dataFolder = (): string => folder("DATA_DIR", join(rootFolder, ".data"));
const keysFolder = (): string => folder("KEYS_FOLDER", join(dataFolder(), "keys"));

async function store(): Promise<PortalStore> {
  const data = dataFolder();
  const folders = {
    keys: keysFolder(),
    deployments: folder("DEPLOYMENTS_FOLDER", join(data, "deployments")),
    registry: folder("RELEASES_FOLDER", join(data, "releases")),
  };
  // A key that nobody knows would be made otherwise, and could sign nothing that counts.
  if (!existsSync(join(folders.keys, "portal.json")))
    throw new Complaint(
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
  const { values, positionals } = read();
  const [act = "", subject, ...more] = positionals;
  if (more.length > 0) throw new Complaint(`Too many words: ${more.join(" ")}.\n\n${usage}`);
  const asked = { by: values.by ?? userInfo().username, vendor: values.vendor, reason: values.reason };
  const named = (): string => {
    if (subject === undefined) throw new Complaint(`Say which one.\n\n${usage}`);
    return subject;
  };
  const acts: Readonly<Record<string, (portal: PortalStore) => Promise<readonly string[]>>> = {
    release: async (portal) => {
      const { remote, packageFolder, foreign } = packageOf(named());
      if (foreign) await writeBillOfMaterials(packageFolder);
      return [(await release(portal, { remote, packageFolder, key: await teamKey(remote), ...asked })).record.release];
    },
    verify: async (portal) => {
      if (subject === "host") return verifyHost(values.origin);
      const { release: found, matrix } = await verify(portal, named());
      if (matrix.some(({ objections }) => objections.length > 0)) process.exitCode = 1;
      const { files, manifest } = found.signed;
      return [
        `${named()}: ${String(Object.keys(files).length)} files are what the team signed.`,
        ...matrix.map(described),
        ...(values.rebuild ? compared(manifest.name, files, await rebuilt(manifest.name)) : []),
      ];
    },
    promote: async (portal) => (await promote(portal, named(), { ...asked, force: values.force })).map(signed),
    canary: async (portal) =>
      (await canary(portal, named(), Number(values.percent ?? Number.NaN), { ...asked, force: values.force })).map(
        signed,
      ),
    rollback: async (portal) =>
      (await rollback(portal, named(), asked)).map(
        (deployment) => `${signed(deployment)} ${named()} runs ${deployment.releases[named()]?.stable ?? "nothing"}.`,
      ),
    override: async (portal) => {
      const key = await teamKey(named().split("-")[0] ?? "");
      return override(portal, named(), { ...asked, key, hours: Number(values.hours ?? 8) });
    },
    disable: async (portal) =>
      (await setDisabled(portal, named(), true, asked)).map(
        (deployment) => `${signed(deployment)} Open pages stop it within a minute.`,
      ),
    enable: async (portal) => (await setDisabled(portal, named(), false, asked)).map(signed),
    renew: async (portal) => (await renew(portal, asked)).map(signed),
    status: async (portal) => statusOf(portal, process.env["METRICS_TOKEN"] ?? (await metricsToken(keysFolder()))),
    log: async (portal) =>
      readAuditLog(auditFile(portal)).map(
        ({ v: _v, former: _former, at, by, action, ...facts }) =>
          `${at}  ${by}  ${action}  ${Object.entries(facts)
            .map(([name, value]) => `${name}=${String(value)}`)
            .join("  ")}`,
      ),
  };
  const work = Object.hasOwn(acts, act) ? acts[act] : undefined;
  if (work === undefined) throw new Complaint(usage);
  for (const line of await work(await store())) console.log(line);
} catch (error) {
  // A Complaint is written for the person; anything else is a fault of ours, shown whole.
  console.error(error instanceof Complaint ? error.message : error);
  process.exitCode = 1;
}

function read() {
  try {
    return parseArgs({ args: process.argv.slice(2), options, allowPositionals: true });
  } catch (error) {
    throw new Complaint(`${error instanceof Error ? error.message : "These arguments cannot be read"}\n\n${usage}`);
  }
}

/** A remote of this repository by its name, or the folder of another one. */
function packageOf(asked: string): {
  readonly remote: string;
  readonly packageFolder: string;
  readonly foreign: boolean;
} {
  const foreign = !remoteNames.includes(asked);
  const packageFolder = foreign ? resolve(from, asked) : join(rootFolder, `remote-${asked}`);
  const manifest = join(packageFolder, "manifest.json");
  if (!existsSync(manifest))
    throw new Complaint(
      `There is no remote ${asked} in this repository (${remoteNames.join(", ")}), and ${packageFolder} is no folder of one.`,
    );
  if (!existsSync(join(packageFolder, "build/web")))
    throw new Complaint(
      foreign ? `${packageFolder} is not built: pnpm build there.` : `${asked} is not built: pnpm build ${asked}.`,
    );
  return {
    remote: z.object({ name: RemoteName }).parse(JSON.parse(readFileSync(manifest, "utf8"))).name,
    packageFolder,
    foreign,
  };
}

function described({ vendor, objections }: Compatibility): string {
  return objections.length === 0 ? `${vendor}: fits.` : `${vendor}: ${objections.join("; ")}.`;
}

function signed({ vendor_id: vendor, sequence }: Deployment): string {
  return `${vendor}: signed as number ${String(sequence)}.`;
}

/** What the sources here give. */
async function rebuilt(name: string): Promise<BuiltFiles> {
  if (!buildables.includes(name)) throw new Complaint(`The sources of ${name} are not in this repository.`);
  return (await rebuild([name])).get(name) ?? {};
}

/** What the sources here give, beside what was built of them elsewhere. */
function compared(name: string, wanted: BuiltFiles, found: BuiltFiles): string[] {
  return verdict(name, Object.keys(wanted).length, differences(wanted, found));
}

function verdict(name: string, files: number, problems: readonly string[]): string[] {
  if (problems.length === 0) return [`${name}: the sources here give the same ${String(files)} files.`];
  process.exitCode = 1;
  return [`${name}: the sources here give other bytes.`, ...problems.map((line) => `  ${line}`)];
}

/**
 * The host that was built here, or what a portal elsewhere serves: its scripts and styles, each
 * fetched, and the page that starts them.
 */
async function verifyHost(origin: string | undefined): Promise<string[]> {
  const found = await rebuilt("host");
  if (origin === undefined) return compared("host", builtFiles("host"), found);
  const served = Object.fromEntries(Object.entries(found).filter(([path]) => path.startsWith("static/")));
  return verdict(
    "host",
    Object.keys(served).length,
    hostProblems(served, await servedHost(origin, Object.keys(served))),
  );
}
