import { PortalError } from "@relicario/shared/errors";
import type { User } from "oidc-client-ts";

import type { SessionUser } from "./machine.ts";

export function sessionUser({ profile }: User): SessionUser {
  const name = [profile.preferred_username, profile.nickname, profile.name, profile.email].find((each) => each !== undefined && each !== "");
  return { issuer: profile.iss, subject: profile.sub, name: name ?? "" };
}

/**
 * The ID token's own `auth_time`, when it is not older than the call. Both times are the provider's, so that a wrong clock
 * of this device neither helps nor harms; `seconds` is how long the call took.
 * @throws PortalError `login_required`
 */
export function freshAuthTime({ profile: { iat, auth_time: authTime } }: User, seconds: number): number {
  const rounding = 2;
  if (authTime === undefined || iat - authTime > seconds + rounding) throw new PortalError("login_required");
  return authTime;
}
