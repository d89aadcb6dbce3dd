import { createHttpClient, TokenJwks, type SessionClaims } from "@relicario/shared/api";
import type { Deployment, HttpClient } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import type { User } from "oidc-client-ts";

import { createAuthorisedHttpClient } from "./authorised-http.ts";
import { toSignInError } from "./sign-in-errors.ts";
import { createTokenExchange, type TokenExchange } from "./token-exchange.ts";
import { createTokenRequester } from "./token-request.ts";
import { createTokenVerifier } from "./verify-token.ts";

export interface SessionHttpClientsDeps {
  readonly deployment: Pick<Deployment, "api" | "identity" | "vendor_id">;
  readonly storage: Storage;
  /** Renews the access token at the provider; null when nobody is signed in there. */
  readonly renew: () => Promise<User | null>;
  /** A vendor that a link named is unknown to the service and was forgotten. */
  readonly onVendorIgnored: () => void;
  /** Throws when the account that a token is for is not the one that this device knows. */
  readonly checkAccount: (claims: SessionClaims) => Promise<void>;
  readonly log: (step: string, error: unknown) => void;
}

/** The session token and the calls to the service that are made with and without it. */
export interface SessionHttpClients {
  readonly exchange: TokenExchange;
  /** Calls with the session token, each made once. */
  readonly http: HttpClient;
  /** Calls without a token, each made once. */
  readonly publicHttp: HttpClient;
  /** The same two, with failed reads repeated. */
  readonly retrying: { readonly http: HttpClient; readonly publicHttp: HttpClient };
}

export function createSessionHttpClients({
  deployment,
  storage,
  renew,
  onVendorIgnored,
  checkAccount,
  log,
}: SessionHttpClientsDeps): SessionHttpClients {
  const { base_url: baseUrl, credentials, issuer = baseUrl } = deployment.api;
  const anonymousSettings = { baseUrl, credentials, getToken: () => Promise.resolve(null) };
  const publicHttp = createHttpClient({ ...anonymousSettings, retries: 0 });

  const renewAccessToken = async (): Promise<string> => {
    const user = await renew().catch((error: unknown) => {
      throw toSignInError(error);
    });
    if (user === null) throw new PortalError("login_required");
    return user.access_token;
  };
  const tokenRequester = createTokenRequester({
    http: publicHttp,
    storage,
    defaultVendorId: deployment.vendor_id,
    onVendorIgnored,
    renewAccessToken,
  });
  const exchange = createTokenExchange({
    storage,
    getVendorId: tokenRequester.getVendorId,
    requestToken: tokenRequester.send,
    now: Date.now,
    checkAccount,
    verify: createTokenVerifier({
      certsUrl: new URL(`${baseUrl}/auth/token-certs`),
      fetchCerts: (signal) => publicHttp.request("GET", "/auth/token-certs", TokenJwks, { signal }),
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
    retrying: {
      http: createAuthorisedHttpClient({ baseUrl, credentials }, exchange),
      publicHttp: createHttpClient(anonymousSettings),
    },
  };
}
