import {
  CONTRACT_VERSION,
  Deployment,
  isSameSiteVault,
  ReleaseRecord,
  type PortalTrustAnchors,
  type RemoteManifest,
  type RemoteName,
  type VerificationKey,
} from "@relicario/shared/contract";
import { isInCaretRange, findUnmetRequirements } from "@relicario/shared/contract/compatibility";
import { PortalError, type ErrorCode } from "@relicario/shared/errors";
import { base64url, createLocalJWKSet, generalVerify, type GeneralJWSInput } from "jose";
import { z } from "zod";

import { isInRollout } from "./canary.ts";
import { verifyOverride, refuseOverride, type OverrideState } from "./override.ts";
import { verifyTeamSignature } from "./team-signature.ts";

type RefusalCode = Extract<ErrorCode, "remote_refused" | "remote_incompatible" | "remote_disabled">;

/** A remote of the deployment: the release to run, or why none runs. */
export type VerifiedRemote =
  | { readonly status: "verified"; readonly record: ReleaseRecord }
  | {
      readonly status: "refused";
      /** `remote_left_out`: not refused, but left out by the person (safe-start/left-out.ts). */
      readonly code: RefusalCode | "remote_left_out";
      /**
       * Null if no valid record signed by its team was found. Its routes say why the remote is not
       * available.
       */
      readonly manifest: RemoteManifest | null;
    };

/** Manifest of a remote, from a valid record that its team signed; null without such a record. */
export function getManifest(remote: VerifiedRemote | undefined): RemoteManifest | null {
  return (remote?.status === "verified" ? remote.record.manifest : remote?.manifest) ?? null;
}

/** A release of this session that does not run. */
interface Refusal {
  readonly remote: RemoteName;
  readonly release: string;
  readonly code: RefusalCode;
  /** For the log: names and versions. */
  readonly reason: string;
}

export interface VerifiedDeployment {
  readonly deployment: Deployment;
  readonly remotes: ReadonlyMap<RemoteName, VerifiedRemote>;
  /** Also canary releases that their stable one replaces. */
  readonly refusals: readonly Refusal[];
  /** Null when this tab has no developer's override. */
  readonly override: OverrideState | null;
  /** Null unless this device's clock differs by more than five minutes from the service's. */
  readonly wrongClock: WrongClock | null;
}

/** Times of this device's clock and of the service's, in milliseconds since 1970. */
interface WrongClock {
  readonly device: number;
  readonly service: number;
}

export interface DeploymentExpectations {
  readonly trustAnchors: PortalTrustAnchors;
  readonly origin: string;
  /** Highest sequence that this device has seen for this vendor; 0 if it has seen no document. */
  readonly seenSequence: number;
  /** Milliseconds since 1970. */
  readonly now: number;
  /**
   * Time of the response by its `Date` and `Age`, in milliseconds since 1970; null when unknown. It
   * is not signed, so it only explains a refusal and never prevents one.
   */
  readonly serviceTime: number | null;
  /** Bucket of this session for canary releases (canary.ts). */
  readonly rolloutBucket: number;
  /** A developer's override (override.ts), not verified yet. */
  readonly override: string | null;
  /** Versions of the packages that the host shares, by import name. */
  readonly providedPackages: Readonly<Record<string, string>>;
}

const maxLifetimeMs = 7 * 24 * 60 * 60_000;
/** Difference between both clocks that is not reported. */
const clockToleranceMs = 5 * 60_000;
/** How far the device's clock may be behind a document that was just issued. */
const issuedAtAllowanceMs = 15 * 60_000;

/**
 * [Note: The signed deployment document] A deployment as JSON in `payload` (base64url), and the
 * `signatures` of a JWS (General JSON, EdDSA) whose own payload is the SHA-256 of that text.
 * WebKitGTK's Ed25519 ends the page's process for a message of 64 KiB, which a portal with many
 * remotes would reach.
 */
const SignedDocument = z.object({
  payload: z.string(),
  signatures: z.array(z.object({ protected: z.string(), signature: z.string() })).min(1),
});

