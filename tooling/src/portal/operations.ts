/**
 * Operations of the `portal` command. Each signs new documents, for one vendor or for all that it
 * concerns.
 */
import {
  ReleaseId,
  vaultRemote,
  type Deployment,
  type PortalTrustAnchors,
  type ReleaseOverride,
  type ReleaseRecord,
  type VerificationKey,
} from "@relicario/shared/contract";

import type { SigningKeyPair } from "../keys/signing-keys.ts";
import { makeRelease, signCompact, type Release } from "../release/release.ts";
import { UserFacingError } from "../user-facing-error.ts";
import { appendToAuditLog, readAuditLog } from "./audit-log.ts";
import { createHostEnvironment, findObjections } from "../release/compatibility.ts";
import {
  addToRegistry,
  listReleases,
  listRemotes,
  importIntoRegistry,
  loadVerifiedRelease,
  type RegisteredRelease,
} from "../release/registry.ts";
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
  type PortalFolders,
  type PortalStore,
  type VendorDeployment,
} from "./store.ts";

interface OperationOptions {
  readonly by: string;
  /** The vendor to change; undefined for all vendors that the operation concerns. */
  readonly vendorId?: string | undefined;
  readonly reason?: string | undefined;
  readonly now?: Date | undefined;
}

export interface VendorCompatibility {
  readonly vendorId: string;
  readonly objections: readonly string[];
}

/** Signs a remote's build and adds it to the registry. No page runs it yet. */
export async function registerRelease(
  store: PortalStore,
  {
    remote,
    packageFolder,
    keyPair,
    by,
    now = new Date(),
  }: { readonly remote: string; readonly packageFolder: string; readonly keyPair: SigningKeyPair } & OperationOptions,
): Promise<Release> {
  const newRelease = await makeRelease({
    remote,
    packageFolder,
    webFolder: `${packageFolder}/build/web`,
    keyPair,
  });
  await withStoreLock(store, async () => {
    addToRegistry(store.registryFolder, remote, newRelease.folder, newRelease.record.release);
    appendToAuditLog(getAuditFile(store), { action: "release", by, remote, release: newRelease.record.release }, now);
  });
  return newRelease;
}

/**
 * Adds a release that its team built and signed elsewhere. No page runs it yet.
 *
 * @param folder of the release, with its `release.json`
 * @returns the release's id
 * @throws UserFacingError when no page of a vendor here names the key, or a file is not what was
 *   signed
 */
export async function importRelease(
  store: PortalStore,
  folder: string,
  { by, vendorId, reason, now = new Date() }: OperationOptions,
): Promise<string> {
  const vendors = await Promise.all(
    (vendorId === undefined ? listVendorIds(store) : [vendorId]).map((name) => readVendor(store, name)),
  );
  const findKeys = (remote: string): readonly VerificationKey[] => [
    ...new Map(
      vendors.flatMap(({ trustAnchors }) => (trustAnchors.team_keys[remote] ?? []).map((key) => [key.kid, key])),
    ).values(),
  ];
  const release = await importIntoRegistry(store.registryFolder, folder, findKeys);
  const remote = parseRemoteName(release);
  await withStoreLock(store, async () => {
    const event = { action: "import", by, remote, release, ...(reason !== undefined && { reason }) } as const;
    appendToAuditLog(getAuditFile(store), event, now);
  });
  return release;
}

/**
 * Trusts the key of a team that signs elsewhere. Its releases can be imported at once; pages know
 * the key from the next start of the gateway.
 *
 * @returns the vendors that did not trust it before
 * @throws UserFacingError when all trust it already, and for the remote with the vault
 */
export async function trustTeam(
  store: PortalStore,
  remote: string,
  key: VerificationKey,
  options: OperationOptions,
): Promise<readonly string[]> {
  // Pages of the vault's origin have its key, too. It comes only with the portal.
  if (remote === vaultRemote)
    throw new UserFacingError(`${remote} has the vault: only the portal's own team signs it.`);
  return changeTeamKeys(store, { ...options, action: "trust", remote }, ({ team_keys: keys }) =>
    (keys[remote] ?? []).some(({ kid }) => kid === key.kid) ? [] : [key],
  );
}

