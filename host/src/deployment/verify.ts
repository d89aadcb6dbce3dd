import {
  CONTRACT_VERSION,
  Deployment,
  ReleaseRecord,
  type PortalTrustAnchors,
  type RemoteManifest,
  type RemoteName,
  type VerificationKey,
} from "@relicario/shared/contract";
import { isInCaretRange, findUnmetRequirements } from "@relicario/shared/contract/compatibility";
import { PortalError, type ErrorCode } from "@relicario/shared/errors";
import { compactVerify, createLocalJWKSet, generalVerify, type GeneralJWSInput } from "jose";
import { z } from "zod";

import { isInRollout } from "./canary.ts";
import { verifyOverride, refuseOverride, type OverrideState } from "./override.ts";

/** One remote of the deployment: a release whose record its team signed, or why none is run. */
export type VerifiedRemote =
  | { readonly status: "verified"; readonly record: ReleaseRecord }
  | {
      readonly status: "refused";
      readonly code: Extract<ErrorCode, "remote_refused" | "remote_incompatible" | "remote_disabled">;
      /**
       * Its manifest, if the signature is valid: its routes then show why the remote is not
       * available.
       */
      readonly manifest: RemoteManifest | null;
    };

/** The manifest of a remote, if its team signed one. */
export function getManifest(remote: VerifiedRemote | undefined): RemoteManifest | null {
  return (remote?.status === "verified" ? remote.record.manifest : remote?.manifest) ?? null;
}

export interface VerifiedDeployment {
  readonly deployment: Deployment;
  readonly remotes: ReadonlyMap<RemoteName, VerifiedRemote>;
  /** Of a developer's override, if this tab has one. */
  readonly override: OverrideState | null;
}

export interface DeploymentExpectations {
  readonly page: PortalTrustAnchors;
  /** Origin of the page. */
  readonly origin: string;
  /** Highest sequence that this device has seen for the vendor; 0 before the first. */
  readonly seenSequence: number;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Number of this session for canaries (canary.ts). */
  readonly rolloutBucket: number;
  /** A developer's override (override.ts), not opened yet. */
  readonly override: string | null;
  /** Versions of the packages that the host shares, by import name. */
  readonly providedPackages: Readonly<Record<string, string>>;
}

const maxLifetimeMs = 7 * 24 * 60 * 60_000;
/** Tolerated error of the device's clock. */
const clockToleranceMs = 5 * 60_000;

const SignedDocument = z.object({
  payload: z.string(),
  signatures: z.array(z.object({ protected: z.string(), signature: z.string() })).min(1),
});

/**
 * [Note: What is checked before any remote code runs]
 * 1. The document is signed by a key of the portal that the page carries (JWS General JSON, EdDSA).
 * 2. It is for this vendor and this origin.
 * 3. It is not older than one that this device has seen.
 * 4. It is in force: issued, at most 7 days long, not expired.
 * 5. Each remote's release record is signed by a key of that remote's team, and is the record of
 *    that release and remote.
 * 6. The release was built for a range of contract versions that holds ours, and for versions of
 *    shared packages that are here.
 * 7. The release is not one that was switched off. 1 to 4 refuse the whole: `deployment_refused`,
 *    `deployment_older`, `deployment_expired`. 5 to 7 refuse one remote only. A canary that is
 *    refused is replaced by the stable release. A developer's override (override.ts) changes which
 *    release of a remote is run, and none of these checks.
 */
export async function verifyDeployment(
  document: unknown,
  expectations: DeploymentExpectations,
): Promise<VerifiedDeployment> {
  const deployment = await verifySignedDocument(document, expectations.page.portal_keys);
  if (deployment.vendor_id !== expectations.page.vendor_id || deployment.origin !== expectations.origin)
    throw new PortalError("deployment_refused");
  if (deployment.sequence < expectations.seenSequence) throw new PortalError("deployment_older");
  const issuedAt = Date.parse(deployment.issued_at);
  const notAfter = Date.parse(deployment.not_after);
  if (notAfter <= issuedAt || notAfter - issuedAt > maxLifetimeMs || issuedAt > expectations.now + clockToleranceMs)
    throw new PortalError("deployment_refused");
  if (notAfter <= expectations.now) throw new PortalError("deployment_expired");

  const remotes = new Map<RemoteName, VerifiedRemote>();
  for (const [name, { stable, canary }] of Object.entries(deployment.releases)) {
    const keys = getOwnProperty(expectations.page.team_keys, name);
    const verify = (release: string) =>
      verifyRelease(deployment, { name, release, providedPackages: expectations.providedPackages, keys });
    const canaryRemote =
      canary !== undefined && isInRollout(expectations.rolloutBucket, canary.percent)
        ? await verify(canary.release)
        : null;
    remotes.set(name, canaryRemote?.status === "verified" ? canaryRemote : await verify(stable));
  }
  const override =
    expectations.override === null
      ? null
      : await applyOverride(expectations.override, { deployment, remotes, expected: expectations });
  return { deployment, remotes, override };
}

