/**
 * The portal's one origin. In front of the host's files, the remotes, the deployment documents and
 * the service; each of those behind it may be down without taking the others along.
 */
import { randomBytes } from "node:crypto";
import { join, resolve, sep } from "node:path";

import { negotiate } from "@fastify/accept-negotiator";
import httpProxy, { type FastifyHttpProxyOptions } from "@fastify/http-proxy";
import fastifyStatic from "@fastify/static";
import {
  languages,
  type Drives,
  type Language,
  type PortalTrustAnchors,
  type RemoteName,
} from "@relicario/shared/contract";
import { describeStatus, type ErrorCode } from "@relicario/shared/errors";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";

import { getErrorCode } from "../error-code.ts";
import { normalizeAddress, type ProxyTrustCheck } from "./address.ts";
import { registerBodyParsers } from "./request-bodies.ts";
import {
  releaseResponseRules,
  serviceResponseRules,
  filterResponses,
  type ResponseRules,
} from "./response-allow-list.ts";
import { createDeploymentReader } from "./deployments.ts";
import { ClientLimiter } from "./client-limiter.ts";
import {
  buildBasePageHeaders,
  buildCommonHeaders,
  buildPageHeaders,
  buildDriveAnswerPolicy,
  filePolicy,
  buildHostPolicy,
  renewalPolicy,
  buildReportingHeaders,
} from "./headers.ts";
import { defaultLimits, serviceTimeoutMs, getServerTimeouts, type ServeLimits } from "./limits.ts";
import { createHostPageReader } from "./page.ts";
import { openPool } from "./pool.ts";
import { sendProblem } from "./problem.ts";

export interface GatewaySettings {
  /** The portal's origin, as browsers see it. */
  readonly origin: string;
  /** `host/dist`. */
  readonly hostFolder: string;
  /** Signed deployment documents, `<vendor>.json`, read anew when they change. */
  readonly deploymentsFolder: string;
  readonly page: PortalTrustAnchors;
  readonly identityOrigin: string;
  /** Where pages call the service. */
  readonly apiBase: string;
  /** Base address of the service. */
  readonly service: string;
  /** Base address of each remote's static server. */
  readonly remotes: ReadonlyMap<RemoteName, string>;
  /**
   * Whose `X-Forwarded-For`, `-Proto` and `-Host` are believed: a TLS proxy in front. Nobody's
   * without it.
   */
  readonly trustedProxies?: ProxyTrustCheck;
  /** What one address may hold, and for how long. */
  readonly limits?: ServeLimits;
  /** Told when something behind the gateway fails; never paths, addresses of people or tokens. */
  readonly logFailure?: (failure: Readonly<Record<string, string>>) => void;
}

/** Below these, nothing is ever answered with the host's page. */
const nonPagePaths = /^\/(api|r|deployments|locales|static)(\/|$)/;
const localePath = /^\/locales\/([a-z]{2})\/([a-z][a-z-]*)\.json(?:\?|$)/;
const fileExtension = /\.[a-z0-9]{2,12}$/i;
const loopbackHosts = new Set(["127.0.0.1", "[::1]"]);