/**
 * Ends the trust in all keys of a remote that {@link trustTeam} added. Pages refuse what they
 * signed from the next start of the gateway.
 *
 * @returns the vendors that trusted one
 * @throws UserFacingError when none was added
 */
export function distrustTeam(
  store: PortalStore,
  remote: string,
  options: OperationOptions,
): Promise<readonly string[]> {
  return changeTeamKeys(
    store,
    { ...options, action: "distrust", remote },
    ({ vendor_id: vendorId }) => listAddedTeamKeys(store, vendorId)[remote] ?? [],
  );
}

/** @param chooseKeys returns the keys that a vendor is to trust or distrust */
function changeTeamKeys(
  store: PortalStore,
  {
    by,
    vendorId,
    reason,
    action,
    remote,
    now = new Date(),
  }: OperationOptions & { readonly action: "trust" | "distrust"; readonly remote: string },
  chooseKeys: (trustAnchors: PortalTrustAnchors) => readonly VerificationKey[],
): Promise<readonly string[]> {
  return withStoreLock(store, async () => {
    const vendors = await Promise.all(
      (vendorId === undefined ? listVendorIds(store) : [vendorId]).map((name) => readVendor(store, name)),
    );
    const changes = vendors
      .map(({ trustAnchors }) => ({ trustAnchors, keys: chooseKeys(trustAnchors) }))
      .filter(({ keys }) => keys.length > 0);
    if (changes.length === 0)
      throw new UserFacingError(
        action === "trust"
          ? `This key of ${remote} is trusted already: nothing was changed.`
          : `No key of ${remote} was added here: nothing was changed.`,
      );
    for (const { trustAnchors, keys } of changes) {
      const { vendor_id: vendor, team_keys: teamKeys } = trustAnchors;
      for (const key of keys) {
        const event = { action, by, vendor, remote, key, ...(reason !== undefined && { reason }) };
        appendToAuditLog(getAuditFile(store), event, now);
      }
      const { [remote]: previousKeys = [], ...otherKeys } = teamKeys;
      const keptKeys = previousKeys.filter(({ kid }) => !keys.some((key) => key.kid === kid));
      const nextKeys = { ...otherKeys, ...(keptKeys.length > 0 && { [remote]: keptKeys }) };
      writeTrustAnchors(store, addTeamKeys(store, { ...trustAnchors, team_keys: nextKeys }));
    }
    return changes.map(({ trustAnchors }) => trustAnchors.vendor_id);
  });
}

/** Keys that {@link trustTeam} added, by remote. */
function listAddedTeamKeys(
  store: PortalFolders,
  vendorId: string,
): Readonly<Record<string, readonly VerificationKey[]>> {
  const keys = new Map<string, readonly VerificationKey[]>();
  for (const { action, remote, key } of readVendorLog(store, vendorId)) {
    if (remote === undefined || key === undefined) continue;
    const others = (keys.get(remote) ?? []).filter(({ kid }) => kid !== key.kid);
    keys.set(remote, action === "trust" ? [...others, key] : others);
  }
  return Object.fromEntries([...keys].filter(([, added]) => added.length > 0));
}

/** Adds the keys of teams that sign elsewhere to those of the portal's own build. */
export function addTeamKeys(store: PortalFolders, trustAnchors: PortalTrustAnchors): PortalTrustAnchors {
  const teamKeys = { ...trustAnchors.team_keys };
  for (const [remote, added] of Object.entries(listAddedTeamKeys(store, trustAnchors.vendor_id))) {
    const own = teamKeys[remote] ?? [];
    teamKeys[remote] = [...own, ...added.filter(({ kid }) => !own.some((key) => key.kid === kid))];
  }
  return { ...trustAnchors, team_keys: teamKeys };
}

/**
 * Verifies every file, and lists the objections of each vendor that has the remote.
 *
 * @param subject a release, or a remote for its latest one
 */
