import { createHttp, TokenCerts, type SessionClaims } from "@relicario/shared/api";
import type { Deployment, Http } from "@relicario/shared/contract";
import { PortalError } from "@relicario/shared/errors";
import type { User } from "oidc-client-ts";

import { createAuthorisedHttp } from "./authorised-http.ts";
import { toSignInError } from "./sign-in-errors.ts";
import { createTokenExchange, type TokenExchange } from "./token-exchange.ts";
import { createTokenRequest } from "./token-request.ts";
import { createTokenVerifier } from "./verify-token.ts";

export interface SessionHttpDeps {
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
export interface SessionHttp {
  readonly exchange: TokenExchange;
  /** Calls with the session token, each made once. */
  readonly http: Http;
  /** Calls without a token, each made once. */
  readonly publicHttp: Http;
  /** The same two, with failed reads repeated. */
  readonly retrying: { readonly http: Http; readonly publicHttp: Http };
}

export function createSessionHttp({
  deployment,
  storage,
  renew,
  onVendorIgnored,
  checkAccount,
  log,
}: SessionHttpDeps): SessionHttp {
  const { base_url: baseUrl, credentials, issuer = baseUrl } = deployment.api;
  const anonymousSettings = { baseUrl, credentials, getToken: () => Promise.resolve(null) };
  const publicHttp = createHttp({ ...anonymousSettings, retries: 0 });

  const renewAccessToken = async (): Promise<string> => {
    const user = await renew().catch((error: unknown) => {
      throw toSignInError(error);
    });
    if (user === null) throw new PortalError("login_required");
    return user.access_token;
  };
  const tokenRequest = createTokenRequest({
    http: publicHttp,
    storage,
    defaultVendorId: deployment.vendor_id,
    onVendorIgnored,
    renewAccessToken,
  });
  const exchange = createTokenExchange({
    storage,
    getVendorId: tokenRequest.getVendorId,
    requestToken: tokenRequest.send,
    now: Date.now,
    checkAccount,
    verify: createTokenVerifier({
      certsUrl: new URL(`${baseUrl}/auth/token-certs`),
      fetchCerts: (signal) => publicHttp.request("GET", "/auth/token-certs", TokenCerts, { signal }),
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
    http: createAuthorisedHttp({ baseUrl, credentials, retries: 0 }, exchange),
    publicHttp,
    retrying: {
      http: createAuthorisedHttp({ baseUrl, credentials }, exchange),
      publicHttp: createHttp(anonymousSettings),
    },
  };
}