export async function buildGateway(settings: GatewaySettings): Promise<FastifyInstance> {
  const {
    origin,
    hostFolder,
    trustedProxies = () => false,
    limits = defaultLimits,
    logFailure = writeFailureLog,
  } = settings;
  const limiter = new ClientLimiter(limits, trustedProxies);
  const app = fastify({
    logger: false, // paths hold ids of shares, and addresses are people's: what is worth a line is written below
    trustProxy: trustedProxies,
    ...getServerTimeouts(limits, limits.streamedBodyMs),
    bodyLimit: 1_024, // nothing here takes a body but what the service answers for
    forceCloseConnections: "idle",
    routerOptions: { ignoreDuplicateSlashes: false, maxParamLength: 200 },
    rewriteUrl: ({ url = "/" }) => resolveLocalePath(url) ?? url,
  });
  const readPage = createHostPageReader(join(hostFolder, "index.html"), settings.page);
  const hashedFolder = join(resolve(hostFolder), "static", sep);
  readPage(); // a page that cannot be used is found now, not by the first visitor
  const deployments = createDeploymentReader(settings.deploymentsFolder);
  const defaultHeaders = buildCommonHeaders(origin);
  const publicHost = new URL(origin).hostname;

  app.addHook("onRequest", async (_request, reply) => {
    void reply.headers(defaultHeaders);
  });
  limiter.limitRequests(app);
  app.addHook("onSend", async ({ originalUrl }, reply) => {
    // A release's file never changes, but the release that this address stands for does.
    if (originalUrl.startsWith("/locales/") && reply.statusCode < 400) void reply.header("cache-control", "no-cache");
  });

  app.get("/healthz", async (_request, reply) => reply.header("cache-control", "no-store").send({ status: "ok" }));

  app.get<{ Params: { vendor: string } }>("/deployments/:vendor", async ({ params, headers }, reply) => {
    const document = deployments.getDocument(params.vendor);
    if (document === null) return sendProblem(reply, 404, "not_found", "Not found");
    void reply.headers({ "cache-control": "no-cache", vary: "accept-encoding", etag: document.etag });
    if (headers["if-none-match"]?.split(",").some((tag) => tag.trim().replace(/^W\//, "") === document.etag) === true)
      return reply.code(304).send();
    const coding = negotiate(headers["accept-encoding"] ?? "", ["br", "gzip"]);
    if (coding !== null) void reply.header("content-encoding", coding);
    return reply.type("application/jose+json").send(document[coding ?? "plain"]);
  });

  const registerUpstream = (
    rules: ResponseRules,
    upstream: string,
    code: ErrorCode,
    options: FastifyHttpProxyOptions,
  ) =>
    app.register(async (scope) => {
      filterResponses(scope, {
        rules,
        defaultHeaders,
        code,
        onRejected: (failure) => {
          logFailure({ upstream, failure });
        },
      });
      registerBodyParsers(scope);
      limiter.queueCalls(scope);
      limiter.throttleBodies(scope);
      await scope.register(httpProxy, { ...options, proxyPayloads: false, rewritePrefix: "/" });
    });
  const createProxyOptions = createProxyOptionsFactory(app, limiter, { connections: limits.callsOfAll, logFailure });
  await registerUpstream(serviceResponseRules, settings.service, "service_unavailable", {
    ...createProxyOptions({
      upstream: settings.service,
      forwardsAuthorization: true,
      code: "service_unavailable",
      timeoutMs: serviceTimeoutMs,
    }),
    prefix: "/api",
  });
  for (const [remote, upstream] of settings.remotes) {
    await registerUpstream(releaseResponseRules, upstream, "remote_unreachable", {
      ...createProxyOptions({ upstream, forwardsAuthorization: false, code: "remote_unreachable", timeoutMs: 10_000 }),
      prefix: `/r/${remote}`,
      httpMethods: ["GET", "HEAD"],
    });
  }

  // Texts of the host itself; those of remotes went to their release before.
  app.get<{ Params: { language: string; file: string } }>(
    "/locales/:language/:file",
    async ({ params: { language, file } }, reply) => {
      if (!localePath.test(`/locales/${language}/${file}`)) return sendProblem(reply, 404, "not_found", "Not found");
      return reply.sendFile(`locales/${language}/${file}`, { cacheControl: false });
    },
  );

  await app.register(fastifyStatic, {
    root: hostFolder,
    index: false,
    dotfiles: "deny",
    preCompressed: true,
    cacheControl: false,
    globIgnore: ["**/*.br", "**/*.gz", "index.html"],
    setHeaders: (reply, path) => {
      void reply.header(
        "cache-control",
        path.startsWith(hashedFolder) ? "public, max-age=31536000, immutable" : "no-cache",
      );
      void reply.headers(getFileHeaders(path));
    },
    // The host's page goes out with a nonce, never as the file that it is made from.
    allowedPath: (path) => !/^\/index\.html(\.br|\.gz)?$/.test(path),
  });

  const handleUnmatched = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    if (!isNavigation(request)) return sendProblem(reply, 404, "not_found", "Not found");
    // Sign-in, renewal and the deployment document all know the portal by one name.
    if (publicHost === "localhost" && loopbackHosts.has(request.hostname))
      return reply.redirect(`${origin}${request.url}`, 307);
    return sendPage(request, reply);
  };
  app.get("/", handleUnmatched);
  app.setNotFoundHandler(handleUnmatched);
  app.setErrorHandler((error, _request, reply) => {
    const status =
      error instanceof Error && "statusCode" in error && typeof error.statusCode === "number" ? error.statusCode : 500;
    if (status >= 500) logFailure({ failure: error instanceof Error ? error.name : "unknown" });
    const { code, title } = describeStatus(status >= 500 ? 500 : status);
    return sendProblem(reply, status >= 500 ? 500 : status, code, title);
  });
  return app;

  /**
   * Where the promoted release keeps these texts. The portal itself reads the pinned file there,
   * with integrity; this is the plain way in.
   */
  function resolveLocalePath(url: string): string | null {
    const [path, language = "", namespace = ""] = localePath.exec(url) ?? [];
    if (path === undefined) return null;
    try {
      const owner = deployments.findNamespaceOwner(settings.page.vendor_id, namespace);
      return owner === null ? null : `/r/${owner.remote}/${owner.release}/locales/${language}/${namespace}.json`;
    } catch (error) {
      // Nobody answers for what is thrown before a route is found. Without a document that can be
      // read, there are the host's texts alone.
      logFailure({ failure: error instanceof Error ? error.name : "unknown" });
      return null;
    }
  }

  function getFileHeaders(path: string): Readonly<Record<string, string>> {
    if (/silent-renew\.html(\.br|\.gz)?$/.test(path)) return buildBasePageHeaders(renewalPolicy);
    if (/drive-answer\.html(\.br|\.gz)?$/.test(path)) return buildBasePageHeaders(buildDriveAnswerPolicy(readDrives()));
    return buildPageHeaders(filePolicy);
  }

  /** None while the document cannot be read: the page then says so itself. */
  function readDrives(): Drives {
    try {
      return deployments.getDrives(settings.page.vendor_id);
    } catch (error) {
      logFailure({ failure: error instanceof Error ? error.name : "unknown" });
      return {};
    }
  }

  function sendPage({ headers }: FastifyRequest, reply: FastifyReply): FastifyReply {
    const nonce = randomBytes(16).toString("base64url");
    const { identityOrigin, apiBase } = settings;
    return reply
      .headers(buildPageHeaders(buildHostPolicy({ nonce, origin, identityOrigin, apiBase, drives: readDrives() })))
      .headers(buildReportingHeaders(apiBase))
      .header("cache-control", "no-store")
      .type("text/html; charset=utf-8")
      .send(readPage().render(nonce, parsePreferredLanguage(headers["accept-language"])));
  }
}

/** Of the browser's first language, as a page takes it whose reader chose none. */
function parsePreferredLanguage(acceptLanguage = ""): Language {
  const [preferred] = acceptLanguage.toLowerCase().split(/[-,;]/, 1);
  return languages.find((language) => language === preferred) ?? "en";
}

/**
 * True when a person opens a place of the portal; false for a script, picture or call that is not
 * there.
 */
function isNavigation(request: FastifyRequest): boolean {
  if (request.method !== "GET" && request.method !== "HEAD") return false;
  const path = request.url.split("?", 1)[0] ?? "/";
  if (nonPagePaths.test(path) || fileExtension.test(path)) return false;
  const mode = request.headers["sec-fetch-mode"];
  return mode === undefined || mode === "navigate"; // what says nothing is a tool or a reader: it may see what this is
}

/**
 * Makes settings that pass everything on, the session to the service alone, and answer quickly and
 * in our words when nobody is there.
 */
function createProxyOptionsFactory(
  app: FastifyInstance,
  limiter: ClientLimiter,
  { connections, logFailure }: { connections: number; logFailure: NonNullable<GatewaySettings["logFailure"]> },
) {
  return ({
    upstream,
    forwardsAuthorization,
    code,
    timeoutMs,
  }: {
    upstream: string;
    forwardsAuthorization: boolean;
    code: ErrorCode;
    timeoutMs: number;
  }): FastifyHttpProxyOptions => {
    const pool = openPool({ connections, timeoutMs });
    app.addHook("onClose", () => pool.destroy());
    /**
     * Ends of calls under way there, by the headers that were sent: the proxy tells of each attempt
     * with them.
     */
    const pendingReleases = new WeakMap<object, () => void>();
    return {
      upstream,
      undici: pool,
      handler: (request, reply, to, options) =>
        reply.from(
          to,
          Buffer.isBuffer(request.body)
            ? {
                ...options,
                body: request.body,
                contentType: request.headers["content-type"] ?? "application/octet-stream",
              }
            : options,
        ),
      replyOptions: {
        retryDelay: ({ err, req, attempt }) => {
          pendingReleases.get(req.headers)?.();
          pendingReleases.delete(req.headers);
          // The one failure worth trying again is a kept connection that the other side had just
          // closed.
          return attempt === 0 && req.method === "GET" && getErrorCode(err) === "UND_ERR_SOCKET" ? 10 : null;
        },
        rewriteRequestHeaders: (request, headers) => {
          // What the browser claims of its own address counts for nothing.
          // Cookies of other servers of this host, the identity provider's among them, are nobody's
          // business there.
          const { forwarded: _forwarded, cookie: _cookie, authorization, ...forwardedHeaders } = headers;
          const upstreamHeaders = {
            ...forwardedHeaders,
            ...(forwardsAuthorization && authorization !== undefined ? { authorization } : {}),
            "x-forwarded-for": normalizeAddress(request.ip),
            "x-forwarded-proto": request.protocol,
            "x-forwarded-host": request.host,
          };
          pendingReleases.set(upstreamHeaders, limiter.retainForUpstream(request));
          return upstreamHeaders;
        },
        onResponse: (_request, reply, { stream }) => {
          // Of the connection behind, or because the body is still under way: it is read to its
          // end, and this connection goes on.
          void reply.removeHeader("connection").send(stream);
        },
        onError: (reply, { error }) => {
          const failure = getErrorCode(error) ?? "unknown";
          logFailure({ upstream, failure });
          const isTimeout = failure === "FST_REPLY_FROM_GATEWAY_TIMEOUT";
          void (isTimeout
            ? sendProblem(reply, 504, code, "Gateway Timeout")
            : sendProblem(reply, 502, code, "Bad Gateway"));
        },
      },
    };
  };
}

function writeFailureLog(failure: Readonly<Record<string, string>>): void {
  console.error(JSON.stringify({ time: new Date().toISOString(), ...failure }));
}
