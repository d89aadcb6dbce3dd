import type { FastifyBaseLogger } from "fastify";
import { createLocalJWKSet, jwtVerify } from "jose";
import Provider, { type Configuration, type KoaContextWithOIDC } from "oidc-provider";
import type { Pool } from "pg";
import { describeError } from "@relicario/tooling/http";

import type { Accounts } from "./accounts.ts";
import { findDatabaseFault } from "../db/faults.ts";
import { PostgresAdapter, type RecordLimit } from "./adapter.ts";
import type { Client, IdentitySettings } from "./env.ts";
import { setSecurityHeaders } from "./headers.ts";
import { getBasePath, resolveAppearance } from "./appearance.ts";
import { TooManyRecords } from "./record-limit.ts";
import type { Appearance } from "./pages/layout.ts";
import {
  renderNoticePage,
  renderAutoSignOutPage,
  renderSignOutConfirmationPage,
  signOutScript,
  type NoticeName,
} from "./pages/notices.ts";
import { browserStateCookie, deriveBrowserState, deriveSessionState } from "./session-state.ts";

/** Audience of access tokens. */
const audience = "relicario-api";
const resource = "urn:relicario:api";
const resourceScope = "openid api";
const oidcScope = "openid profile email";

/** Seconds. Each use extends a session, and an open portal renews its token every few minutes. */
const ttlSeconds = { code: 60, idToken: 600, interaction: 3600, session: 12 * 3600 } as const;

/** `Retry-After` of a 503: a restarting database is back by then. */
export const databaseRetrySeconds = 3;

interface ProviderDeps {
  readonly settings: IdentitySettings;
  readonly pool: Pool;
  readonly accounts: Accounts;
  readonly recordLimit: RecordLimit;
  readonly log: FastifyBaseLogger;
}

/** The portal's page to return to. */
export function getReturnUrl(settings: IdentitySettings, clientId?: unknown): string | undefined {
  const client = settings.clients.find((candidate) => candidate.client_id === clientId) ?? settings.clients[0];
  return client?.post_logout_redirect_uris[0];
}

export function collectClientOrigins(settings: IdentitySettings): string[] {
  return [...new Set(settings.clients.flatMap((client) => client.origins))];
}

export function createProvider({ settings, pool, accounts, recordLimit, log }: ProviderDeps): Provider {
  const base = getBasePath(settings);
  const clients: ReadonlyMap<string, Client> = new Map(settings.clients.map((client) => [client.client_id, client]));
  const getAppearance = (ctx: Pick<KoaContextWithOIDC, "query" | "req">): Appearance =>
    resolveAppearance(settings, ctx.req, { uiLocales: ctx.query["ui_locales"], theme: ctx.query["theme"] });

  const configuration: Configuration = {
    adapter: (model: string) => new PostgresAdapter(pool, model, recordLimit),
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
      // Each of these cookies is limited to the path of its sign-in, so that two tabs do not
      // interfere.
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
    conformIdTokenClaims: false, // user name and e-mail are in the ID token: the portal does not call userinfo
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
          const { session } = ctx.oidc;
          if (session?.state !== undefined) session.state["at"] = Date.now(); // the adapter keeps the newest
          if (hint !== undefined && hint === session?.accountId) {
            setSecurityHeaders(ctx.res, {
              inlineScripts: [signOutScript],
              formTargets: collectClientOrigins(settings),
            });
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
        // so that signing out also revokes sessions that other tabs of this sign-in exchanged
        sid: session?.sidFor(code?.clientId ?? ""),
        ...(account === undefined ? {} : buildUserClaims(account)),
      };
    },
    findAccount: async (_ctx, id) => {
      const account = await accounts.find(id);
      return account && { accountId: account.id, claims: () => ({ sub: account.id, ...buildUserClaims(account) }) };
    },
    // All clients are the portal's own: no consent is asked for.
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
      if (error instanceof TooManyRecords) ctx.set("retry-after", String(error.retryAfterSeconds));
      const name = chooseNotice(ctx.status, error);
      ctx.body = renderNoticePage(getAppearance(ctx), name, {
        returnUrl: getReturnUrl(settings),
        code: name === "refused" || name === "failed" ? out.error : undefined,
      });
    },
    ttl: {
      AccessToken: settings.accessTokenTtl,
      AuthorizationCode: ttlSeconds.code,
      IdToken: ttlSeconds.idToken,
      Interaction: ttlSeconds.interaction,
      // A session without a person ends as soon as a sign-in page.
      Session: (_ctx, { accountId }) => (accountId === undefined ? ttlSeconds.interaction : ttlSeconds.session),
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
  // before the response is written
  provider.on("server_error", (ctx, error) => {
    log.error({ failure: describeError(error) }, "failed");
    if (findDatabaseFault(error) === null) return;
    ctx.status = 503;
    ctx.set("retry-after", String(databaseRetrySeconds));
  });
  return provider;
}

function chooseNotice(status: number, error: Error): NoticeName {
  if (status === 429 || status === 503) return "busy";
  if (status >= 500) return "failed";
  return error.name === "SessionNotFound" ? "expired" : "refused";
}

function buildUserClaims(account: { username: string; email: string }): Record<string, string | boolean> {
  // This provider sends no mail, so no address is verified.
  return { preferred_username: account.username, email: account.email, email_verified: false };
}

/** [Note: Session check] of session-state.ts, steps 1 and 4. */
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
    // The response is sent after this event, so it includes this member.
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
 * Answers userinfo for JWTs, as Keycloak does: the library answers it only for opaque tokens.
 * Leaves other requests to the library.
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