export async function verifyRelease(
  store: PortalStore,
  subject: string,
): Promise<{ readonly release: RegisteredRelease; readonly compatibility: readonly VendorCompatibility[] }> {
  const { remote, releaseId } = findRelease(store, subject);
  const vendors = await readVendorsWithRemote(store, remote, undefined);
  const [firstVendor] = vendors;
  if (firstVendor === undefined) throw new UserFacingError(`No vendor here has the remote ${remote}.`);
  return {
    release: await loadVerifiedReleaseFor(store, firstVendor, releaseId),
    compatibility: await checkCompatibility(store, releaseId, vendors),
  };
}

/**
 * @param subject a release, or a remote for its latest one
 * @throws UserFacingError with all objections of all vendors, unless `force`
 */
export function promote(
  store: PortalStore,
  subject: string,
  { force = false, ...options }: OperationOptions & { readonly force?: boolean },
): Promise<readonly Deployment[]> {
  return changeReleases(store, subject, { ...options, force, action: "promote" }, (_choice, releaseId) => ({
    stable: releaseId,
  }));
}

/**
 * Sets the per cent of sessions that run the release; 0 ends the canary.
 *
 * @param subject a release, or a remote for its latest one
 */
export function setCanary(
  store: PortalStore,
  subject: string,
  percent: number,
  { force = false, ...options }: OperationOptions & { readonly force?: boolean },
): Promise<readonly Deployment[]> {
  if (!Number.isInteger(percent) || percent < 0 || percent > 100)
    throw new UserFacingError("A canary takes a whole number of per cent, 0 to 100.");
  return changeReleases(store, subject, { ...options, force, action: "canary", percent }, (choice, releaseId) => {
    if (choice === undefined)
      throw new UserFacingError(`No release of ${parseRemoteName(releaseId)} is stable yet: promote one first.`);
    return { stable: choice.stable, ...(percent > 0 && { canary: { release: releaseId, percent } }) };
  });
}

/**
 * Ends the canary; without one, returns to the previous stable release.
 *
 * @throws UserFacingError for a remote that no vendor has
 */
