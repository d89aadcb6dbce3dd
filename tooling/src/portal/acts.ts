/**
 * What the `portal` command does. Each act signs new deployment documents, for one vendor or for
 * all whom it concerns.
 */
import type { Deployment, PortalPage, ReleaseOverride, ReleaseRecord } from "@relicario/shared/contract";

import type { SigningKey } from "../keys/development-keys.ts";
import { makeRelease, signCompact, type Release } from "../release/release.ts";
import { Complaint } from "../start/complaint.ts";
import { appendToAuditLog } from "./audit-log.ts";
import { hostBeside, objectionsTo } from "./compatibility.ts";
import { addToRegistry, openRelease, type RegisteredRelease } from "./registry.ts";
import {
  alone,
  auditFile,
  logOf,
  manifestsOf,
  readVendor,
  signDocument,
  signedHere,
  vendorsOf,
  writePage,
  type PortalStore,
  type VendorDeployment,
} from "./store.ts";

interface Asked {
  /** Who asks, for the audit log. */
  readonly by: string;
  /** All vendors whom it concerns, without one. */
  readonly vendor?: string | undefined;
  readonly reason?: string | undefined;
  readonly now?: Date | undefined;
}

/** A vendor that would receive a release, and what speaks against it. */
export interface Compatibility {
  readonly vendor: string;
  readonly objections: readonly string[];
}

/**
 * Makes a release of what a remote's package has built, signed by its team, and puts it into the
 * registry. Nobody runs it yet.
 */
export async function release(
  store: PortalStore,
  {
    remote,
    packageFolder,
    key,
    by,
    now = new Date(),
  }: { readonly remote: string; readonly packageFolder: string; readonly key: SigningKey } & Asked,
): Promise<Release> {
  const made = await makeRelease({ remote, packageFolder, webFolder: `${packageFolder}/build/web`, key });
  await alone(store, async () => {
    addToRegistry(store.registry, remote, made.folder, made.record.release);
    appendToAuditLog(auditFile(store), { action: "release", by, remote, release: made.record.release }, now);
  });
  return made;
}

/**
 * Every file of a release against what its team signed, and for each vendor that has this remote
 * whether it fits there.
 */
export async function verify(
  store: PortalStore,
  asked: string,
): Promise<{ readonly release: RegisteredRelease; readonly matrix: readonly Compatibility[] }> {
  const concerned = await vendorsWith(store, remoteOf(asked), undefined);
  const [first] = concerned;
  if (first === undefined) throw new Complaint(`No vendor here has the remote ${remoteOf(asked)}.`);
  return { release: await openFor(store, first, asked), matrix: await matrixOf(store, asked, concerned) };
}

/**
 * Makes a release the stable one. @throws Complaint with the whole matrix when it does not fit
 * somewhere, unless `force`
 */
export function promote(
  store: PortalStore,
  asked: string,
  { force = false, ...more }: Asked & { readonly force?: boolean },
): Promise<readonly Deployment[]> {
  return choose(store, asked, { ...more, force, action: "promote" }, ({ releases }, remote) => ({
    ...releases,
    [remote]: { stable: asked },
  }));
}

/** Gives a release to a share of all sessions; 0 per cent ends that. */
export function canary(
  store: PortalStore,
  asked: string,
  percent: number,
  { force = false, ...more }: Asked & { readonly force?: boolean },
): Promise<readonly Deployment[]> {
  if (!Number.isInteger(percent) || percent < 0 || percent > 100)
    throw new Complaint("A canary takes a whole number of per cent, 0 to 100.");
  return choose(store, asked, { ...more, force, action: "canary", percent }, ({ releases }, remote) => {
    const stable = releases[remote]?.stable;
    if (stable === undefined) throw new Complaint(`${remote} has no stable release yet: promote one first.`);
    return { ...releases, [remote]: { stable, ...(percent > 0 && { canary: { release: asked, percent } }) } };
  });
}

