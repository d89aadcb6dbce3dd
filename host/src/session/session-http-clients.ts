import { createAuthorisedHttpClient, createHttpClient, TokenJwks, type SessionClaims } from "@relicario/shared/api";
import type { Deployment, HttpClient } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import type { User } from "oidc-client-ts";

import { toSignInError } from "./sign-in-errors.ts";
import { createTokenExchange, type TokenExchange } from "./token-exchange.ts";
import { createTokenRequester } from "./token-requester.ts";
import { createTokenVerifier } from "./verify-token.ts";

export interface SessionHttpClientsDeps {
  readonly deployment: Pick<Deployment, "api" | "identity" | "vendor_id">;
  readonly storage: Storage;
  /** Renews the access token at the provider; null when no one is signed in there. */
  readonly signInSilently: () => Promise<User | null>;
  /**
   * Called when the service does not know the vendor that a link chose. That choice was removed.
   */
  readonly onVendorIgnored: () => void;
  /** Throws when the token's account is not the one that this device has pinned. */
  readonly checkAccount: (claims: SessionClaims) => Promise<void>;
  readonly log: (step: string, error: unknown) => void;
}

/** The exchange for the session token, and the HTTP clients with and without it. */
export interface SessionHttpClients {
  readonly exchange: TokenExchange;
  /** With the session token. Does not retry. */
  readonly http: HttpClient;
  /** Without a token. Does not retry. */
  readonly publicHttp: HttpClient;
  /** The same two clients, but these retry failed reads. */
  readonly retryingClients: { readonly http: HttpClient; readonly publicHttp: HttpClient };
}

export function createSessionHttpClients({
  deployment,
  storage,
  signInSilently,
  onVendorIgnored,
  checkAccount,
  log,
}: SessionHttpClientsDeps): SessionHttpClients {
  const { base_url: baseUrl, credentials, issuer = baseUrl } = deployment.api;
  const anonymousSettings = { baseUrl, credentials, getToken: () => Promise.resolve(null) };
  const publicHttp = createHttpClient({ ...anonymousSettings, retries: 0 });

  const renewAccessToken = async (): Promise<string> => {
    const user = await signInSilently().catch((error: unknown) => {
      throw toSignInError(error);
    });
    if (user === null) throw new PortalError("login_required");
    return user.access_token;
  };
  const tokenRequester = createTokenRequester({
    publicHttp,
    storage,
    defaultVendorId: deployment.vendor_id,
    onVendorIgnored,
    renewAccessToken,
  });
  const exchange = createTokenExchange({
    storage,
    getVendorId: tokenRequester.getVendorId,
    requestToken: tokenRequester.requestToken,
    now: Date.now,
    checkAccount,
    verify: createTokenVerifier({
      jwksUrl: new URL(`${baseUrl}/auth/token-certs`),
      fetchJwks: (signal) => publicHttp.request("GET", "/auth/token-certs", TokenJwks, { signal }),
      issuer,
      audience: deployment.identity.client_id,
      now: Date.now,
      warn: (message) => {
        log("token", message);
      },
    }),
  });

  return {
    exchange,
    http: createAuthorisedHttpClient({ baseUrl, credentials, retries: 0 }, exchange),
    publicHttp,
    retryingClients: {
      http: createAuthorisedHttpClient({ baseUrl, credentials }, exchange),
      publicHttp: createHttpClient(anonymousSettings),
    },
  };
}
