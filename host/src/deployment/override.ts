import { ReleaseOverride, type Deployment, type PortalTrustAnchors, type RemoteName } from "@relicario/shared/contract";
import { decodeJwt } from "jose";
import { z } from "zod";

import { verifyTeamSignature } from "./team-signature.ts";

/**
 * Name of a parameter in a link's fragment, and of a session storage item. The value is a release,
 * signed by its team, that a developer tries in this tab only.
 */
export const overrideKey = "releaseOverride";

/** Result of verifying an override. A refused override has no effect. */
export type OverrideState =
  | { readonly status: "active"; readonly remote: RemoteName; readonly release: string }
  | { readonly status: "refused"; readonly reason: "production" | "invalid" };

export const refuseOverride = (reason: Extract<OverrideState, { status: "refused" }>["reason"]): OverrideState => ({
  status: "refused",
  reason,
});

const OverrideClaims = z.object({ remote: ReleaseOverride.shape.remote });
const maxOverrideMs = 24 * 60 * 60_000;

/**
 * Verifies that the override is signed by a key of the remote's team, names this vendor and origin,
 * has not expired, lasts at most 24 hours, and that this is not production. The caller verifies its
 * release like any other.
 */
export async function verifyOverride(
  jws: string,
  deployment: Deployment,
  { trustAnchors, now }: { readonly trustAnchors: PortalTrustAnchors; readonly now: number },
): Promise<ReleaseOverride | OverrideState> {
  if (deployment.environment === "production") return refuseOverride("production");
  try {
    const { remote } = OverrideClaims.parse(decodeJwt(jws)); // selects the team's keys; untrusted until verified
    const keys = Object.hasOwn(trustAnchors.team_keys, remote) ? trustAnchors.team_keys[remote] : undefined;
    const override = ReleaseOverride.parse(await verifyTeamSignature(jws, keys ?? []));
    const remainingMs = Date.parse(override.not_after) - now;
    if (
      override.vendor_id !== deployment.vendor_id ||
      override.origin !== deployment.origin ||
      remainingMs <= 0 ||
      remainingMs > maxOverrideMs
    )
      return refuseOverride("invalid");
    return override;
  } catch {
    return refuseOverride("invalid"); // every failure has the same result
  }
}