/**
 * [Note: What is checked before any remote code runs]
 * 1. The document is signed by a portal key that the page carries.
 * 2. It names this vendor and this origin, and a vault's origin that is another origin of the same
 *    site.
 * 3. Its sequence is not lower than the highest that this device has seen.
 * 4. It is in force: issued, not expired, and valid for at most 7 days.
 * 5. Each release record is signed by a key of the remote's team, and names that remote and
 *    release.
 * 6. The release accepts the host's contract version and versions of shared packages.
 * 7. The release is not disabled.
 *
 * If a check of 1 to 4 fails, the whole document is refused with `deployment_refused`,
 * `deployment_older` or `deployment_expired`. The code is `clock_wrong` if the document is in force
 * by the service's clock.
 *
 * If a check of 5 to 7 fails, only that remote is refused. A refused canary release is replaced by
 * the stable one. A developer's override (override.ts) changes which release of a remote runs, and
 * has to pass the same checks.
 */
export async function verifyDeployment(
  document: unknown,
  expectations: DeploymentExpectations,
): Promise<VerifiedDeployment> {
  const deployment = await verifySignedDocument(document, expectations.trustAnchors.portal_keys);
  if (deployment.vendor_id !== expectations.trustAnchors.vendor_id || deployment.origin !== expectations.origin)
    throw new PortalError("deployment_refused");
  if (!isSameSiteVault(deployment.origin, deployment.vault_origin)) throw new PortalError("deployment_refused");
  if (deployment.sequence < expectations.seenSequence) throw new PortalError("deployment_older");
  const issuedAt = Date.parse(deployment.issued_at);
  const notAfter = Date.parse(deployment.not_after);
  if (notAfter <= issuedAt || notAfter - issuedAt > maxLifetimeMs) throw new PortalError("deployment_refused");
  requireInForce({ issuedAt, notAfter }, expectations);

  const remotes = new Map<RemoteName, VerifiedRemote>();
  const refusals: Refusal[] = [];
  for (const [name, { stable, canary }] of Object.entries(deployment.releases)) {
    const keys = getOwnProperty(expectations.trustAnchors.team_keys, name);
    const verify = (release: string) =>
      verifyRelease(
        deployment,
        { name, release, providedPackages: expectations.providedPackages, keys },
        (code, reason) => refusals.push({ remote: name, release, code, reason }),
      );
    const canaryRemote =
      canary !== undefined && isInRollout(expectations.rolloutBucket, canary.percent)
        ? await verify(canary.release)
        : null;
    remotes.set(name, canaryRemote?.status === "verified" ? canaryRemote : await verify(stable));
  }
  const override =
    expectations.override === null
      ? null
      : await applyOverride(expectations.override, { deployment, remotes, expectations });
  const wrongClock = findWrongClock(expectations.now, expectations.serviceTime);
  return { deployment, remotes, refusals, override, wrongClock };
}

function requireInForce(
  { issuedAt, notAfter }: { readonly issuedAt: number; readonly notAfter: number },
  { now, serviceTime }: Pick<DeploymentExpectations, "now" | "serviceTime">,
): void {
  const isFromFuture = issuedAt > now + issuedAtAllowanceMs;
  if (!isFromFuture && notAfter > now) return;
  // The portal signed the document at `issuedAt`, so its clock shows at least that time.
  const service = serviceTime ?? (isFromFuture ? issuedAt : null);
  const wrongClock = findWrongClock(now, service);
  if (wrongClock !== null && issuedAt <= wrongClock.service + issuedAtAllowanceMs && notAfter > wrongClock.service)
    throw new PortalError("clock_wrong", { details: { ...wrongClock } });
  throw new PortalError(isFromFuture ? "deployment_refused" : "deployment_expired");
}

function findWrongClock(device: number, service: number | null): WrongClock | null {
  return service === null || Math.abs(device - service) <= clockToleranceMs ? null : { device, service };
}

/**
 * Replaces the release of one remote by that of the override, if it passes the checks that every
 * release must pass.
 */
