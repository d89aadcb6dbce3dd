import type { Deployment } from "@relicario/shared/contract";
import { InMemoryWebStorage, WebStorageStateStore, type UserManagerSettings } from "oidc-client-ts";

/** Times of sign-in, in seconds (specification, section 9). */
export const signInTimes = {
  silentTimeout: 10,
  sessionCheck: 2,
  staleState: 15 * 60,
} as const;

/**
 * Settings of sign-in: code flow with PKCE, no refresh token, everything in the session storage of
 * this tab.
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
    userStore: new WebStorageStateStore({ store: storage }),
    stateStore: new WebStorageStateStore({ store: storage }),
    loadUserInfo: true,
    // the library's list without `auth_time`
    filterProtocolClaims: ["nbf", "jti", "nonce", "acr", "amr", "azp", "at_hash"],
    automaticSilentRenew: false, // done by silent-renewal.ts, which renews short-lived tokens later
    silentRequestTimeoutInSeconds: signInTimes.silentTimeout,
    requestTimeoutInSeconds: signInTimes.silentTimeout,
    monitorSession: false, // started by session.ts, after the first screen
    checkSessionIntervalInSeconds: signInTimes.sessionCheck,
    staleStateAgeInSeconds: signInTimes.staleState,
    validateSubOnSilentRenew: true,
    revokeTokensOnSignout: false, // done by sign-out.ts, which accepts that a JWT cannot be revoked
  };
}

/**
 * The settings for signing in in a window: nothing is stored outside memory, and only claims of the
 * ID token are used.
 */
export function toInMemorySettings(settings: UserManagerSettings): UserManagerSettings {
  return {
    ...settings,
    userStore: new WebStorageStateStore({ store: new InMemoryWebStorage() }),
    stateStore: new WebStorageStateStore({ store: new InMemoryWebStorage() }),
    loadUserInfo: false, // user info could contain another `auth_time`
  };
}
