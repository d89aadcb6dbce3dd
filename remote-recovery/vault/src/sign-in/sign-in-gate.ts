import { toBase64url } from "@relicario/shared/api";
import { PortalError, type ErrorCode } from "@relicario/shared/errors";
import { createRemoteJWKSet, customFetch, jwtVerify } from "jose";
import { z } from "zod";

import { createPkcePair } from "../pkce.ts";
import { randomBytes } from "../seal/bytes.ts";

/** The identity provider, from the deployment document that the vault's own page has verified. */
export interface IdentityClient {
  readonly authority: string;
  readonly clientId: string;
}

/** A sign-in, as the vault's lock judges it. */
export interface FreshSignIn {
  /** Seconds since 1970, by the provider's clock. */
  readonly authTime: number;
}

export interface SignInGateDeps {
  readonly identity: IdentityClient;
  /** `/signed-in` at the vault's origin. */
  readonly redirectUri: string;
  /**
   * Opens a window at the provider's address; returns the query that `/signed-in` got. Rejects when
   * there is no window or it was closed.
   */
  readonly openWindow: (address: string) => Promise<string>;
  /** The same in a hidden frame, which asks nothing. */
  readonly openFrame: (address: string) => Promise<string>;
  readonly fetch: (address: string, init?: RequestInit) => Promise<Response>;
}

/**
 * Signs `subject` in at the provider. `maxAge`: seconds since the lock; an older sign-in at the
 * provider does not count.
 *
 * Rejects with the errors of the window; `login_required` when someone else has signed in;
 * `login_failed`, or the provider's own error.
 */
type SignIn = (subject: string, maxAge: number) => Promise<FreshSignIn>;

export interface SignInGate {
  /** In a window. Call it from a click. */
  readonly ask: SignIn;
  /** In a hidden frame, by the session that the browser has at the provider. */
  readonly trySilently: SignIn;
}

const Discovery = z.looseObject({
  issuer: z.string(),
  authorization_endpoint: z.url(),
  token_endpoint: z.url(),
  jwks_uri: z.url(),
});
const Tokens = z.looseObject({ id_token: z.string() });
const Claims = z.looseObject({
  sub: z.string(),
  nonce: z.string(),
  auth_time: z.int().min(0),
  azp: z.string().optional(),
});
/** Errors of the provider that have a code of their own (specification, section 8). */
const codesByError: Readonly<Record<string, ErrorCode>> = {
  login_required: "login_required",
  consent_required: "consent_required",
  interaction_required: "interaction_required",
  account_selection_required: "account_selection_required",
};

/** Seconds that the device's clock may differ from the provider's: the nonce proves freshness. */
const clockToleranceSeconds = 24 * 60 * 60;

/**
 * [Note: Sign-in gate] A locked device of the person unlocks by a sign-in that the vault itself has
 * asked for, so that the portal's page cannot claim one:
 *
 * 1. The vault makes state, nonce and PKCE. The page opens a window at the provider's address.
 * 2. The provider returns to `/signed-in` of the vault's origin, which gives the answer to a page
 *    of the portal only. That page brings it here: WebKit cuts this window off from the vault's
 *    frames.
 * 3. The vault redeems the code, and checks signature, `iss`, `aud`, `azp`, `nonce` and `sub` of
 *    the ID token. Its lock then compares `auth_time` (device-lock.ts).
 *
 * After a sign-in that the page reports, the vault first tries steps 1 and 3 in a hidden frame of
 * its own, where the provider asks nothing (`prompt=none`).
 *
 * The page sees address and answer: without the verifier the code is worth nothing, and another
 * answer does not have the nonce.
 */
export function createSignInGate({ identity, redirectUri, openWindow, openFrame, fetch }: SignInGateDeps): SignInGate {
  const { authority, clientId } = identity;

  return {
    ask: (subject, maxAge) => signIn(openWindow, subject, maxAge, {}),
    trySilently: (subject, maxAge) => signIn(openFrame, subject, maxAge, { prompt: "none" }),
  };

  async function signIn(
    open: (address: string) => Promise<string>,
    subject: string,
    maxAge: number,
    extraParameters: Readonly<Record<string, string>>,
  ): Promise<FreshSignIn> {
    const provider = await fetchParsed(`${authority}/.well-known/openid-configuration`, Discovery);
    if (provider.issuer !== authority) throw new PortalError("login_failed");
    const { verifier, challenge } = await createPkcePair();
    const [state, nonce] = [toBase64url(randomBytes(32)), toBase64url(randomBytes(32))];
    const address = new URL(provider.authorization_endpoint);
    const parameters = {
      client_id: clientId,
      redirect_uri: redirectUri,
      response_type: "code",
      scope: "openid",
      state,
      nonce,
      code_challenge: challenge,
      code_challenge_method: "S256",
      max_age: String(Math.max(0, Math.floor(maxAge))),
      ...extraParameters,
    };
    for (const [name, value] of Object.entries(parameters)) address.searchParams.set(name, value);
    const answer = new URLSearchParams(await open(address.href));
    if (answer.get("state") !== state || (answer.get("iss") ?? authority) !== authority)
      throw new PortalError("login_failed");
    const code = answer.get("code");
    if (code === null) throw new PortalError(codesByError[answer.get("error") ?? ""] ?? "login_failed");
    const { id_token: idToken } = await fetchParsed(provider.token_endpoint, Tokens, {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "authorization_code",
        code,
        client_id: clientId,
        redirect_uri: redirectUri,
        code_verifier: verifier,
      }),
    });
    const claims = await verify(idToken, provider.jwks_uri);
    if (claims.nonce !== nonce || (claims.azp ?? clientId) !== clientId) throw new PortalError("login_failed");
    if (claims.sub !== subject) throw new PortalError("login_required");
    return { authTime: claims.auth_time };
  }

  async function verify(idToken: string, jwksUri: string): Promise<z.infer<typeof Claims>> {
    try {
      const { payload } = await jwtVerify(idToken, createRemoteJWKSet(new URL(jwksUri), { [customFetch]: fetch }), {
        issuer: authority,
        audience: clientId,
        clockTolerance: clockToleranceSeconds,
      });
      return Claims.parse(payload);
    } catch (cause) {
      throw new PortalError("login_failed", { cause });
    }
  }

  async function fetchParsed<T>(address: string, schema: z.ZodType<T>, init?: RequestInit): Promise<T> {
    try {
      const response = await fetch(address, { ...init, credentials: "omit", referrerPolicy: "no-referrer" });
      if (!response.ok) throw new PortalError("login_failed");
      return schema.parse(await response.json());
    } catch (cause) {
      throw new PortalError("login_failed", { cause });
    }
  }
}