async function applyOverride(
  jws: string,
  {
    deployment,
    remotes,
    expectations,
  }: { deployment: Deployment; remotes: Map<RemoteName, VerifiedRemote>; expectations: DeploymentExpectations },
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
      keys: getOwnProperty(expectations.trustAnchors.team_keys, remote),
    },
  );
  if (verifiedRemote.status !== "verified") return refuseOverride("invalid");
  remotes.set(remote, verifiedRemote);
  return { status: "active", remote, release };
}

/** Sequence number of a document of this portal, expired or not; 0 for any other document. */
export async function readSequence(
  document: unknown,
  { trustAnchors, origin }: Pick<DeploymentExpectations, "trustAnchors" | "origin">,
): Promise<number> {
  const deployment = await verifySignedDocument(document, trustAnchors.portal_keys).catch(() => null);
  return deployment?.vendor_id === trustAnchors.vendor_id && deployment.origin === origin ? deployment.sequence : 0;
}

async function verifySignedDocument(document: unknown, keys: readonly VerificationKey[]): Promise<Deployment> {
  try {
    const { payload, signatures } = SignedDocument.parse(document);
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(payload));
    const signed: GeneralJWSInput = { payload: base64url.encode(new Uint8Array(digest)), signatures };
    await generalVerify(signed, createLocalJWKSet({ keys: [...keys] }), { algorithms: ["EdDSA"] });
    return Deployment.parse(JSON.parse(new TextDecoder().decode(base64url.decode(payload))));
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

/** @param onRefused called with the reason for the log */
async function verifyRelease(
  { release_records: records, disabled = [] }: Deployment,
  { name, release, providedPackages, keys }: ExpectedRelease,
  onRefused: (code: RefusalCode, reason: string) => void = () => undefined,
): Promise<VerifiedRemote> {
  const jws = getOwnProperty(records, release);
  const payload = await verifySignedRecord(jws, keys);
  const parsed = ReleaseRecord.safeParse(payload);
  const record =
    parsed.success && parsed.data.release === release && parsed.data.manifest.name === name ? parsed.data : null;
  const refuse = (code: RefusalCode, reason: string): VerifiedRemote => {
    onRefused(code, reason);
    return { status: "refused", code, manifest: record?.manifest ?? null };
  };

  if (disabled.includes(release)) return refuse("remote_disabled", "the deployment document disables it");
  const otherContract = findOtherContract(payload, { name, release });
  if (otherContract !== null)
    return refuse(
      "remote_incompatible",
      `it is built for contract ${otherContract}, and the host has ${CONTRACT_VERSION}`,
    );
  if (record === null)
    return refuse(
      "remote_refused",
      jws === undefined
        ? "the deployment document has no record of it"
        : payload === null
          ? "no key of its team that the page has signed its record"
          : "its record is not one of this release",
    );
  // Checked here because federation would notice a missing version only while the code runs.
  const [unmet] = findUnmetRequirements(record, providedPackages);
  return unmet === undefined
    ? { status: "verified", record }
    : refuse("remote_incompatible", `it needs ${unmet.name} ${unmet.requiredVersion}, which the host does not have`);
}

/**
 * Payload of a record with a valid signature of the team, not validated yet. Null without a valid
 * signature or if it is not JSON.
 */
async function verifySignedRecord(
  jws: string | undefined,
  keys: readonly VerificationKey[] | undefined,
): Promise<unknown> {
  if (jws === undefined || keys === undefined) return null;
  try {
    return await verifyTeamSignature(jws, keys);
  } catch {
    return null; // invalid signature, or not JSON
  }
}

const RecordHeader = z.object({ release: z.string(), manifest: z.object({ name: z.string(), contract: z.string() }) });

/**
 * Range of contract versions of a release for which this host's version is none; null for any other
 * record. Called for unvalidated payloads: a record of another contract version may have unknown
 * members.
 */
function findOtherContract(
  payload: unknown,
  { name, release }: Pick<ExpectedRelease, "name" | "release">,
): string | null {
  const header = RecordHeader.safeParse(payload).data;
  if (header?.release !== release || header.manifest.name !== name) return null;
  return isInCaretRange(CONTRACT_VERSION, header.manifest.contract) ? null : header.manifest.contract;
}

/** Own properties only: a name such as `constructor` must not find an inherited one. */
function getOwnProperty<T>(record: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
