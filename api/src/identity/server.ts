import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";

import {
  CallLimiter,
  ConnectionLimiter,
  createLoggerOptions,
  createTraceAdopter,
  describeError,
  hasBearerToken,
  logResponses,
  registerMetrics,
  sendStatus,
} from "@relicario/tooling/http";
import Fastify, { type FastifyBaseLogger, type FastifyError, type FastifyReply, type FastifyRequest } from "fastify";

import { findDatabaseFault } from "../db/faults.ts";
import { countConnections, measurePool } from "../db/measure-pool.ts";
import { Accounts } from "./accounts.ts";
import { adminRoutes } from "./admin-routes.ts";
import { getBasePath } from "./appearance.ts";
import { AttemptLimiter } from "./attempts.ts";
import { migrate, openPool, deleteExpiredRows } from "./database.ts";
import type { IdentitySettings } from "./env.ts";
import { setSecurityHeaders } from "./headers.ts";
import { interactionRoutes } from "./interaction-routes.ts";
import { stylePath } from "./pages/layout.ts";
import { getDummyHash } from "./passwords.ts";
import { collectClientOrigins, createProvider, databaseRetrySeconds } from "./provider.ts";
import { callerAddress, createRecordLimit } from "./record-limit.ts";
import { sendNotice } from "./send-page.ts";
import { sessionCheckPage, sessionCheckScript } from "./session-state.ts";

interface IdentityServer {
  readonly port: number;
  /** Finishes calls in flight, then closes everything. */
  stop(): Promise<void>;
}

const cleanupIntervalMilliseconds = 10 * 60 * 1000;
/** Real requests are far smaller. */
const maxBodyBytes = 16 * 1024;
/** The library's endpoints, by their default names. */
const libraryPaths = new Set([
  ...["/auth", "/auth/:uid", "/token", "/token/revocation", "/jwks", "/me"],
  ...["/session/end", "/session/end/confirm", "/session/end/success", "/.well-known/openid-configuration"],
]);
const readinessTimeoutMilliseconds = 2_000;