/** Ends the canary of a remote; without one, goes back to the release that was stable before. */
export function rollback(
  store: PortalStore,
  remote: string,
  { by, vendor, reason, now = new Date() }: Asked,
): Promise<readonly Deployment[]> {
  return alone(store, async () => {
    const planned = await Promise.all(
      (await vendorsWith(store, remote, vendor)).map(async (concerned) => {
        const { deployment } = concerned;
        const { stable, canary: tried } = chosen(deployment, remote);
        const back = tried === undefined ? formerOf(store, deployment.vendor_id, remote, stable) : stable;
        if (deployment.disabled?.includes(back) === true)
          throw new Complaint(
            `${back}, which ${deployment.vendor_id} would go back to, is switched off: promote another one.`,
          );
        const { jws } = await openFor(store, concerned, back);
        return {
          next: {
            ...deployment,
            releases: { ...deployment.releases, [remote]: { stable: back } },
            release_records: { ...deployment.release_records, [back]: jws },
          },
          back,
          from: tried?.release ?? stable,
        };
      }),
    );
    return inTurn(planned, ({ next, back, from }) =>
      signDocument(
        store,
        next,
        { action: "rollback", by, remote, release: back, instead_of: from, ...(reason !== undefined && { reason }) },
        now,
      ),
    );
  });
}

/**
 * Signs that one tab may run a release that is not promoted, and gives the links that have it done.
 * It changes no document.
 * @throws Complaint for a portal in production, whose hosts would refuse it
 */
export async function override(
  store: PortalStore,
  asked: string,
  { key, hours, by, vendor, reason, now = new Date() }: Asked & { readonly key: SigningKey; readonly hours: number },
): Promise<readonly string[]> {
  if (!(hours > 0 && hours <= 24)) throw new Complaint("An override is valid for more than 0 and at most 24 hours.");
  return alone(store, async () => {
    const remote = remoteOf(asked);
    const concerned = await vendorsWith(store, remote, vendor);
    if (concerned.length === 0) throw new Complaint(`No vendor here has the remote ${remote}.`);
    return inTurn(concerned, async (each) => {
      const { vendor_id, origin, environment } = each.deployment;
      if (environment === "production")
        throw new Complaint(`${vendor_id} is in production: its portal runs promoted releases alone.`);
      if (each.page.team_keys[remote]?.some(({ kid }) => kid === key.publicKey.kid) !== true)
        throw new Complaint(
          `The key of ${remote}'s team on this machine (${key.publicKey.kid}) is none that the page of ${vendor_id} knows.`,
        );
      const { jws: release_record } = await openFor(store, each, asked);
      const facts: ReleaseOverride = {
        v: 1,
        kind: "release-override",
        vendor_id,
        origin,
        remote,
        release: asked,
        release_record,
        not_after: new Date(now.getTime() + hours * 60 * 60_000).toISOString(),
      };
      appendToAuditLog(
        auditFile(store),
        { action: "override", by, vendor: vendor_id, remote, release: asked, ...(reason !== undefined && { reason }) },
        now,
      );
      return `${origin}/#releaseOverride=${await signCompact(facts, key)}`;
    });
  });
}

/** Stops a release everywhere, in open pages too, or allows it again. It needs no registry. */
export function setDisabled(
  store: PortalStore,
  asked: string,
  disabled: boolean,
  { by, vendor, reason, now = new Date() }: Asked,
): Promise<readonly Deployment[]> {
  return alone(store, async () => {
    const remote = remoteOf(asked);
    const concerned = await vendorsWith(store, remote, vendor);
    return inTurn(concerned, ({ deployment }) => {
      const others = (deployment.disabled ?? []).filter((each) => each !== asked);
      return signDocument(
        store,
        { ...deployment, disabled: disabled ? [...others, asked] : others },
        {
          action: disabled ? "disable" : "enable",
          by,
          remote,
          release: asked,
          ...(reason !== undefined && { reason }),
        },
        now,
      );
    });
  });
}

