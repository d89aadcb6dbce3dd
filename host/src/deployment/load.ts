import { PortalTrustAnchors } from "@relicario/shared/contract";
import { isPortalError, PortalError } from "@relicario/shared/errors";

import { readOfflineDeployment, storeOfflineDeployment } from "./offline-deployment.ts";
import { readSequence, verifyDeployment, type VerifiedDeployment } from "./verify.ts";

export interface DeploymentDeps {
  readonly page: PortalTrustAnchors;
  readonly origin: string;
  readonly storage: Pick<Storage, "getItem" | "setItem">;
  readonly fetch: typeof globalThis.fetch;
  readonly now: () => number;
  /** Number of this session for canaries (canary.ts). */
  readonly rolloutBucket: number;
  /** A developer's override of this tab (override.ts). */
  readonly override: string | null;
  /** Versions of the packages that the host shares. */
  readonly providedPackages: Readonly<Record<string, string>>;
  /** A seam for tests: a signal that aborts after so many milliseconds. */
  readonly timeLimit?: (milliseconds: number) => AbortSignal;
}

const fetchTimeLimitMs = 10_000;

/**
 * What the gateway wrote into the page: the vendor and the public keys that everything else is
 * verified with. `deployment_refused`.
 */
export function readTrustAnchors(document: Document): PortalTrustAnchors {
  try {
    return PortalTrustAnchors.parse(JSON.parse(document.getElementById("portal-page")?.textContent ?? ""));
  } catch (cause) {
    throw new PortalError("deployment_refused", { cause });
  }
}

/**
 * Fetches and verifies the vendor's deployment. When it cannot be fetched, the last one that this
 * device stored is used, while it is in force. `deployment_refused`, `deployment_older`,
 * `deployment_expired`, `deployment_unreachable`.
 */
export async function loadDeployment(deps: DeploymentDeps): Promise<VerifiedDeployment> {
  const { page, origin, storage, now, rolloutBucket, override, providedPackages } = deps;
  const storedDocument = readOfflineDeployment(storage, page.vendor_id);
  // Read from its signed document alone: a number beside it could be anybody's.
  const storedSequence = storedDocument === null ? Promise.resolve(0) : readSequence(storedDocument, { page, origin });
  const getExpectations = async () => ({
    page,
    origin,
    seenSequence: await storedSequence,
    now: now(),
    rolloutBucket,
    override,
    providedPackages,
  });

  let document: unknown;
  try {
    document = await fetchDocument(deps);
  } catch (fetchError) {
    if (storedDocument === null || !isPortalError(fetchError, "deployment_unreachable")) throw fetchError;
    return verifyDeployment(storedDocument, await getExpectations()).catch((error: unknown) => {
      // what this device stored was altered: it counts as nothing
      throw isPortalError(error, "deployment_refused") ? fetchError : error;
    });
  }
  const verified = await verifyDeployment(document, await getExpectations());
  storeOfflineDeployment(storage, page.vendor_id, document);
  return verified;
}

async function fetchDocument({
  page,
  fetch,
  timeLimit = (milliseconds) => AbortSignal.timeout(milliseconds),
}: DeploymentDeps): Promise<unknown> {
  let response: Response;
  try {
    // As the page asks for it ahead (the gateway's page.ts), so that the first call takes that
    // answer.
    response = await fetch(`/deployments/${encodeURIComponent(page.vendor_id)}`, {
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
    return JSON.parse(text);
  } catch (cause) {
    throw new PortalError("deployment_refused", { cause });
  }
}
