import type { Deployment } from "@relicario/shared/contract";
import { InMemoryWebStorage, WebStorageStateStore, type UserManagerSettings } from "oidc-client-ts";
import { z } from "zod";

/** Times of sign-in, in seconds (specification, section 9). */
export const signInTimes = {
  silentTimeout: 10,
  sessionCheck: 2,
  staleState: 15 * 60,
} as const;

const StoredUser = z.looseObject({ refresh_token: z.unknown().optional() });

/**
 * Drops the refresh token, which some providers issue unasked: with one, the library would renew
 * without the frame, in which the provider refuses a disabled person and asks for required actions.
 */
class UserStore extends WebStorageStateStore {
  override set(key: string, value: string): Promise<void> {
    const { refresh_token: _, ...user } = StoredUser.parse(JSON.parse(value));
    return super.set(key, JSON.stringify(user));
  }
}

/**
 * Settings of sign-in: code flow with PKCE, no refresh token. State is stored only in the session
 * storage of this tab.
 */
export function createSignInSettings(
  identity: Deployment["identity"],
  origin: string,
  storage: Storage,
): UserManagerSettings {
  return {
    authority: identity.authority,
    client_id: identity.client_id,
    scope: identity.scope,
    response_type: "code",
    redirect_uri: `${origin}/`,
    post_logout_redirect_uri: `${origin}/`,
    silent_redirect_uri: `${origin}/silent-renew.html`,
    popup_redirect_uri: `${origin}/silent-renew.html`,
    userStore: new UserStore({ store: storage }),
    stateStore: new WebStorageStateStore({ store: storage }),
    loadUserInfo: true,
    // the library's default list without `auth_time`
    filterProtocolClaims: ["nbf", "jti", "nonce", "acr", "amr", "azp", "at_hash"],
    automaticSilentRenew: false, // done by access-token-renewal.ts, which renews short-lived tokens later
    silentRequestTimeoutInSeconds: signInTimes.silentTimeout,
    requestTimeoutInSeconds: signInTimes.silentTimeout,
    monitorSession: false, // done by session-monitor.ts
    staleStateAgeInSeconds: signInTimes.staleState,
    validateSubOnSilentRenew: true,
    revokeTokensOnSignout: false, // done by sign-out.ts, which accepts that a JWT cannot be revoked
  };
}

/**
 * Settings of sign-in in a popup. They store only in memory, and use only claims of the ID token.
 */
export function toInMemorySettings(settings: UserManagerSettings): UserManagerSettings {
  return {
    ...settings,
    userStore: new UserStore({ store: new InMemoryWebStorage() }),
    stateStore: new WebStorageStateStore({ store: new InMemoryWebStorage() }),
    loadUserInfo: false, // user info could contain another `auth_time`
  };
}
