import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";

import { Accounts } from "./accounts.ts";
import { createAdminHandler } from "./administration.ts";
import { AttemptLimiter } from "./attempts.ts";
import { migrate, openPool, deleteExpiredRows } from "./database.ts";
import type { IdentitySettings } from "./env.ts";
import { setSecurityHeaders } from "./headers.ts";
import { RequestError, requireSameOrigin, sendHtml } from "./http.ts";
import { createInteractionHandler, type InteractionPage } from "./interactions.ts";
import { describeError, type Log } from "./log.ts";
import { getBasePath, resolveAppearance } from "./appearance.ts";
import { findAsset } from "./pages/assets.ts";
import { renderNoticePage, type NoticeName } from "./pages/notices.ts";
import { getDummyHash } from "./passwords.ts";
import { collectClientOrigins, createProvider, getReturnUrl } from "./provider.ts";
import { sessionCheckPage, sessionCheckScript } from "./session-state.ts";

interface IdentityServer {
  readonly port: number;
  /** Finishes what was asked, for at most five seconds, then closes everything. */
  stop(): Promise<void>;
}

const cleanupIntervalMilliseconds = 10 * 60 * 1000; // milliseconds
const shutdownGraceMilliseconds = 5_000;

/** Starts the identity provider: database brought up to date, demo account there, port open. */
export async function startIdentityProvider(settings: IdentitySettings, log: Log): Promise<IdentityServer> {
  const pool = openPool(settings.databaseUrl, (error) => {
    log.error("lost a database connection", describeError(error));
  });
  try {
    await migrate(pool).catch((cause: unknown) => {
      throw new Error(
        `identity provider: its database cannot be used (${String(getErrorCode(cause))}); look at IDENTITY_DATABASE_URL`,
        { cause },
      );
    });
    await deleteExpiredRows(pool);
    await getDummyHash();
    const accounts = new Accounts(pool, new AttemptLimiter(pool, settings.cookieKeys[0] ?? ""));
    await ensureDemoAccount(settings, accounts, log);
    const provider = createProvider({ settings, pool, accounts, log });
    const handleInteraction = createInteractionHandler({ settings, provider, accounts, log });
    const handleAdmin = createAdminHandler({ settings, provider, pool, accounts, log });
    const handler = createHandler({
      settings,
      log,
      handleInteraction,
      handleAdmin,
      handleOidc: provider.callback(),
      checkReady: () => pool.query("select 1"),
    });
    const { servers, port } = await listen(handler, settings);

    const cleanupTimer = setInterval(() => {
      deleteExpiredRows(pool).catch((error: unknown) => {
        log.error("cleaning failed", describeError(error)); // the next round does it
      });
    }, cleanupIntervalMilliseconds);
    cleanupTimer.unref();
    return {
      port,
      stop: async () => {
        clearInterval(cleanupTimer);
        await Promise.all(servers.map(closeServer));
        await pool.end();
      },
    };
  } catch (error) {
    await pool.end();
    throw error;
  }
}

async function ensureDemoAccount({ demoAccount }: IdentitySettings, accounts: Accounts, log: Log): Promise<void> {
  if (demoAccount === undefined || (await accounts.isUsernameTaken(demoAccount.username))) return;
  const result = await accounts.signUp(demoAccount, undefined);
  if ("account" in result) log.info("made the demo account", { account: result.account.id });
  else if (result.problems.username !== "username_taken")
    throw new Error(`identity provider: the demo account is refused: ${Object.values(result.problems).join(", ")}`);
}

interface HandlerDeps {
  readonly settings: IdentitySettings;
  readonly log: Log;
  readonly handleInteraction: (
    request: IncomingMessage,
    response: ServerResponse,
    target: { uid: string; page: InteractionPage },
  ) => Promise<void>;
  /** False where there is nothing to answer. */
  readonly handleAdmin: (request: IncomingMessage, response: ServerResponse, path: string) => Promise<boolean>;
  readonly handleOidc: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  readonly checkReady: () => Promise<unknown>;
}

