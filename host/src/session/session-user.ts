import { PortalError } from "@relicario/shared/errors";
import type { User } from "oidc-client-ts";

import type { SessionUser } from "./machine.ts";

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
 * The `auth_time` of the ID token, if the person signed in during the call, which took `seconds`.
 * It is compared with the ID token's `iat`: both are times of the provider's clock, so that a wrong
 * clock of this device does not matter.
 * @throws PortalError `login_required`
 */
export function requireFreshAuthTime({ profile: { iat, auth_time: authTime } }: User, seconds: number): number {
  const roundingSeconds = 2;
  if (authTime === undefined || iat - authTime > seconds + roundingSeconds) throw new PortalError("login_required");
  return authTime;
}