/** Starts the identity provider: migrates the database, creates the demo account, listens. */
export async function startIdentityProvider(settings: IdentitySettings): Promise<IdentityServer> {
  const { limits, trustedProxies } = settings;
  const sendFailure = (request: FastifyRequest, reply: FastifyReply, status: number): FastifyReply =>
    sendNotice(settings, request, reply, status, status === 429 || status === 503 ? "busy" : "refused");
  const connections = new ConnectionLimiter({
    limits,
    isTrusted: trustedProxies,
    requestMs: limits.bodyMs,
    sendError: (request, reply, status) => {
      setSecurityHeaders(reply.raw, {});
      sendFailure(request, reply, status);
    },
  });
  const callLimiter = new CallLimiter({
    limits,
    connections,
    getBufferedBytes: ({ headers }) => Number(headers["content-length"] ?? 0),
    sendRefusal: sendFailure,
  });
  const app = Fastify({
    ...connections.serverOptions,
    ...createLoggerOptions(settings.logLevel),
    // The service proves itself by the token of /admin, whatever its address.
    genReqId: createTraceAdopter(
      ({ headers, socket }) =>
        trustedProxies(socket.remoteAddress ?? "", 0) ||
        (settings.adminToken !== undefined && hasBearerToken(headers, settings.adminToken)),
    ),
    bodyLimit: maxBodyBytes,
    trustProxy: trustedProxies,
  });
  const { log } = app;
  const stopController = new AbortController();
  const pool = openPool(settings.databaseUrl, (error) => {
    log.error({ failure: describeError(error) }, "lost a database connection");
  });
  app.addHook("onClose", () => {
    stopController.abort();
    return pool.end();
  });
  try {
    await migrate(pool).catch((cause: unknown) => {
      throw new Error(
        `identity provider: its database cannot be used (${String(getErrorCode(cause))}); look at IDENTITY_DATABASE_URL`,
        { cause },
      );
    });
    await getDummyHash();
    const attempts = new AttemptLimiter(pool, settings.cookieKeys[0] ?? "");
    const accounts = new Accounts(pool, attempts);
    await ensureDemoAccount(settings, accounts, log);
    const provider = createProvider({
      settings,
      pool,
      accounts,
      recordLimit: createRecordLimit(attempts, limits),
      log,
    });
    const base = getBasePath(settings);
    const issuer = new URL(settings.issuer);
    const origins = collectClientOrigins(settings);

    app.addHook("onRequest", async (request, reply) => {
      setSecurityHeaders(reply.raw, { formTargets: origins });
      // Responses contain URLs built from the Host header, so requests for another host are
      // refused. These paths answer without URLs, and may be called by an internal name
      // (IDP_JWKS_URL, IDP_ADMIN, Prometheus).
      const path = getPath(request.url);
      const isAskedInside =
        ["/healthz", "/readyz", "/metrics", `${base}/jwks`].includes(path) || path.startsWith(`${base}/admin/`);
      if (request.headers.host !== issuer.host && !isAskedInside)
        return reply.code(421).type("text/plain; charset=utf-8").send(`This is ${issuer.origin}.\n`);
    });
    logResponses(app, {
      getRoute: ({ originalUrl, routeOptions: { url = null } }) =>
        url === `${base}/*` ? describeLibraryPath(base, getPath(originalUrl)) : url,
    });
    callLimiter.limitRequests(app);
    app.setErrorHandler((error: FastifyError, request, reply) => {
      const { statusCode: status = 500 } = error;
      if (status < 500) return sendFailure(request, reply, status);
      request.log.error({ failure: describeError(error) }, "failed");
      return findDatabaseFault(error) === null
        ? sendNotice(settings, request, reply, 500, "failed")
        : sendFailure(request, reply.header("retry-after", databaseRetrySeconds), 503);
    });
    if (settings.metricsToken !== undefined)
      measurePool(registerMetrics(app, settings.metricsToken), () => countConnections(pool));
    app.setNotFoundHandler((request, reply) => sendNotice(settings, request, reply, 404, "not_found"));
    app.get("/healthz", () => ({ status: "ok" }));
    app.get("/readyz", async (_request, reply) => {
      const isReady = await Promise.race([
        pool.query("select 1").then(
          () => true,
          () => false,
        ),
        pause(readinessTimeoutMilliseconds, false),
      ]);
      if (isReady) return { status: "ok" };
      return sendStatus(reply.header("retry-after", databaseRetrySeconds), 503);
    });
    const styleSheet = readFileSync(`${import.meta.dirname}/pages/style.css`, "utf8");
    app.get(`${base}${stylePath}`, (_request, reply) =>
      reply.type("text/css; charset=utf-8").header("cache-control", "public, max-age=3600").send(styleSheet),
    );
    app.get(`${base}/session/check`, (_request, reply) => {
      setSecurityHeaders(reply.raw, { inlineScripts: [sessionCheckScript], frameAncestors: origins });
      return reply.type("text/html; charset=utf-8").header("cache-control", "no-cache").send(sessionCheckPage);
    });
    await app.register(adminRoutes, { prefix: `${base}/admin`, settings, provider, pool, accounts });
    const handleOidc = provider.callback();
    await app.register(async (scope) => {
      callLimiter.queueCalls(scope);
      await scope.register(interactionRoutes, { prefix: `${base}/interaction`, settings, provider, accounts });
      await scope.register(async (oidcScope) => {
        oidcScope.removeAllContentTypeParsers();
        // Reads the body before the call waits for its turn, which a slow body would hold up. The
        // library takes the body from the request.
        oidcScope.addContentTypeParser("*", { parseAs: "buffer" }, (request, body, done) => {
          Object.assign(request.raw, { body });
          done(null);
        });
        oidcScope.all(`${base}/*`, (request, reply) => {
          reply.hijack();
          // The library derives its mount path from the difference of these two.
          const originalUrl = request.raw.url ?? "/";
          Object.assign(request.raw, { originalUrl, url: originalUrl.slice(base.length) });
          callerAddress.run(request.ip, () => void handleOidc(request.raw, reply.raw));
        });
      });
    });

    const address = await app.listen({ host: settings.host, port: settings.port }).catch((cause: unknown) => {
      if (getErrorCode(cause) !== "EADDRINUSE") throw cause;
      throw new Error(
        `identity provider: port ${String(settings.port)} is in use; stop what uses it or choose another PORT`,
        { cause },
      );
    });
    const cleanUp = (): void => {
      deleteExpiredRows(pool, stopController.signal).catch((error: unknown) => {
        if (!stopController.signal.aborted)
          log.error({ failure: describeError(error) }, "deleting expired rows failed"); // the next run retries
      });
    };
    setInterval(cleanUp, cleanupIntervalMilliseconds).unref();
    cleanUp();
    return { port: Number(new URL(address).port), stop: () => app.close() };
  } catch (error) {
    await app.close();
    throw error;
  }
}

async function ensureDemoAccount(
  { demoAccount }: IdentitySettings,
  accounts: Accounts,
  log: FastifyBaseLogger,
): Promise<void> {
  if (demoAccount === undefined || (await accounts.isUsernameTaken(demoAccount.username))) return;
  const result = await accounts.signUp(demoAccount, "");
  if ("account" in result) log.info({ account: result.account.id }, "created the demo account");
  else if (result.problems.username !== "username_taken")
    throw new Error(`identity provider: the demo account is refused: ${Object.values(result.problems).join(", ")}`);
}

/** Pattern of a path that the library serves by one route. */
function describeLibraryPath(base: string, path: string): string {
  const relativePath = path.slice(base.length).replace(/^\/auth\/[^/]+$/, "/auth/:uid");
  return `${base}${libraryPaths.has(relativePath) ? relativePath : "/*"}`;
}

function getPath(url: string): string {
  return url.split("?", 1)[0] ?? "";
}

function getErrorCode(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