function createHandler({
  settings,
  log,
  handleInteraction,
  handleAdmin,
  handleOidc,
  checkReady,
}: HandlerDeps): RequestListener {
  const base = getBasePath(settings);
  const issuer = new URL(settings.issuer);
  const origins = collectClientOrigins(settings);

  return (request, response) => {
    const startedAt = performance.now();
    const path = getRequestPath(request);
    response.on("close", () => {
      log.info("request", {
        method: request.method,
        path: path.replace(/\/(interaction|auth)\/[^/]+/, "/$1/:uid"), // the id of a sign-in stays out of the log
        status: response.statusCode,
        ms: Math.round(performance.now() - startedAt),
      });
    });
    respond(request, response, path).catch((error: unknown) => {
      respondWithError(request, response, error);
    });
  };

  async function respond(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    setSecurityHeaders(response, { forms: origins });
    if (path === "/healthz") {
      await checkReady();
      response.setHeader("Content-Type", "application/json").end('{"status":"ok"}');
      return;
    }
    const adminPath = path.startsWith(`${base}/admin/`) ? path.slice(`${base}/admin`.length) : null;
    if (adminPath !== null) {
      if (!(await handleAdmin(request, response, adminPath))) sendNotice(request, response, 404, "not_found");
      return;
    }
    // Addresses are built from the Host header: another name for this machine must not come into
    // them. The public keys hold
    // none, nor do the calls below /admin, and a service may have to ask for them by a name inside
    // (IDP_JWKS_URL, IDP_ADMIN).
    if (request.headers.host !== issuer.host && path !== `${base}/jwks`) {
      response.writeHead(421, { "Content-Type": "text/plain; charset=utf-8" }).end(`This is ${issuer.origin}.\n`);
      return;
    }
    const relativePath = path === base || path.startsWith(`${base}/`) ? path.slice(base.length) : null;
    if (relativePath === null) {
      sendNotice(request, response, 404, "not_found");
      return;
    }
    const asset = findAsset(relativePath);
    if (asset !== undefined) {
      response
        .setHeader("Content-Type", asset.type)
        .setHeader("Cache-Control", "public, max-age=31536000, immutable")
        .end(asset.bytes);
      return;
    }
    if (relativePath === "/session/check") {
      setSecurityHeaders(response, { scripts: [sessionCheckScript], framedBy: origins });
      response
        .setHeader("Content-Type", "text/html; charset=utf-8")
        .setHeader("Cache-Control", "no-cache")
        .end(sessionCheckPage);
      return;
    }
    const interactionMatch = /^\/interaction\/([\w-]{1,64})(\/sign-up)?$/.exec(relativePath);
    if (interactionMatch !== null) {
      if (request.method === "POST") requireSameOrigin(request, issuer.origin);
      else if (request.method !== "GET" && request.method !== "HEAD") throw new RequestError(405, "no such method");
      await handleInteraction(request, response, {
        uid: interactionMatch[1] ?? "",
        page: interactionMatch[2] === undefined ? "sign-in" : "sign-up",
      });
      return;
    }
    // The library learns where it is mounted from the difference of these two.
    const originalUrl = request.url ?? "/";
    Object.assign(request, { originalUrl: originalUrl, url: originalUrl.slice(base.length) || "/" });
    await handleOidc(request, response);
  }

  function respondWithError(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    const status = error instanceof RequestError ? error.status : 500;
    if (status === 500) log.error("request failed", describeError(error));
    if (response.headersSent) {
      response.destroy();
      return;
    }
    response.setHeader("Connection", "close"); // part of a body may be left unread
    sendNotice(request, response, status, status === 500 ? "failed" : "refused");
  }

  function sendNotice(request: IncomingMessage, response: ServerResponse, status: number, name: NoticeName): void {
    sendHtml(
      response,
      status,
      renderNoticePage(resolveAppearance(settings, request), name, { returnUrl: getReturnUrl(settings) }),
    );
  }
}

function getRequestPath(request: IncomingMessage): string {
  return (request.url ?? "/").split("?", 1)[0] ?? "/";
}

/**
 * `localhost` has two addresses and browsers try both: so both are taken, as far as this machine
 * has them.
 */
async function listen(
  handler: RequestListener,
  { host, port }: IdentitySettings,
): Promise<{ servers: Server[]; port: number }> {
  if (host !== "localhost") {
    const server = await listenAt(handler, host, port);
    return { servers: [server], port: getPort(server) };
  }
  const ipv4Server = await listenAt(handler, "127.0.0.1", port);
  try {
    return { servers: [ipv4Server, await listenAt(handler, "::1", getPort(ipv4Server))], port: getPort(ipv4Server) };
  } catch (error) {
    if (getErrorCode(error) === "EADDRNOTAVAIL" || getErrorCode(error) === "EAFNOSUPPORT")
      return { servers: [ipv4Server], port: getPort(ipv4Server) }; // no IPv6 here
    await closeServer(ipv4Server);
    throw error;
  }
}

function listenAt(handler: RequestListener, host: string, port: number): Promise<Server> {
  const server = createServer({ requestTimeout: 30_000, headersTimeout: 10_000 }, handler);
  return new Promise((resolve, reject) => {
    server.once("error", (error) => {
      const isPortInUse = getErrorCode(error) === "EADDRINUSE";
      reject(
        isPortInUse
          ? new Error(`identity provider: port ${String(port)} is in use; stop what uses it or choose another PORT`, {
              cause: error,
            })
          : error,
      );
    });
    server.listen(port, host, () => {
      resolve(server);
    });
  });
}

function getErrorCode(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

function getPort(server: Server): number {
  const address = server.address();
  return address !== null && typeof address === "object" ? address.port : 0;
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const graceTimer = setTimeout(() => {
      server.closeAllConnections();
    }, shutdownGraceMilliseconds);
    server.close(() => {
      clearTimeout(graceTimer);
      resolve();
    });
    server.closeIdleConnections();
  });
}
