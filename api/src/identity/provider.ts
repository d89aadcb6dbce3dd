import { createLocalJWKSet, jwtVerify } from "jose";
import Provider, { type Configuration, type KoaContextWithOIDC } from "oidc-provider";
import type { Pool } from "pg";

import type { Accounts } from "./accounts.ts";
import { PostgresAdapter } from "./adapter.ts";
import type { Client, IdentitySettings } from "./env.ts";
import { setSecurityHeaders } from "./headers.ts";
import { describeError, type Log } from "./log.ts";
import { getBasePath, resolveAppearance } from "./appearance.ts";
import type { Appearance } from "./pages/layout.ts";
import {
  renderNoticePage,
  renderAutoSignOutPage,
  renderSignOutConfirmationPage,
  signOutScript,
  type NoticeName,
} from "./pages/notices.ts";
import { browserStateCookie, deriveBrowserState, deriveSessionState } from "./session-state.ts";

/** What access tokens are for. */
const audience = "relicario-api";
const resource = "urn:relicario:api";
const resourceScope = "openid api";
const oidcScope = "openid profile email";

/**
 * Seconds. A session is prolonged by each use, and an open portal renews its token every few
 * minutes.
 */
const ttlSeconds = { code: 60, idToken: 600, interaction: 3600, session: 12 * 3600 } as const;

interface ProviderDeps {
  readonly settings: IdentitySettings;
  readonly pool: Pool;
  readonly accounts: Accounts;
  readonly log: Log;
}

/** The page of the portal that one goes back to. */
export function getReturnUrl(settings: IdentitySettings, clientId?: unknown): string | undefined {
  const client = settings.clients.find((candidate) => candidate.client_id === clientId) ?? settings.clients[0];
  return client?.post_logout_redirect_uris[0];
}

export function collectClientOrigins(settings: IdentitySettings): string[] {
  return [...new Set(settings.clients.flatMap((client) => client.origins))];
}

export function createProvider({ settings, pool, accounts, log }: ProviderDeps): Provider {
  const base = getBasePath(settings);
  const clients: ReadonlyMap<string, Client> = new Map(settings.clients.map((client) => [client.client_id, client]));
  const getAppearance = (ctx: Pick<KoaContextWithOIDC, "query" | "req">): Appearance =>
    resolveAppearance(settings, ctx.req, { uiLocales: ctx.query["ui_locales"], theme: ctx.query["theme"] });

  const configuration: Configuration = {
    adapter: (model: string) => new PostgresAdapter(pool, model),
    clients: settings.clients.map(({ client_id, redirect_uris, post_logout_redirect_uris }) => ({
      client_id,
      redirect_uris,
      post_logout_redirect_uris,
      grant_types: ["authorization_code"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      id_token_signed_response_alg: "RS256",
      require_auth_time: true,
    })),
    jwks: settings.keys,
    cookies: {
      keys: settings.cookieKeys,
      names: { session: "relicario_session", interaction: "relicario_interaction", resume: "relicario_resume" },
      long: { httpOnly: true, sameSite: "lax", path: base, signed: true },
      // Each of these lies at the path of its own sign-in, so that two tabs do not disturb each
      // other.
      short: { httpOnly: true, sameSite: "lax", signed: true },
    },
    scopes: ["openid", "profile", "email"],
    claims: {
      openid: ["sub"],
      profile: ["preferred_username"],
      email: ["email", "email_verified"],
      auth_time: null,
      acr: null,
      iss: null,
      sid: null,
    },
    conformIdTokenClaims: false, // user name and e-mail stand in the ID token: the portal asks nothing else
    responseTypes: ["code"],
    clientAuthMethods: ["none"],
    pkce: { required: () => true },
    extraParams: ["theme"],
    clientBasedCORS: (_ctx, origin, client) => clients.get(client.clientId)?.origins.includes(origin) ?? false,
    discovery: { check_session_iframe: `${settings.issuer}/session/check`, ui_locales_supported: ["en", "es"] },
    features: {
      devInteractions: { enabled: false },
      dPoP: { enabled: false },
      pushedAuthorizationRequests: { enabled: false },
      revocation: { enabled: true },
      rpInitiatedLogout: {
        enabled: true,
        logoutSource: (ctx, form) => {
          const hint = ctx.oidc.entities.IdTokenHint?.payload["sub"];
          if (hint !== undefined && hint === ctx.oidc.session?.accountId) {
            setSecurityHeaders(ctx.res, { scripts: [signOutScript], forms: collectClientOrigins(settings) });
            ctx.body = renderAutoSignOutPage(getAppearance(ctx), { form });
          } else {
            ctx.body = renderSignOutConfirmationPage(getAppearance(ctx), {
              form,
              stayUrl: getReturnUrl(settings, ctx.oidc.client?.clientId),
            });
          }
        },
        postLogoutSuccessSource: (ctx) => {
          ctx.body = renderNoticePage(getAppearance(ctx), "signed_out", {
            returnUrl: getReturnUrl(settings, ctx.oidc.client?.clientId),
          });
        },
      },
      resourceIndicators: {
        enabled: true,
        defaultResource: (_ctx, _client, oneOf) => oneOf ?? resource,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: resourceScope,
          audience,
          accessTokenTTL: settings.accessTokenTtl,
          accessTokenFormat: "jwt",
          jwt: { sign: { alg: "RS256" } },
        }),
      },
    },
    extraTokenClaims: async (ctx, token) => {
      if (token.kind !== "AccessToken") return undefined;
      const { AuthorizationCode: code } = ctx.oidc.entities;
      const [account, session] = await Promise.all([
        accounts.find(token.accountId),
        code?.sessionUid === undefined ? undefined : ctx.oidc.provider.Session.findByUid(code.sessionUid),
      ]);
      return {
        azp: token.clientId,
        auth_time: code?.authTime,
        // so that signing out ends what other tabs of this sign-in exchanged
        sid: session?.sidFor(code?.clientId ?? ""),
        ...(account === undefined ? {} : buildUserClaims(account)),
      };
    },
    findAccount: async (_ctx, id) => {
      const account = await accounts.find(id);
      return account && { accountId: account.id, claims: () => ({ sub: account.id, ...buildUserClaims(account) }) };
    },
    // The only clients are the portal's own: nobody is asked for consent.
    loadExistingGrant: async (ctx) => {
      const { session, client, account } = ctx.oidc;
      if (session === undefined || client === undefined || account === undefined) return undefined;
      const grantId = session.grantIdFor(client.clientId);
      const existingGrant = grantId === undefined ? undefined : await ctx.oidc.provider.Grant.find(grantId);
      if (existingGrant !== undefined) return existingGrant;
      const grant = new ctx.oidc.provider.Grant({ clientId: client.clientId, accountId: account.accountId });
      grant.addOIDCScope(oidcScope);
      grant.addResourceScope(resource, resourceScope);
      await grant.save();
      return grant;
    },
    interactions: { url: (_ctx, interaction) => `${base}/interaction/${interaction.uid}` },
    renderError: (ctx, out, error) => {
      ctx.type = "html";
      const name: NoticeName = ctx.status >= 500 ? "failed" : error.name === "SessionNotFound" ? "expired" : "refused";
      ctx.body = renderNoticePage(getAppearance(ctx), name, {
        returnUrl: getReturnUrl(settings),
        code: name === "expired" ? undefined : out.error,
      });
    },
    ttl: {
      AccessToken: settings.accessTokenTtl,
      AuthorizationCode: ttlSeconds.code,
      IdToken: ttlSeconds.idToken,
      Interaction: ttlSeconds.interaction,
      Session: ttlSeconds.session,
      Grant: ttlSeconds.session,
    },
  };

  const provider = new Provider(settings.issuer, configuration);
  addSessionState(provider, base);
  serveUserInfoForJwt(provider, { settings, accounts });
  provider.use(async (ctx, next) => {
    await next();
    if (ctx.status !== 404 || (ctx.body !== undefined && ctx.body !== null) || ctx.accepts("json", "html") !== "html")
      return;
    ctx.type = "html";
    ctx.body = renderNoticePage(getAppearance(ctx), "not_found", { returnUrl: getReturnUrl(settings) });
    ctx.status = 404;
  });
  provider.on("server_error", (_ctx, error) => {
    log.error("server error", describeError(error));
  });
  return provider;
}

