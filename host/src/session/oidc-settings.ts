import type { Deployment } from "@relicario/shared/contract";
import { InMemoryWebStorage, WebStorageStateStore, type UserManagerSettings } from "oidc-client-ts";

/** Times of sign-in, in seconds (specification, section 9). */
export const signInTimes = {
  silentTimeout: 10,
  sessionCheck: 2,
  staleState: 15 * 60,
} as const;

/** How sign-in is done: code flow with PKCE, no refresh token, everything in this tab's session storage. */
export function signInSettings(identity: Deployment["identity"], origin: string, storage: Storage): UserManagerSettings {
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
    filterProtocolClaims: ["nbf", "jti", "nonce", "acr", "amr", "azp", "at_hash"], // the library's list without `auth_time`
    automaticSilentRenew: false, // done by silent-renewal.ts, which shortens the notice where tokens live shortly
    silentRequestTimeoutInSeconds: signInTimes.silentTimeout,
    requestTimeoutInSeconds: signInTimes.silentTimeout,
    monitorSession: false, // begun by session.ts, once the first screen has had the machine for itself
    checkSessionIntervalInSeconds: signInTimes.sessionCheck,
    staleStateAgeInSeconds: signInTimes.staleState,
    validateSubOnSilentRenew: true,
    revokeTokensOnSignout: false, // done by sign-out.ts, which knows that a JWT cannot be revoked
  };
}

/** The settings for signing in in a window: nothing is stored outside memory, and only claims of the ID token are used. */
export function inMemory(settings: UserManagerSettings): UserManagerSettings {
  return {
    ...settings,
    userStore: new WebStorageStateStore({ store: new InMemoryWebStorage() }),
    stateStore: new WebStorageStateStore({ store: new InMemoryWebStorage() }),
    loadUserInfo: false, // user info could say another `auth_time`
  };
}
