/** Everything that needs oidc-client-ts, in one chunk: see sign-in-later.ts. */
export { signInSettings } from "./settings.ts";
export { SignInClient } from "./sign-in-client.ts";
