import { createServer, type IncomingMessage, type RequestListener, type Server, type ServerResponse } from "node:http";

import { Accounts } from "./accounts.ts";
import { createAdministration } from "./administration.ts";
import { Attempts } from "./attempts.ts";
import { migrate, openPool, removeExpired } from "./database.ts";
import type { IdentitySettings } from "./env.ts";
import { setSecurityHeaders } from "./headers.ts";
import { BadRequest, requireSameOrigin, sendHtml } from "./http.ts";
import { createInteractions, type InteractionPage } from "./interactions.ts";
import { traceOf, type Log } from "./log.ts";
import { basePath, lookFor } from "./look.ts";
import { findAsset } from "./pages/assets.ts";
import { noticePage, type NoticeName } from "./pages/notices.ts";
import { nobodysHash } from "./passwords.ts";
import { allOrigins, createProvider, wayBack } from "./provider.ts";
import { sessionCheckPage, sessionCheckScript } from "./session-state.ts";

interface IdentityServer {
  readonly port: number;
  /** Finishes what was asked, for at most five seconds, then closes everything. */
  stop(): Promise<void>;
}

const cleaningEvery = 10 * 60 * 1000; // milliseconds
const graceMilliseconds = 5_000;

/** Starts the identity provider: database brought up to date, demo account there, port open. */
export async function startIdentity(settings: IdentitySettings, log: Log): Promise<IdentityServer> {
  const pool = openPool(settings.databaseUrl, (error) => {
    log.error("lost a database connection", traceOf(error));
  });
  try {
    await migrate(pool).catch((cause: unknown) => {
      throw new Error(
        `identity provider: its database cannot be used (${String(codeOf(cause))}); look at IDENTITY_DATABASE_URL`,
        { cause },
      );
    });
    await removeExpired(pool);
    await nobodysHash();
    const accounts = new Accounts(pool, new Attempts(pool, settings.cookieKeys[0] ?? ""));
    await ensureDemoAccount(settings, accounts, log);
    const provider = createProvider({ settings, pool, accounts, log });
    const interact = createInteractions({ settings, provider, accounts, log });
    const administer = createAdministration({ settings, provider, pool, accounts, log });
    const handler = createHandler({
      settings,
      log,
      interact,
      administer,
      provide: provider.callback(),
      isReady: () => pool.query("select 1"),
    });
    const { servers, port } = await listen(handler, settings);

    const cleaning = setInterval(() => {
      removeExpired(pool).catch((error: unknown) => {
        log.error("cleaning failed", traceOf(error)); // the next round does it
      });
    }, cleaningEvery);
    cleaning.unref();
    return {
      port,
      stop: async () => {
        clearInterval(cleaning);
        await Promise.all(servers.map(close));
        await pool.end();
      },
    };
  } catch (error) {
    await pool.end();
    throw error;
  }
}

async function ensureDemoAccount({ demoAccount }: IdentitySettings, accounts: Accounts, log: Log): Promise<void> {
  if (demoAccount === undefined || (await accounts.isTaken(demoAccount.username))) return;
  const made = await accounts.signUp(demoAccount, undefined);
  if ("account" in made) log.info("made the demo account", { account: made.account.id });
  else if (made.problems.username !== "username_taken")
    throw new Error(`identity provider: the demo account is refused: ${Object.values(made.problems).join(", ")}`);
}

