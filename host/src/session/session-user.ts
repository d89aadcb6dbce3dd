import { PortalError } from "@relicario/shared/errors";
import type { User } from "oidc-client-ts";

import type { SessionUser } from "./session-state.ts";

export function toSessionUser({ profile }: User): SessionUser {
  const name = [profile.preferred_username, profile.nickname, profile.name, profile.email].find(
    (value) => value !== undefined && value !== "",
  );
  return {
    issuer: profile.iss,
    subject: profile.sub,
    name: name ?? "",
    ...(profile.auth_time === undefined ? {} : { authTime: profile.auth_time }),
  };
}

/**
 * Returns `auth_time` of the ID token (seconds since 1970) if the person signed in during the last
 * `seconds`. Compares it with the token's `iat`, by the provider's clock too, so that this device's
 * clock does not matter.
 * @throws PortalError `login_required`
 */
export function requireFreshAuthTime({ profile: { iat, auth_time: authTime } }: User, seconds: number): number {
  const roundingSeconds = 2;
  if (authTime === undefined || iat - authTime > seconds + roundingSeconds) throw new PortalError("login_required");
  return authTime;
}