/** Signs what is in force for another week. */
export function renew(store: PortalStore, { by, vendor, now = new Date() }: Asked): Promise<readonly Deployment[]> {
  return alone(store, () =>
    inTurn(vendor === undefined ? vendorsOf(store) : [vendor], async (each) =>
      signDocument(store, (await readVendor(store, each)).deployment, { action: "renew", by }, now),
    ),
  );
}

/** What the start command gives: a vendor's settings, and what is built at present. */
export interface Present {
  readonly deployment: Deployment;
  readonly page: PortalPage;
  readonly releases: readonly { readonly record: ReleaseRecord; readonly jws: string; readonly folder: string }[];
}

/**
 * Signs for a start: settings as they are now, and of each remote what was built since the last
 * start. What an operator chose stays until then, and what is switched off stays off.
 */
export function startVendor(
  store: PortalStore,
  { deployment: made, page, releases }: Present,
  now: Date = new Date(),
): Promise<Deployment> {
  return alone(store, async () => {
    const vendor = made.vendor_id;
    for (const { record, folder } of releases)
      addToRegistry(store.registry, record.manifest.name, folder, record.release);
    writePage(store, page);
    // Begun anew without a log, or with another key of the portal; what is switched off stays off
    // all the same.
    const former = (await signedHere(store, vendor)) ? (await readVendor(store, vendor)).deployment : null;
    const disabled = disabledOf(store, vendor);
    let next: Deployment = { ...made, releases: {}, release_records: {}, ...(disabled.length > 0 && { disabled }) };
    for (const { record, jws } of releases) {
      const { name } = record.manifest;
      const kept = former?.releases[name];
      const known =
        logOf(store, vendor).findLast(({ action, remote }) => action === "start" && remote === name)?.release ===
        record.release;
      const records = await recordsOf(store, kept, page, name);
      if (known && kept !== undefined && records !== null) {
        next = {
          ...next,
          releases: { ...next.releases, [name]: kept },
          release_records: { ...next.release_records, ...records },
        };
      } else {
        appendToAuditLog(
          auditFile(store),
          {
            action: "start",
            by: "start",
            vendor,
            remote: name,
            release: record.release,
            ...(kept !== undefined && kept.stable !== record.release && { instead_of: kept.stable }),
          },
          now,
        );
        next = {
          ...next,
          releases: { ...next.releases, [name]: { stable: record.release } },
          release_records: { ...next.release_records, [record.release]: jws },
        };
      }
    }
    return signDocument(store, next, { action: "renew", by: "start" }, now);
  });
}

/**
 * Records of a remote's chosen releases as the registry has them now; null when a key that the page
 * no longer has signed one.
 */
async function recordsOf(
  store: PortalStore,
  kept: Deployment["releases"][string] | undefined,
  page: PortalPage,
  remote: string,
): Promise<Deployment["release_records"] | null> {
  const names =
    kept === undefined ? [] : kept.canary === undefined ? [kept.stable] : [kept.stable, kept.canary.release];
  const opened = await Promise.all(
    names.map(
      async (name) =>
        [
          name,
          (await openRelease(store.registry, name, () => page.team_keys[remote] ?? []).catch(() => null))?.jws,
        ] as const,
    ),
  );
  return opened.some(([, jws]) => jws === undefined)
    ? null
    : Object.fromEntries(opened.map(([name, jws]) => [name, jws ?? ""]));
}

/** Releases that were switched off and not allowed again. */
function disabledOf(store: PortalStore, vendor: string): string[] {
  const off = new Set<string>();
  for (const { action, release: named } of logOf(store, vendor)) {
    if (named === undefined) continue;
    if (action === "disable") off.add(named);
    if (action === "enable") off.delete(named);
  }
  return [...off];
}

type Change = (deployment: Deployment, remote: string) => Deployment["releases"];