interface HandlerParts {
  readonly settings: IdentitySettings;
  readonly log: Log;
  readonly interact: (
    request: IncomingMessage,
    response: ServerResponse,
    asked: { uid: string; page: InteractionPage },
  ) => Promise<void>;
  /** False where there is nothing to answer. */
  readonly administer: (request: IncomingMessage, response: ServerResponse, call: string) => Promise<boolean>;
  readonly provide: (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  readonly isReady: () => Promise<unknown>;
}

function createHandler({ settings, log, interact, administer, provide, isReady }: HandlerParts): RequestListener {
  const base = basePath(settings);
  const issuer = new URL(settings.issuer);
  const origins = allOrigins(settings);

  return (request, response) => {
    const started = performance.now();
    const path = pathOf(request);
    response.on("close", () => {
      log.info("request", {
        method: request.method,
        path: path.replace(/\/(interaction|auth)\/[^/]+/, "/$1/:uid"), // the id of a sign-in stays out of the log
        status: response.statusCode,
        ms: Math.round(performance.now() - started),
      });
    });
    answer(request, response, path).catch((error: unknown) => {
      fail(request, response, error);
    });
  };

  async function answer(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
    setSecurityHeaders(response, { forms: origins });
    if (path === "/healthz") {
      await isReady();
      response.setHeader("Content-Type", "application/json").end('{"status":"ok"}');
      return;
    }
    const admin = path.startsWith(`${base}/admin/`) ? path.slice(`${base}/admin`.length) : null;
    if (admin !== null) {
      if (!(await administer(request, response, admin))) notice(request, response, 404, "not_found");
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
    const below = path === base || path.startsWith(`${base}/`) ? path.slice(base.length) : null;
    if (below === null) {
      notice(request, response, 404, "not_found");
      return;
    }
    const asset = findAsset(below);
    if (asset !== undefined) {
      response
        .setHeader("Content-Type", asset.type)
        .setHeader("Cache-Control", "public, max-age=31536000, immutable")
        .end(asset.bytes);
      return;
    }
    if (below === "/session/check") {
      setSecurityHeaders(response, { scripts: [sessionCheckScript], framedBy: origins });
      response
        .setHeader("Content-Type", "text/html; charset=utf-8")
        .setHeader("Cache-Control", "no-cache")
        .end(sessionCheckPage);
      return;
    }
    const interaction = /^\/interaction\/([\w-]{1,64})(\/sign-up)?$/.exec(below);
    if (interaction !== null) {
      if (request.method === "POST") requireSameOrigin(request, issuer.origin);
      else if (request.method !== "GET" && request.method !== "HEAD") throw new BadRequest(405, "no such method");
      await interact(request, response, {
        uid: interaction[1] ?? "",
        page: interaction[2] === undefined ? "sign-in" : "sign-up",
      });
      return;
    }
    // The library learns where it is mounted from the difference of these two.
    const address = request.url ?? "/";
    Object.assign(request, { originalUrl: address, url: address.slice(base.length) || "/" });
    await provide(request, response);
  }

  function fail(request: IncomingMessage, response: ServerResponse, error: unknown): void {
    const status = error instanceof BadRequest ? error.status : 500;
    if (status === 500) log.error("request failed", traceOf(error));
    if (response.headersSent) {
      response.destroy();
      return;
    }
    response.setHeader("Connection", "close"); // part of a body may be left unread
    notice(request, response, status, status === 500 ? "failed" : "refused");
  }

  function notice(request: IncomingMessage, response: ServerResponse, status: number, name: NoticeName): void {
    sendHtml(response, status, noticePage(lookFor(settings, request), name, { back: wayBack(settings) }));
  }
}

function pathOf(request: IncomingMessage): string {
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
    return { servers: [server], port: portOf(server) };
  }
  const first = await listenAt(handler, "127.0.0.1", port);
  try {
    return { servers: [first, await listenAt(handler, "::1", portOf(first))], port: portOf(first) };
  } catch (error) {
    if (codeOf(error) === "EADDRNOTAVAIL" || codeOf(error) === "EAFNOSUPPORT")
      return { servers: [first], port: portOf(first) }; // no IPv6 here
    await close(first);
    throw error;
  }
}

function listenAt(handler: RequestListener, host: string, port: number): Promise<Server> {
  const server = createServer({ requestTimeout: 30_000, headersTimeout: 10_000 }, handler);
  return new Promise((resolve, reject) => {
    server.once("error", (error) => {
      const used = codeOf(error) === "EADDRINUSE";
      reject(
        used
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

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

function portOf(server: Server): number {
  const address = server.address();
  return address !== null && typeof address === "object" ? address.port : 0;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const late = setTimeout(() => {
      server.closeAllConnections();
    }, graceMilliseconds);
    server.close(() => {
      clearTimeout(late);
      resolve();
    });
    server.closeIdleConnections();
  });
}