function buildUserClaims(account: { username: string; email: string }): Record<string, string | boolean> {
  // No mail is sent from here, so nothing shows that an address is somebody's.
  return { preferred_username: account.username, email: account.email, email_verified: false };
}

/** [Note: Session check] of session-state.ts, step 1 and step 4. */
function addSessionState(provider: Provider, base: string): void {
  const cookieOptions = { httpOnly: false, sameSite: "lax", path: base, signed: false, overwrite: true } as const;
  provider.on("authorization.success", (ctx, response) => {
    const { session, client, params } = ctx.oidc;
    const redirectUri = params?.["redirect_uri"];
    if (
      session?.accountId === undefined ||
      client === undefined ||
      typeof redirectUri !== "string" ||
      response === undefined
    )
      return;
    const browserState = deriveBrowserState({ uid: session.uid, accountId: session.accountId });
    // The answer is sent after this event, so what is added here goes along.
    response["session_state"] = deriveSessionState({
      clientId: client.clientId,
      origin: new URL(redirectUri).origin,
      browserState,
    });
    ctx.cookies.set(browserStateCookie, browserState, { ...cookieOptions, maxAge: ttlSeconds.session * 1000 });
  });
  provider.on("end_session.success", (ctx) => {
    ctx.cookies.set(browserStateCookie, null, cookieOptions);
  });
}

/**
 * The library answers userinfo to opaque tokens alone; ours are JWTs (Keycloak takes its own
 * there). Anything else is left to the library.
 */
function serveUserInfoForJwt(
  provider: Provider,
  { settings, accounts }: Pick<ProviderDeps, "settings" | "accounts">,
): void {
  const publicKeys = createLocalJWKSet({
    keys: settings.keys.keys.map(({ kty, kid, alg, use, n, e }) => ({ kty, kid, alg, use, n, e })),
  });
  const origins = collectClientOrigins(settings);
  provider.use(async (ctx, next) => {
    const token = /^Bearer ([\w-]+\.[\w-]+\.[\w-]+)$/i.exec(ctx.get("authorization"))?.[1];
    if (ctx.path !== "/me" || ctx.method !== "GET" || token === undefined) {
      await next();
      return;
    }
    const verifiedToken = await jwtVerify(token, publicKeys, {
      issuer: settings.issuer,
      audience,
      algorithms: ["RS256"],
      typ: "at+jwt",
    }).catch(() => null);
    const account =
      typeof verifiedToken?.payload.sub === "string" ? await accounts.find(verifiedToken.payload.sub) : undefined;
    if (account === undefined) {
      await next();
      return;
    }
    ctx.vary("Origin");
    const origin = ctx.get("origin");
    if (origins.includes(origin)) ctx.set("Access-Control-Allow-Origin", origin);
    ctx.set("Cache-Control", "no-store");
    ctx.body = { sub: account.id, ...buildUserClaims(account) };
  });
}