/** Looks at every vendor before it signs for the first. */
function choose(
  store: PortalStore,
  asked: string,
  {
    by,
    vendor,
    reason,
    force,
    action,
    percent,
    now = new Date(),
  }: Asked & { readonly force: boolean; readonly action: "canary" | "promote"; readonly percent?: number },
  change: Change,
): Promise<readonly Deployment[]> {
  return alone(store, async () => {
    const remote = remoteOf(asked);
    const concerned = await vendorsWith(store, remote, vendor);
    if (concerned.length === 0) throw new Complaint(`No vendor here has the remote ${remote}.`);
    const matrix = percent === 0 ? [] : await matrixOf(store, asked, concerned);
    const against = matrix.filter(({ objections }) => objections.length > 0);
    if (against.length > 0 && !force)
      throw new Complaint(
        [
          `${asked} is not promoted:`,
          ...against.flatMap(({ vendor: name, objections }) =>
            objections.map((objection) => `  ${name}: ${objection}.`),
          ),
        ].join("\n"),
      );
    return inTurn(concerned, async (each) => {
      const { deployment } = each;
      const { jws } = await openFor(store, each, asked);
      const before = deployment.releases[remote]?.stable;
      const forced = against.find((row) => row.vendor === deployment.vendor_id)?.objections;
      return signDocument(
        store,
        {
          ...deployment,
          releases: change(deployment, remote),
          release_records: { ...deployment.release_records, [asked]: jws },
        },
        {
          action,
          by,
          remote,
          release: asked,
          ...(action === "promote" && before !== undefined && before !== asked && { instead_of: before }),
          ...(percent !== undefined && { percent }),
          ...(forced !== undefined && { forced: [...forced] }),
          ...(reason !== undefined && { reason }),
        },
        now,
      );
    });
  });
}

async function matrixOf(
  store: PortalStore,
  asked: string,
  concerned: readonly VendorDeployment[],
): Promise<readonly Compatibility[]> {
  return Promise.all(
    concerned.map(async (each) => {
      const beside = manifestsOf(each.deployment).filter(({ name }) => name !== remoteOf(asked));
      const off =
        each.deployment.disabled?.includes(asked) === true
          ? ["it is switched off there: `portal enable` allows it again"]
          : [];
      return {
        vendor: each.deployment.vendor_id,
        objections: [...off, ...objectionsTo(await openFor(store, each, asked), hostBeside(beside))],
      };
    }),
  );
}

const openFor = (store: PortalStore, { page }: VendorDeployment, asked: string): Promise<RegisteredRelease> =>
  openRelease(store.registry, asked, (remote) => page.team_keys[remote] ?? []);

async function vendorsWith(
  store: PortalStore,
  remote: string,
  vendor: string | undefined,
): Promise<readonly VendorDeployment[]> {
  const all = await Promise.all(
    (vendor === undefined ? vendorsOf(store) : [vendor]).map((each) => readVendor(store, each)),
  );
  return vendor === undefined ? all.filter(({ deployment }) => deployment.releases[remote] !== undefined) : all;
}

function chosen(deployment: Deployment, remote: string): Deployment["releases"][string] {
  const found = deployment.releases[remote];
  if (found === undefined) throw new Complaint(`${deployment.vendor_id} has no remote ${remote}.`);
  return found;
}

/** What was stable before this release was promoted. */
function formerOf(store: PortalStore, vendor: string, remote: string, stable: string): string {
  const promoted = logOf(store, vendor).findLast(
    (entry) =>
      (entry.action === "promote" || entry.action === "start") &&
      entry.remote === remote &&
      entry.release === stable &&
      entry.instead_of !== undefined,
  );
  if (promoted?.instead_of === undefined)
    throw new Complaint(`The audit log knows no release of ${remote} that ${vendor} had before ${stable}.`);
  return promoted.instead_of;
}

function remoteOf(release: string): string {
  return release.split("-")[0] ?? "";
}

/** One after the other: each signing reads the log that the one before wrote. */
async function inTurn<T, R>(list: readonly T[], work: (each: T) => Promise<R>): Promise<readonly R[]> {
  const done: R[] = [];
  for (const each of list) done.push(await work(each));
  return done;
}