/** Puts the release of an override in the place of the chosen one, when it may run here. */
async function applyOverride(
  jws: string,
  {
    deployment,
    remotes,
    expected: expectations,
  }: { deployment: Deployment; remotes: Map<RemoteName, VerifiedRemote>; expected: DeploymentExpectations },
): Promise<OverrideState> {
  const result = await verifyOverride(jws, deployment, expectations);
  if ("status" in result) return result;
  const { remote, release, release_record: record } = result;
  if (!remotes.has(remote)) return refuseOverride("invalid");
  const verifiedRemote = await verifyRelease(
    { ...deployment, release_records: { [release]: record } },
    {
      name: remote,
      release,
      providedPackages: expectations.providedPackages,
      keys: getOwnProperty(expectations.page.team_keys, remote),
    },
  );
  if (verifiedRemote.status !== "verified") return refuseOverride("invalid");
  remotes.set(remote, verifiedRemote);
  return { status: "active", remote, release };
}

/**
 * Sequence number of a document of this portal, whether it is still in force or not; 0 of anything
 * else.
 */
export async function readSequence(
  document: unknown,
  { page, origin }: Pick<DeploymentExpectations, "page" | "origin">,
): Promise<number> {
  const deployment = await verifySignedDocument(document, page.portal_keys).catch(() => null);
  return deployment?.vendor_id === page.vendor_id && deployment.origin === origin ? deployment.sequence : 0;
}

async function verifySignedDocument(document: unknown, keys: readonly VerificationKey[]): Promise<Deployment> {
  try {
    const jws: GeneralJWSInput = SignedDocument.parse(document);
    const { payload } = await generalVerify(jws, createLocalJWKSet({ keys: [...keys] }), { algorithms: ["EdDSA"] });
    return Deployment.parse(JSON.parse(new TextDecoder().decode(payload)));
  } catch (cause) {
    throw new PortalError("deployment_refused", { cause });
  }
}

interface ExpectedRelease {
  readonly name: RemoteName;
  readonly release: string;
  readonly keys: readonly VerificationKey[] | undefined;
  readonly providedPackages: DeploymentExpectations["providedPackages"];
}

async function verifyRelease(
  { release_records: records, disabled = [] }: Deployment,
  { name, release, providedPackages, keys }: ExpectedRelease,
): Promise<VerifiedRemote> {
  const payload = await verifySignedRecord(getOwnProperty(records, release), keys);
  const parsed = ReleaseRecord.safeParse(payload);
  const record =
    parsed.success && parsed.data.release === release && parsed.data.manifest.name === name ? parsed.data : null;
  const refuse = (code: Extract<VerifiedRemote, { status: "refused" }>["code"]): VerifiedRemote => ({
    status: "refused",
    code,
    manifest: record?.manifest ?? null,
  });

  if (disabled.includes(release)) return refuse("remote_disabled");
  if (isForAnotherContract(payload, { name, release })) return refuse("remote_incompatible");
  if (record === null) return refuse("remote_refused");
  // Federation itself would notice a version that is not here only while the code runs.
  return findUnmetRequirements(record, providedPackages).length === 0
    ? { status: "verified", record }
    : refuse("remote_incompatible");
}

/** The payload that a team signed, not parsed yet; null when the signature is not valid. */
async function verifySignedRecord(
  jws: string | undefined,
  keys: readonly VerificationKey[] | undefined,
): Promise<unknown> {
  if (jws === undefined || keys === undefined) return null;
  try {
    const { payload } = await compactVerify(jws, createLocalJWKSet({ keys: [...keys] }), { algorithms: ["EdDSA"] });
    return JSON.parse(new TextDecoder().decode(payload));
  } catch {
    return null; // whatever the reason, the team did not sign this
  }
}

const RecordHeader = z.object({ release: z.string(), manifest: z.object({ name: z.string(), contract: z.string() }) });

/**
 * Checked before the record is parsed: one of another contract version may have members that this
 * version does not know.
 */
function isForAnotherContract(payload: unknown, { name, release }: Pick<ExpectedRelease, "name" | "release">): boolean {
  const header = RecordHeader.safeParse(payload);
  return (
    header.success &&
    header.data.release === release &&
    header.data.manifest.name === name &&
    !isInCaretRange(CONTRACT_VERSION, header.data.manifest.contract)
  );
}

/** An own property: names such as `constructor` must not find what every object inherits. */
function getOwnProperty<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
