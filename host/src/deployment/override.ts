import { ReleaseOverride, type Deployment, type PortalTrustAnchors, type RemoteName } from "@relicario/shared/contract";
import { compactVerify, createLocalJWKSet, decodeJwt } from "jose";
import { z } from "zod";

/**
 * Name in a link's fragment, and session storage key: a release that a developer tries in this tab
 * alone, signed by its team.
 */
export const overrideKey = "releaseOverride";

/** What became of an override. Refused, the portal runs as it would without one. */
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
 * Opens an override that is for this portal now: of an environment other than production, signed by
 * a key of the remote's team, for this vendor and origin, and not over. Its release is verified
 * like any other after that.
 */
export async function verifyOverride(
  jws: string,
  deployment: Deployment,
  { page: trustAnchors, now }: { readonly page: PortalTrustAnchors; readonly now: number },
): Promise<ReleaseOverride | OverrideState> {
  if (deployment.environment === "production") return refuseOverride("production");
  try {
    const { remote } = OverrideClaims.parse(decodeJwt(jws)); // whose key it has to be signed with
    const keys = Object.hasOwn(trustAnchors.team_keys, remote) ? trustAnchors.team_keys[remote] : undefined;
    const { payload } = await compactVerify(jws, createLocalJWKSet({ keys: [...(keys ?? [])] }), {
      algorithms: ["EdDSA"],
    });
    const override = ReleaseOverride.parse(JSON.parse(new TextDecoder().decode(payload)));
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
    return refuseOverride("invalid"); // whatever the reason, its team did not sign this
  }
}