export function rollBack(
  store: PortalStore,
  remote: string,
  { by, vendorId, reason, now = new Date() }: OperationOptions,
): Promise<readonly Deployment[]> {
  return withStoreLock(store, async () => {
    if (isReleaseId(remote)) throw new UserFacingError(`A rollback takes a remote's name: ${parseRemoteName(remote)}.`);
    requireRemote(store, remote);
    const plans = await Promise.all(
      (await readVendorsWithRemote(store, remote, vendorId)).map(async (vendorDeployment) => {
        const { deployment } = vendorDeployment;
        const { stable, canary: currentCanary } = requireReleaseChoice(deployment, remote);
        const targetRelease =
          currentCanary === undefined ? findPreviousRelease(store, deployment.vendor_id, remote, stable) : stable;
        if (deployment.disabled?.includes(targetRelease) === true)
          throw new UserFacingError(
            `${targetRelease}, which ${deployment.vendor_id} would return to, is disabled: promote another one.`,
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
    if (plans.length === 0) throw new UserFacingError(`No vendor here has the remote ${remote}.`);
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
 * Returns links with which one tab runs an unpromoted release. Changes no document.
 *
 * @param subject a release, or a remote for its latest one
 * @throws UserFacingError for a portal in production, whose host refuses overrides
 */
export async function createOverrideLinks(
  store: PortalStore,
  subject: string,
  {
    loadKeyPair,
    hours,
    by,
    vendorId,
    reason,
    now = new Date(),
  }: OperationOptions & {
    /** Loads the key of the remote's team. */
    readonly loadKeyPair: (remote: string) => Promise<SigningKeyPair>;
    readonly hours: number;
  },
): Promise<readonly string[]> {
  if (!(hours > 0 && hours <= 24))
    throw new UserFacingError("An override is valid for more than 0 and at most 24 hours.");
  return withStoreLock(store, async () => {
    const { remote, releaseId } = findRelease(store, subject);
    const vendors = await readVendorsWithRemote(store, remote, vendorId);
    if (vendors.length === 0) throw new UserFacingError(`No vendor here has the remote ${remote}.`);
    const keyPair = await loadKeyPair(remote);
    return mapSequentially(vendors, async (vendorDeployment) => {
      const { vendor_id, origin, environment } = vendorDeployment.deployment;
      if (environment === "production")
        throw new UserFacingError(`${vendor_id} is in production: its portal runs only promoted releases.`);
      if (vendorDeployment.trustAnchors.team_keys[remote]?.some(({ kid }) => kid === keyPair.publicKey.kid) !== true)
        throw new UserFacingError(
          `The key of ${remote}'s team on this machine (${keyPair.publicKey.kid}) is not in the page of ${vendor_id}.`,
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
      return `${origin}/#releaseOverride=${await signCompact(overrideDocument, keyPair)}`;
    });
  });
}

/**
 * Disables a release, in open pages too, or enables it again. Needs no registry.
 *
 * @param subject a release; or a remote, for those of its releases that run or are disabled
 * @returns the documents of vendors for which something changed
 * @throws UserFacingError if nothing changes for any vendor
 */
export function setDisabled(
  store: PortalStore,
  subject: string,
  disabled: boolean,
  { by, vendorId, reason, now = new Date() }: OperationOptions,
): Promise<readonly Deployment[]> {
  return withStoreLock(store, async () => {
    const remote = parseRemoteName(subject);
    const vendors = await readVendorsWithRemote(store, remote, vendorId);
    if (isReleaseId(subject)) requireKnownRelease(store, subject);
    else requireRemote(store, remote);
    const plans = vendors.flatMap(({ deployment }) => {
      const alreadyDisabled = deployment.disabled ?? [];
      const candidates = isReleaseId(subject)
        ? [subject]
        : disabled
          ? listChosenReleases(deployment.releases[remote])
          : alreadyDisabled.filter((id) => parseRemoteName(id) === remote);
      const changedIds = candidates.filter((id) => alreadyDisabled.includes(id) !== disabled);
      return changedIds.map((id) => ({ vendorId: deployment.vendor_id, releaseId: id }));
    });
    if (plans.length === 0)
      throw new UserFacingError(
        vendors.length === 0
          ? `No vendor here has the remote ${remote}.`
          : `${subject} is ${disabled ? "already" : "not"} disabled: nothing was changed.`,
      );
    const signedDocuments = await mapSequentially(plans, async (plan) => {
      const { deployment } = await readVendor(store, plan.vendorId);
      const otherDisabled = (deployment.disabled ?? []).filter((id) => id !== plan.releaseId);
      return signAndPublish(
        store,
        { ...deployment, disabled: disabled ? [...otherDisabled, plan.releaseId] : otherDisabled },
        {
          action: disabled ? "disable" : "enable",
          by,
          remote,
          release: plan.releaseId,
          ...(reason !== undefined && { reason }),
        },
        now,
      );
    });
    return [...new Map(signedDocuments.map((deployment) => [deployment.vendor_id, deployment])).values()];
  });
}

/** Signs the current documents again, for another week. */
export function renewDocuments(
  store: PortalStore,
  { by, vendorId, now = new Date() }: OperationOptions,
): Promise<readonly Deployment[]> {
  return withStoreLock(store, () =>
    mapSequentially(vendorId === undefined ? listVendorIds(store) : [vendorId], async (vendorId) =>
      signAndPublish(store, (await readVendor(store, vendorId)).deployment, { action: "renew", by }, now),
    ),
  );
}

export interface StartInput {
  readonly deployment: Deployment;
  readonly trustAnchors: PortalTrustAnchors;
  readonly releases: readonly { readonly record: ReleaseRecord; readonly jws: string; readonly folder: string }[];
}

/**
 * Publishes documents with the builds of remotes that were built since the last start, and with the
 * operator's choices of all others. Disabled releases stay disabled.
 */
export function publishAtStart(
  store: PortalStore,
  { deployment: initialDeployment, trustAnchors: ownTrustAnchors, releases }: StartInput,
  now: Date = new Date(),
): Promise<Deployment> {
  return withStoreLock(store, async () => {
    const vendorId = initialDeployment.vendor_id;
    for (const { record, folder } of releases)
      addToRegistry(store.registryFolder, record.manifest.name, folder, record.release);
    const trustAnchors = addTeamKeys(store, ownTrustAnchors);
    writeTrustAnchors(store, trustAnchors);
    // Without a log, or with a new portal key, earlier choices are dropped. Releases that the log
    // disables stay disabled.
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
    // Imported releases of remotes that are not built here.
    for (const [name, choice] of Object.entries(previousDeployment?.releases ?? {})) {
      const records =
        next.releases[name] === undefined ? await readChosenRecords(store, choice, trustAnchors, name) : null;
      if (records !== null)
        next = {
          ...next,
          releases: { ...next.releases, [name]: choice },
          release_records: { ...next.release_records, ...records },
        };
    }
    return signAndPublish(store, next, { action: "renew", by: "start" }, now);
  });
}

/** Null when a release is missing, or its key is no longer in the page. */
async function readChosenRecords(
  store: PortalStore,
  previousChoice: Deployment["releases"][string] | undefined,
  trustAnchors: PortalTrustAnchors,
  remote: string,
): Promise<Deployment["release_records"] | null> {
  const openedRecords = await Promise.all(
    listChosenReleases(previousChoice).map(
      async (name) =>
        [
          name,
          (
            await loadVerifiedRelease(store.registryFolder, name, () => trustAnchors.team_keys[remote] ?? []).catch(
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

/** Releases that were disabled and not enabled again. */
function listDisabledReleases(store: PortalStore, vendorId: string): string[] {
  const disabledReleases = new Set<string>();
  for (const { action, release: releaseId } of readVendorLog(store, vendorId)) {
    if (releaseId === undefined) continue;
    if (action === "disable") disabledReleases.add(releaseId);
    if (action === "enable") disabledReleases.delete(releaseId);
  }
  return [...disabledReleases];
}

type ReleaseChoice = Deployment["releases"][string];
type ReleaseChange = (choice: ReleaseChoice | undefined, releaseId: string) => ReleaseChoice;

/** Checks every vendor before it signs for the first. */
function changeReleases(
  store: PortalStore,
  subject: string,
  {
    by,
    vendorId,
    reason,
    force,
    action,
    percent,
    now = new Date(),
  }: OperationOptions & { readonly force: boolean; readonly action: "canary" | "promote"; readonly percent?: number },
  change: ReleaseChange,
): Promise<readonly Deployment[]> {
  return withStoreLock(store, async () => {
    const { remote, releaseId } = findRelease(store, subject);
    const runningVendors = await readVendorsWithRemote(store, remote, vendorId);
    const vendors = runningVendors.length > 0 ? runningVendors : await readVendorsThatTrust(store, remote);
    if (vendors.length === 0) throw new UserFacingError(`No vendor here has the remote ${remote}.`);
    if (percent === 0 && vendors.every(({ deployment }) => deployment.releases[remote]?.canary === undefined))
      throw new UserFacingError(`${remote} has no canary: nothing was changed.`);
    const compatibility = percent === 0 ? [] : await checkCompatibility(store, releaseId, vendors);
    const incompatible = compatibility.filter(({ objections }) => objections.length > 0);
    if (incompatible.length > 0 && !force)
      throw new UserFacingError(
        [
          `${releaseId} does not fit:`,
          ...incompatible.flatMap(({ vendorId: name, objections }) =>
            objections.map((objection) => `  ${name}: ${objection}.`),
          ),
        ].join("\n"),
      );
    return mapSequentially(vendors, async (vendorDeployment) => {
      const { deployment } = vendorDeployment;
      const { jws } = await loadVerifiedReleaseFor(store, vendorDeployment, releaseId);
      const previousStable = deployment.releases[remote]?.stable;
      const forcedObjections = incompatible.find((row) => row.vendorId === deployment.vendor_id)?.objections;
      return signAndPublish(
        store,
        {
          ...deployment,
          releases: { ...deployment.releases, [remote]: change(deployment.releases[remote], releaseId) },
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
): Promise<readonly VendorCompatibility[]> {
  return Promise.all(
    vendors.map(async (vendorDeployment) => {
      const otherManifests = listManifests(vendorDeployment.deployment).filter(
        ({ name }) => name !== parseRemoteName(releaseId),
      );
      const disabledObjections =
        vendorDeployment.deployment.disabled?.includes(releaseId) === true
          ? ["it is disabled there: `portal enable` allows it again"]
          : [];
      return {
        vendorId: vendorDeployment.deployment.vendor_id,
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
  { trustAnchors }: VendorDeployment,
  releaseId: string,
): Promise<RegisteredRelease> =>
  loadVerifiedRelease(store.registryFolder, releaseId, (remote) => trustAnchors.team_keys[remote] ?? []);

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

/** Vendors whose page names a key of the remote's team. */
async function readVendorsThatTrust(store: PortalStore, remote: string): Promise<readonly VendorDeployment[]> {
  const vendorDeployments = await Promise.all(listVendorIds(store).map((vendorId) => readVendor(store, vendorId)));
  return vendorDeployments.filter(({ trustAnchors }) => trustAnchors.team_keys[remote] !== undefined);
}

function requireReleaseChoice(deployment: Deployment, remote: string): ReleaseChoice {
  const choice = deployment.releases[remote];
  if (choice === undefined) throw new UserFacingError(`${deployment.vendor_id} has no remote ${remote}.`);
  return choice;
}

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

/** Takes a release's id, or a remote's name. */
export function parseRemoteName(subject: string): string {
  return subject.split("-")[0] ?? "";
}

const isReleaseId = (subject: string): boolean => ReleaseId.safeParse(subject).success;

/**
 * Finds the release that an operator names: by its id, or by its remote for the one that was
 * registered last.
 *
 * @throws UserFacingError if there is none
 */
function findRelease(store: PortalStore, subject: string): { readonly remote: string; readonly releaseId: string } {
  const remote = parseRemoteName(subject);
  if (isReleaseId(subject)) return { remote, releaseId: subject };
  requireRemote(store, subject);
  const registeredReleases = listReleases(store.registryFolder, remote);
  const latest = readAuditLog(getAuditFile(store)).findLast(
    ({ action, release }) =>
      ["release", "import", "start"].includes(action) && release !== undefined && registeredReleases.includes(release),
  )?.release;
  if (latest === undefined) throw new UserFacingError(`The registry has no release of ${remote}.`);
  return { remote, releaseId: latest };
}

/** @throws UserFacingError for a name that neither the registry nor the log has */
function requireRemote(store: PortalStore, name: string): void {
  const knownRemotes = [
    ...new Set([
      ...listRemotes(store.registryFolder),
      ...readAuditLog(getAuditFile(store)).flatMap(({ remote }) => (remote === undefined ? [] : [remote])),
    ]),
  ].sort();
  if (!knownRemotes.includes(name))
    throw new UserFacingError(`There is no remote or release ${name} here. Remotes: ${knownRemotes.join(", ")}.`);
}

/** @throws UserFacingError for a release that neither the registry nor the log has */
function requireKnownRelease(store: PortalStore, releaseId: string): void {
  const isKnown =
    listReleases(store.registryFolder, parseRemoteName(releaseId)).includes(releaseId) ||
    readAuditLog(getAuditFile(store)).some(({ release }) => release === releaseId);
  if (!isKnown)
    throw new UserFacingError(`There is no release ${releaseId}. \`portal status\` lists those that are there.`);
}

function listChosenReleases(choice: ReleaseChoice | undefined): readonly string[] {
  if (choice === undefined) return [];
  return choice.canary === undefined ? [choice.stable] : [choice.stable, choice.canary.release];
}

/**
 * Runs `callback` for one item after another: each signing reads the log that the one before wrote.
 */
async function mapSequentially<T, R>(items: readonly T[], callback: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = [];
  for (const item of items) results.push(await callback(item));
  return results;
}
