import { PortalTrustAnchors } from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import { buildDeploymentKey, readOfflineDeployment, storeOfflineDeployment } from "./offline-deployment.ts";
import { readSequence, verifyDeployment, type VerifiedDeployment } from "./verify.ts";

export interface DeploymentDeps {
  readonly trustAnchors: PortalTrustAnchors;
  readonly origin: string;
  readonly storage: Pick<Storage, "getItem" | "setItem">;
  readonly locks: Pick<LockManager, "request">;
  readonly fetch: typeof globalThis.fetch;
  readonly now: () => number;
  /** Bucket of this session for canary releases (canary.ts). */
  readonly rolloutBucket: number;
  /** A developer's override of this tab (override.ts). */
  readonly override: string | null;
  /** Versions of the packages that the host shares, by import name. */
  readonly providedPackages: Readonly<Record<string, string>>;
  /** Creates a signal that aborts after the given number of milliseconds. Replaced in tests. */
  readonly timeLimit?: (milliseconds: number) => AbortSignal;
}

const fetchTimeLimitMs = 10_000;
/** Time limit of waiting for the storage lock, which a frozen tab may hold. */
const lockTimeLimitMs = 2_000;
const startTimeLimit = (milliseconds: number): AbortSignal => AbortSignal.timeout(milliseconds);

/**
 * Reads the vendor and the public keys that the gateway wrote into the page. They verify everything
 * else.
 * @throws PortalError `deployment_refused`
 */
export function readTrustAnchors(document: Document): PortalTrustAnchors {
  try {
    return PortalTrustAnchors.parse(JSON.parse(document.getElementById("portal-page")?.textContent ?? ""));
  } catch (cause) {
    throw new PortalError("deployment_refused", { cause });
  }
}

/**
 * Fetches and verifies the vendor's deployment. Falls back to the document that this device stored
 * last, if it is still in force.
 * @throws PortalError `deployment_refused`, `deployment_older`, `deployment_expired`,
 *   `clock_wrong`, `deployment_unreachable`
 */
export async function loadDeployment(deps: DeploymentDeps): Promise<VerifiedDeployment> {
  const { trustAnchors, origin, storage, now, rolloutBucket, override, providedPackages } = deps;
  const storedDocument = readOfflineDeployment(storage, trustAnchors.vendor_id);
  // Read from the signed document only, because a number stored next to it could be forged.
  const storedSequence =
    storedDocument === null ? Promise.resolve(0) : readSequence(storedDocument, { trustAnchors, origin });
  const getExpectations = async (serviceTime: number | null) => ({
    trustAnchors,
    origin,
    seenSequence: await storedSequence,
    now: now(),
    serviceTime,
    rolloutBucket,
    override,
    providedPackages,
  });

  let served: ServedDocument;
  try {
    served = await fetchDocument(deps);
  } catch (fetchError) {
    if (storedDocument === null || !isPortalError(fetchError, "deployment_unreachable")) throw fetchError;
    return verifyDeployment(storedDocument, await getExpectations(null)).catch((error: unknown) => {
      // the stored document was altered: treat it as missing
      throw isPortalError(error, "deployment_refused") ? fetchError : error;
    });
  }
  const verified = await verifyDeployment(served.document, await getExpectations(served.serviceTime));
  await storeUnlessOlder(deps, served.document, verified.deployment.sequence);
  return verified;
}

/** Stores the document, unless another tab stored a later one since this one was fetched. */
async function storeUnlessOlder(
  { trustAnchors, origin, storage, locks, timeLimit = startTimeLimit }: DeploymentDeps,
  document: unknown,
  sequence: number,
): Promise<void> {
  const { vendor_id: vendorId } = trustAnchors;
  const store = async (): Promise<void> => {
    const stored = readOfflineDeployment(storage, vendorId);
    const storedSequence = stored === null ? 0 : await readSequence(stored, { trustAnchors, origin });
    if (storedSequence <= sequence) storeOfflineDeployment(storage, vendorId, document);
  };
  await locks.request(buildDeploymentKey(vendorId), { signal: timeLimit(lockTimeLimitMs) }, store).catch(() => {
    // Storage is forbidden, or a frozen tab holds the lock: the next check stores the document.
  });
}

interface ServedDocument {
  readonly document: unknown;
  /** Milliseconds since 1970; null when the response has no valid `Date`. */
  readonly serviceTime: number | null;
}

async function fetchDocument({
  trustAnchors,
  fetch,
  timeLimit = startTimeLimit,
}: DeploymentDeps): Promise<ServedDocument> {
  let response: Response;
  try {
    // Uses the options of the preload in the page (the gateway's host-page.ts), so that this call
    // gets the preloaded response.
    response = await fetch(`/deployments/${encodeURIComponent(trustAnchors.vendor_id)}`, {
      cache: "no-cache",
      credentials: "same-origin",
      redirect: "error",
      signal: timeLimit(fetchTimeLimitMs),
    });
    if (response.status >= 500) throw new TypeError(String(response.status));
  } catch (cause) {
    throw new PortalError("deployment_unreachable", { cause });
  }
  if (!response.ok) throw new PortalError("deployment_refused");
  const text = await response.text().catch((cause: unknown) => {
    throw new PortalError("deployment_unreachable", { cause });
  });
  try {
    return { document: JSON.parse(text) as unknown, serviceTime: readServiceTime(response.headers) };
  } catch (cause) {
    throw new PortalError("deployment_refused", { cause });
  }
}

/**
 * Time in `Date` plus the seconds in `Age`, for which a cache kept the response (RFC 9111, 5.1).
 */
function readServiceTime(headers: Headers): number | null {
  const sentAt = Date.parse(headers.get("date") ?? "");
  const ageSeconds = Number(headers.get("age") ?? "0");
  return Number.isNaN(sentAt) || Number.isNaN(ageSeconds) ? null : sentAt + ageSeconds * 1000;
}
