/**
 * What the `portal` command does. Each act signs new deployment documents, for one vendor or for
 * all whom it concerns.
 */
import type { Deployment, PortalTrustAnchors, ReleaseOverride, ReleaseRecord } from "@relicario/shared/contract";

import type { SigningKeyPair } from "../keys/development-keys.ts";
import { makeRelease, signCompact, type Release } from "../release/release.ts";
import { UserFacingError } from "../user-facing-error.ts";
import { appendToAuditLog } from "./audit-log.ts";
import { createHostEnvironment, findObjections } from "../release/compatibility.ts";
import { addToRegistry, loadVerifiedRelease, type RegisteredRelease } from "../release/registry.ts";
import {
  withStoreLock,
  getAuditFile,
  readVendorLog,
  listManifests,
  readVendor,
  signAndPublish,
  hasValidDocument,
  listVendorIds,
  writeTrustAnchors,
  type PortalStore,
  type VendorDeployment,
} from "./store.ts";

interface OperationOptions {
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
export async function registerRelease(
  store: PortalStore,
  {
    remote,
    packageFolder,
    key,
    by,
    now = new Date(),
  }: { readonly remote: string; readonly packageFolder: string; readonly key: SigningKeyPair } & OperationOptions,
): Promise<Release> {
  const newRelease = await makeRelease({ remote, packageFolder, webFolder: `${packageFolder}/build/web`, key });
  await withStoreLock(store, async () => {
    addToRegistry(store.registry, remote, newRelease.folder, newRelease.record.release);
    appendToAuditLog(getAuditFile(store), { action: "release", by, remote, release: newRelease.record.release }, now);
  });
  return newRelease;
}

/**
 * Every file of a release against what its team signed, and for each vendor that has this remote
 * whether it fits there.
 */
export async function verifyRelease(
  store: PortalStore,
  releaseId: string,
): Promise<{ readonly release: RegisteredRelease; readonly matrix: readonly Compatibility[] }> {
  const vendors = await readVendorsWithRemote(store, parseRemoteName(releaseId), undefined);
  const [firstVendor] = vendors;
  if (firstVendor === undefined)
    throw new UserFacingError(`No vendor here has the remote ${parseRemoteName(releaseId)}.`);
  return {
    release: await loadVerifiedReleaseFor(store, firstVendor, releaseId),
    matrix: await checkCompatibility(store, releaseId, vendors),
  };
}

/**
 * Makes a release the stable one. @throws UserFacingError with the whole matrix when it does not
 * fit somewhere, unless `force`
 */
export function promote(
  store: PortalStore,
  releaseId: string,
  { force = false, ...options }: OperationOptions & { readonly force?: boolean },
): Promise<readonly Deployment[]> {
  return changeReleases(store, releaseId, { ...options, force, action: "promote" }, ({ releases }, remote) => ({
    ...releases,
    [remote]: { stable: releaseId },
  }));
}

/** Gives a release to a share of all sessions; 0 per cent ends that. */
export function setCanary(
  store: PortalStore,
  releaseId: string,
  percent: number,
  { force = false, ...options }: OperationOptions & { readonly force?: boolean },
): Promise<readonly Deployment[]> {
  if (!Number.isInteger(percent) || percent < 0 || percent > 100)
    throw new UserFacingError("A canary takes a whole number of per cent, 0 to 100.");
  return changeReleases(store, releaseId, { ...options, force, action: "canary", percent }, ({ releases }, remote) => {
    const stable = releases[remote]?.stable;
    if (stable === undefined) throw new UserFacingError(`${remote} has no stable release yet: promote one first.`);
    return { ...releases, [remote]: { stable, ...(percent > 0 && { canary: { release: releaseId, percent } }) } };
  });
}

/** Ends the canary of a remote; without one, goes back to the release that was stable before. */
export function rollBack(
  store: PortalStore,
  remote: string,
  { by, vendor: vendorId, reason, now = new Date() }: OperationOptions,
): Promise<readonly Deployment[]> {
  return withStoreLock(store, async () => {
    const plans = await Promise.all(
      (await readVendorsWithRemote(store, remote, vendorId)).map(async (vendorDeployment) => {
        const { deployment } = vendorDeployment;
        const { stable, canary: currentCanary } = requireReleaseChoice(deployment, remote);
        const targetRelease =
          currentCanary === undefined ? findPreviousRelease(store, deployment.vendor_id, remote, stable) : stable;
        if (deployment.disabled?.includes(targetRelease) === true)
          throw new UserFacingError(
            `${targetRelease}, which ${deployment.vendor_id} would go back to, is switched off: promote another one.`,
          );
        const { jws } = await loadVerifiedReleaseFor(store, vendorDeployment, targetRelease);
        return {
          next: {
            ...deployment,
            releases: { ...deployment.releases, [remote]: { stable: targetRelease } },
            release_records: { ...deployment.release_records, [targetRelease]: jws },
          },
          targetRelease,
          replacedRelease: currentCanary?.release ?? stable,
        };
      }),
    );
    return mapSequentially(plans, ({ next, targetRelease, replacedRelease }) =>
      signAndPublish(
        store,
        next,
        {
          action: "rollback",
          by,
          remote,
          release: targetRelease,
          instead_of: replacedRelease,
          ...(reason !== undefined && { reason }),
        },
        now,
      ),
    );
  });
}

/**
 * Signs that one tab may run a release that is not promoted, and gives the links that have it done.
 * It changes no document.
 * @throws UserFacingError for a portal in production, whose hosts would refuse it
 */
export async function createOverrideLinks(
  store: PortalStore,
  releaseId: string,
  {
    key,
    hours,
    by,
    vendor: vendorId,
    reason,
    now = new Date(),
  }: OperationOptions & { readonly key: SigningKeyPair; readonly hours: number },
): Promise<readonly string[]> {
  if (!(hours > 0 && hours <= 24))
    throw new UserFacingError("An override is valid for more than 0 and at most 24 hours.");
  return withStoreLock(store, async () => {
    const remote = parseRemoteName(releaseId);
    const vendors = await readVendorsWithRemote(store, remote, vendorId);
    if (vendors.length === 0) throw new UserFacingError(`No vendor here has the remote ${remote}.`);
    return mapSequentially(vendors, async (vendorDeployment) => {
      const { vendor_id, origin, environment } = vendorDeployment.deployment;
      if (environment === "production")
        throw new UserFacingError(`${vendor_id} is in production: its portal runs promoted releases alone.`);
      if (vendorDeployment.page.team_keys[remote]?.some(({ kid }) => kid === key.publicKey.kid) !== true)
        throw new UserFacingError(
          `The key of ${remote}'s team on this machine (${key.publicKey.kid}) is none that the page of ${vendor_id} knows.`,
        );
      const { jws: release_record } = await loadVerifiedReleaseFor(store, vendorDeployment, releaseId);
      const overrideDocument: ReleaseOverride = {
        v: 1,
        kind: "release-override",
        vendor_id,
        origin,
        remote,
        release: releaseId,
        release_record,
        not_after: new Date(now.getTime() + hours * 60 * 60_000).toISOString(),
      };
      appendToAuditLog(
        getAuditFile(store),
        {
          action: "override",
          by,
          vendor: vendor_id,
          remote,
          release: releaseId,
          ...(reason !== undefined && { reason }),
        },
        now,
      );
      return `${origin}/#releaseOverride=${await signCompact(overrideDocument, key)}`;
    });
  });
}

/** Stops a release everywhere, in open pages too, or allows it again. It needs no registry. */
export function setDisabled(
  store: PortalStore,
  releaseId: string,
  disabled: boolean,
  { by, vendor: vendorId, reason, now = new Date() }: OperationOptions,
): Promise<readonly Deployment[]> {
  return withStoreLock(store, async () => {
    const remote = parseRemoteName(releaseId);
    const vendors = await readVendorsWithRemote(store, remote, vendorId);
    return mapSequentially(vendors, ({ deployment }) => {
      const otherDisabled = (deployment.disabled ?? []).filter((id) => id !== releaseId);
      return signAndPublish(
        store,
        { ...deployment, disabled: disabled ? [...otherDisabled, releaseId] : otherDisabled },
        {
          action: disabled ? "disable" : "enable",
          by,
          remote,
          release: releaseId,
          ...(reason !== undefined && { reason }),
        },
        now,
      );
    });
  });
}

/** Signs what is in force for another week. */
export function renewDocuments(
  store: PortalStore,
  { by, vendor: vendorId, now = new Date() }: OperationOptions,
): Promise<readonly Deployment[]> {
  return withStoreLock(store, () =>
    mapSequentially(vendorId === undefined ? listVendorIds(store) : [vendorId], async (vendorId) =>
      signAndPublish(store, (await readVendor(store, vendorId)).deployment, { action: "renew", by }, now),
    ),
  );
}

/** What the start command gives: a vendor's settings, and what is built at present. */
export interface StartInput {
  readonly deployment: Deployment;
  readonly page: PortalTrustAnchors;
  readonly releases: readonly { readonly record: ReleaseRecord; readonly jws: string; readonly folder: string }[];
}

/**
 * Signs for a start: settings as they are now, and of each remote what was built since the last
 * start. What an operator chose stays until then, and what is switched off stays off.
 */
export function startVendor(
  store: PortalStore,
  { deployment: initialDeployment, page: trustAnchors, releases }: StartInput,
  now: Date = new Date(),
): Promise<Deployment> {
  return withStoreLock(store, async () => {
    const vendorId = initialDeployment.vendor_id;
    for (const { record, folder } of releases)
      addToRegistry(store.registry, record.manifest.name, folder, record.release);
    writeTrustAnchors(store, trustAnchors);
    // Begun anew without a log, or with another key of the portal; what is switched off stays off
    // all the same.
    const previousDeployment = (await hasValidDocument(store, vendorId))
      ? (await readVendor(store, vendorId)).deployment
      : null;
    const disabledReleases = listDisabledReleases(store, vendorId);
    let next: Deployment = {
      ...initialDeployment,
      releases: {},
      release_records: {},
      ...(disabledReleases.length > 0 && { disabled: disabledReleases }),
    };
    for (const { record, jws } of releases) {
      const { name } = record.manifest;
      const previousChoice = previousDeployment?.releases[name];
      const isUnchanged =
        readVendorLog(store, vendorId).findLast(({ action, remote }) => action === "start" && remote === name)
          ?.release === record.release;
      const records = await readChosenRecords(store, previousChoice, trustAnchors, name);
      if (isUnchanged && previousChoice !== undefined && records !== null) {
        next = {
          ...next,
          releases: { ...next.releases, [name]: previousChoice },
          release_records: { ...next.release_records, ...records },
        };
      } else {
        appendToAuditLog(
          getAuditFile(store),
          {
            action: "start",
            by: "start",
            vendor: vendorId,
            remote: name,
            release: record.release,
            ...(previousChoice !== undefined &&
              previousChoice.stable !== record.release && { instead_of: previousChoice.stable }),
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
    return signAndPublish(store, next, { action: "renew", by: "start" }, now);
  });
}

/**
 * Records of a remote's chosen releases as the registry has them now; null when a key that the page
 * no longer has signed one.
 */
async function readChosenRecords(
  store: PortalStore,
  previousChoice: Deployment["releases"][string] | undefined,
  trustAnchors: PortalTrustAnchors,
  remote: string,
): Promise<Deployment["release_records"] | null> {
  const releaseIds =
    previousChoice === undefined
      ? []
      : previousChoice.canary === undefined
        ? [previousChoice.stable]
        : [previousChoice.stable, previousChoice.canary.release];
  const openedRecords = await Promise.all(
    releaseIds.map(
      async (name) =>
        [
          name,
          (
            await loadVerifiedRelease(store.registry, name, () => trustAnchors.team_keys[remote] ?? []).catch(
              () => null,
            )
          )?.jws,
        ] as const,
    ),
  );
  return openedRecords.some(([, jws]) => jws === undefined)
    ? null
    : Object.fromEntries(openedRecords.map(([name, jws]) => [name, jws ?? ""]));
}

/** Releases that were switched off and not allowed again. */
function listDisabledReleases(store: PortalStore, vendorId: string): string[] {
  const disabledReleases = new Set<string>();
  for (const { action, release: releaseId } of readVendorLog(store, vendorId)) {
    if (releaseId === undefined) continue;
    if (action === "disable") disabledReleases.add(releaseId);
    if (action === "enable") disabledReleases.delete(releaseId);
  }
  return [...disabledReleases];
}

type ReleaseChange = (deployment: Deployment, remote: string) => Deployment["releases"];

/** Looks at every vendor before it signs for the first. */
function changeReleases(
  store: PortalStore,
  releaseId: string,
  {
    by,
    vendor: vendorId,
    reason,
    force,
    action,
    percent,
    now = new Date(),
  }: OperationOptions & { readonly force: boolean; readonly action: "canary" | "promote"; readonly percent?: number },
  change: ReleaseChange,
): Promise<readonly Deployment[]> {
  return withStoreLock(store, async () => {
    const remote = parseRemoteName(releaseId);
    const vendors = await readVendorsWithRemote(store, remote, vendorId);
    if (vendors.length === 0) throw new UserFacingError(`No vendor here has the remote ${remote}.`);
    const matrix = percent === 0 ? [] : await checkCompatibility(store, releaseId, vendors);
    const incompatible = matrix.filter(({ objections }) => objections.length > 0);
    if (incompatible.length > 0 && !force)
      throw new UserFacingError(
        [
          `${releaseId} is not promoted:`,
          ...incompatible.flatMap(({ vendor: name, objections }) =>
            objections.map((objection) => `  ${name}: ${objection}.`),
          ),
        ].join("\n"),
      );
    return mapSequentially(vendors, async (vendorDeployment) => {
      const { deployment } = vendorDeployment;
      const { jws } = await loadVerifiedReleaseFor(store, vendorDeployment, releaseId);
      const previousStable = deployment.releases[remote]?.stable;
      const forcedObjections = incompatible.find((row) => row.vendor === deployment.vendor_id)?.objections;
      return signAndPublish(
        store,
        {
          ...deployment,
          releases: change(deployment, remote),
          release_records: { ...deployment.release_records, [releaseId]: jws },
        },
        {
          action,
          by,
          remote,
          release: releaseId,
          ...(action === "promote" &&
            previousStable !== undefined &&
            previousStable !== releaseId && { instead_of: previousStable }),
          ...(percent !== undefined && { percent }),
          ...(forcedObjections !== undefined && { forced: [...forcedObjections] }),
          ...(reason !== undefined && { reason }),
        },
        now,
      );
    });
  });
}

async function checkCompatibility(
  store: PortalStore,
  releaseId: string,
  vendors: readonly VendorDeployment[],
): Promise<readonly Compatibility[]> {
  return Promise.all(
    vendors.map(async (vendorDeployment) => {
      const otherManifests = listManifests(vendorDeployment.deployment).filter(
        ({ name }) => name !== parseRemoteName(releaseId),
      );
      const disabledObjections =
        vendorDeployment.deployment.disabled?.includes(releaseId) === true
          ? ["it is switched off there: `portal enable` allows it again"]
          : [];
      return {
        vendor: vendorDeployment.deployment.vendor_id,
        objections: [
          ...disabledObjections,
          ...findObjections(
            await loadVerifiedReleaseFor(store, vendorDeployment, releaseId),
            createHostEnvironment(otherManifests),
          ),
        ],
      };
    }),
  );
}

const loadVerifiedReleaseFor = (
  store: PortalStore,
  { page: trustAnchors }: VendorDeployment,
  releaseId: string,
): Promise<RegisteredRelease> =>
  loadVerifiedRelease(store.registry, releaseId, (remote) => trustAnchors.team_keys[remote] ?? []);

async function readVendorsWithRemote(
  store: PortalStore,
  remote: string,
  vendorId: string | undefined,
): Promise<readonly VendorDeployment[]> {
  const vendorDeployments = await Promise.all(
    (vendorId === undefined ? listVendorIds(store) : [vendorId]).map((vendorId) => readVendor(store, vendorId)),
  );
  return vendorId === undefined
    ? vendorDeployments.filter(({ deployment }) => deployment.releases[remote] !== undefined)
    : vendorDeployments;
}

function requireReleaseChoice(deployment: Deployment, remote: string): Deployment["releases"][string] {
  const choice = deployment.releases[remote];
  if (choice === undefined) throw new UserFacingError(`${deployment.vendor_id} has no remote ${remote}.`);
  return choice;
}

/** What was stable before this release was promoted. */
function findPreviousRelease(store: PortalStore, vendorId: string, remote: string, stable: string): string {
  const promotion = readVendorLog(store, vendorId).findLast(
    (entry) =>
      (entry.action === "promote" || entry.action === "start") &&
      entry.remote === remote &&
      entry.release === stable &&
      entry.instead_of !== undefined,
  );
  if (promotion?.instead_of === undefined)
    throw new UserFacingError(`The audit log knows no release of ${remote} that ${vendorId} had before ${stable}.`);
  return promotion.instead_of;
}

function parseRemoteName(release: string): string {
  return release.split("-")[0] ?? "";
}

/** One after the other: each signing reads the log that the one before wrote. */
async function mapSequentially<T, R>(items: readonly T[], callback: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await callback(item));
  return results;
}
