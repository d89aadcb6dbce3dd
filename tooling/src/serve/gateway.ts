/**
 * The portal's origin, in front of host, remotes, deployment documents and service, any of which
 * may be down, and the origin of its vault (vault-origin.ts).
 */
import { randomBytes } from "node:crypto";
import { join, resolve, sep } from "node:path";

import { negotiate } from "@fastify/accept-negotiator";
import httpProxy, { type FastifyHttpProxyOptions } from "@fastify/http-proxy";
import fastifyStatic from "@fastify/static";
import {
  languages,
  vaultRemote,
  type Drives,
  type Language,
  type PortalTrustAnchors,
  type RemoteName,
  type VaultPage,
} from "@relicario/shared/contract";
import type { ErrorCode } from "@relicario/shared/errors";
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { z } from "zod";

import { getErrorCode } from "../error-code.ts";
import { normalizeAddress, type ProxyTrustCheck } from "../http/address.ts";
import { ConnectionLimiter } from "../http/connection-limiter.ts";
import { createLoggerOptions, logResponses, type LogLevel, type LogStream } from "../http/logging.ts";
import { sendProblem, sendStatus } from "../http/problem.ts";
import { registerMetrics } from "../http/register-metrics.ts";
import { createTraceAdopter } from "../http/trace-context.ts";
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
  buildVaultHeaders,
  createVaultPolicy,
} from "./headers.ts";
import { defaultLimits, serviceTimeoutMs, type ServeLimits } from "./limits.ts";
import { createHostPageReader } from "./host-page.ts";
import type { LogFailure } from "./log-failure.ts";
import { openPool } from "./pool.ts";
import { atVault, createVaultConstraint, createVaultHostCheck, registerVaultRoutes } from "./vault-origin.ts";

export interface GatewaySettings {
  readonly origin: string;
  /** Another origin of the same site. */
  readonly vaultOrigin: string;
  /** Of a page with a remote in development, which may frame the vault too. */
  readonly developmentOrigin?: string | undefined;
  /** `host/dist`. */
  readonly hostFolder: string;
  /** `<vendor>.json`, read again when they change. */
  readonly deploymentsFolder: string;
  readonly trustAnchors: PortalTrustAnchors;
  readonly identityOrigin: string;
  /** Base URL at which pages call the service. */
  readonly apiBase: string;
  /** Base URL at which the gateway calls the service. */
  readonly serviceAddress: string;
  readonly remoteAddresses: ReadonlyMap<RemoteName, string>;
  /** No proxy is trusted by default. */
  readonly trustedProxies?: ProxyTrustCheck;
  readonly limits?: ServeLimits;
  /** Of `/metrics`, which is off without it. */
  readonly metricsToken?: string | undefined;
  /** Of the log on standard output; silent by default. */
  readonly logLevel?: z.infer<typeof LogLevel>;
  readonly logStream?: LogStream;
  /** Logs by default. Never receives paths, users' addresses or tokens. */
  readonly logFailure?: LogFailure;
}

/** Paths below which the host's page is never the answer. */
const nonPagePaths = /^\/(api|r|deployments|locales|static)(\/|$)/;
const localePath = /^\/locales\/([a-z]{2})\/([a-z][a-z-]*)\.json(?:\?|$)/;
const fileExtension = /\.[a-z0-9]{2,12}$/i;
/**
 * Headers that concern one connection (RFC 9110 7.6.1), and `Expect`, which the server has
 * answered. reply-from drops those that `Connection` names.
 */
const hopByHopHeaders = new Set([
  "connection",
  "expect",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Links to shares and requests: a sentence may follow them without a space. */
const linkPath = /^\/(shared|p-shared|request)\//i;
const loopbackHosts = new Set(["127.0.0.1", "[::1]"]);

export async function buildGateway(settings: GatewaySettings): Promise<FastifyInstance> {
  const {
    origin,
    vaultOrigin,
    developmentOrigin,
    hostFolder,
    trustAnchors,
    trustedProxies = () => false,
    limits = defaultLimits,
    logFailure = (failure, request) => {
      (request ?? app).log.error(failure, "failed");
    },
  } = settings;
  const portalOrigins: VaultPage["portal_origins"] = [
    origin,
    ...(developmentOrigin === undefined ? [] : [developmentOrigin]),
  ];
  const portalHeaders = buildCommonHeaders(origin);
  const vaultSettings = {
    vaultOrigin,
    portalOrigins,
    identityOrigin: settings.identityOrigin,
    apiBase: `${vaultOrigin}/api`,
  };
  const vaultHeaders = buildVaultHeaders(vaultSettings);
  const isForVault = createVaultHostCheck(vaultOrigin, trustedProxies);
  const getDefaultHeaders = ({ raw }: FastifyRequest) => (isForVault(raw) ? vaultHeaders : portalHeaders);
  const connections = new ConnectionLimiter({
    limits,
    isTrusted: trustedProxies,
    requestMs: limits.streamedBodyMs,
    sendError: (request, reply, status) => sendStatus(reply.headers(getDefaultHeaders(request)), status),
  });
  const limiter = new ClientLimiter(limits, connections);
  const app = fastify({
    ...connections.serverOptions,
    // Paths contain ids of shares, and IP addresses are personal data: logResponses logs patterns.
    ...createLoggerOptions(settings.logLevel ?? "silent", settings.logStream),
    genReqId: createTraceAdopter(({ socket }) => trustedProxies(socket.remoteAddress ?? "", 0)),
    trustProxy: trustedProxies,
    bodyLimit: 1_024, // only the service's routes take bodies
    routerOptions: { ignoreDuplicateSlashes: false, maxParamLength: 200 },
    rewriteUrl: (request) => {
      const { url = "/" } = request;
      return isForVault(request) ? url : (resolveLocalePath(url) ?? repairUrl(url));
    },
  });
  app.addConstraintStrategy(createVaultConstraint(isForVault));
  const readPage = createHostPageReader(join(hostFolder, "index.html"), trustAnchors);
  const hashedFolder = join(resolve(hostFolder), "static", sep);
  readPage(); // fails at the start, not for the first visitor
  const deployments = createDeploymentReader(settings.deploymentsFolder);
  const publicHost = new URL(origin).hostname;

  app.addHook("onRequest", async (request, reply) => {
    void reply.headers(getDefaultHeaders(request)).header("x-request-id", request.id);
  });
  // Writing a line costs a tenth of what a call costs here, and the service logs its calls.
  logResponses(app, { routineLevel: "debug" });
  limiter.limitRequests(app);
  app.addHook("onSend", async ({ originalUrl }, reply) => {
    // The file never changes, but the release behind this URL does.
    if (originalUrl.startsWith("/locales/") && reply.statusCode < 400) void reply.header("cache-control", "no-cache");
  });

  if (settings.metricsToken !== undefined) registerMetrics(app, settings.metricsToken);
  app.get("/healthz", async (_request, reply) => reply.header("cache-control", "no-store").send({ status: "ok" }));

  const sendDeployment = async (
    { params, headers }: FastifyRequest<{ Params: { vendor: string } }>,
    reply: FastifyReply,
  ): Promise<FastifyReply> => {
    const document = deployments.getDocument(params.vendor);
    if (document === null) return sendProblem(reply, 404, "not_found", "Not found");
    void reply.headers({ "cache-control": "no-cache", vary: "accept-encoding", etag: document.etag });
    if (headers["if-none-match"]?.split(",").some((tag) => tag.trim().replace(/^W\//, "") === document.etag) === true)
      return reply.code(304).send();
    const coding = negotiate(headers["accept-encoding"] ?? "", ["br", "gzip"]);
    if (coding !== null) void reply.header("content-encoding", coding);
    return reply.type("application/jose+json").send(document[coding ?? "uncompressed"]);
  };
  for (const route of [{}, atVault]) app.get("/deployments/:vendor", route, sendDeployment);

  const registerUpstream = (
    rules: ResponseRules,
    upstream: string,
    code: ErrorCode,
    ...routes: readonly FastifyHttpProxyOptions[]
  ) =>
    app.register(async (scope) => {
      filterResponses(scope, {
        rules,
        getDefaultHeaders,
        code,
        onRejected: (failure, request) => {
          logFailure({ upstream, failure }, request);
        },
      });
      registerBodyParsers(scope);
      limiter.queueCalls(scope);
      limiter.throttleBodies(scope);
      for (const options of routes)
        await scope.register(httpProxy, { ...options, proxyPayloads: false, rewritePrefix: "/" });
    });
  const createProxyOptions = createProxyOptionsFactory(app, limiter, { connections: limits.callsOfAll, logFailure });
  const serviceOptions = {
    ...createProxyOptions({
      upstream: settings.serviceAddress,
      forwardsAuthorization: true,
      code: "service_unavailable",
      timeoutMs: serviceTimeoutMs,
    }),
    prefix: "/api",
  };
  await registerUpstream(serviceResponseRules, settings.serviceAddress, "service_unavailable", serviceOptions, {
    ...serviceOptions,
    ...atVault,
  });
  for (const [remote, upstream] of settings.remoteAddresses) {
    await registerUpstream(releaseResponseRules, upstream, "remote_unreachable", {
      ...createProxyOptions({ upstream, forwardsAuthorization: false, code: "remote_unreachable", timeoutMs: 10_000 }),
      prefix: `/r/${remote}`,
      httpMethods: ["GET", "HEAD"],
    });
  }
  await registerVaultRoutes(app, {
    folder: join(hostFolder, "vault"),
    page: {
      vendor_id: trustAnchors.vendor_id,
      portal_keys: trustAnchors.portal_keys,
      team_keys: Object.fromEntries(Object.entries(trustAnchors.team_keys).filter(([name]) => name === vaultRemote)),
      portal_origins: portalOrigins,
    },
    buildPolicy: createVaultPolicy(vaultSettings),
    readDrives,
    deployments,
    releasesAddress: settings.remoteAddresses.get(vaultRemote) ?? null,
    limiter,
    logFailure,
  });

  // An element's window of a cloud drive returns to the element's origin.
  for (const file of ["drive-answer.html", "drive-answer.js"])
    app.get(`/${file}`, atVault, (_request, reply) =>
      Object.keys(readDrives()).length === 0 ? sendProblem(reply, 404, "not_found", "Not found") : reply.sendFile(file),
    );

  // Texts of the host; rewriteUrl sends those of remotes to their release.
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
    // The host's page is sent with a nonce, never as its template; the vault has another origin.
    allowedPath: (path) => !/^\/(index\.html(\.br|\.gz)?$|vault(\/|$))/.test(path),
  });

  const handleUnmatched = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    if (isForVault(request.raw) || !isNavigation(request)) return sendProblem(reply, 404, "not_found", "Not found");
    // Sign-in, renewal and the deployment document accept one hostname only.
    if (publicHost === "localhost" && loopbackHosts.has(request.hostname))
      return reply.redirect(`${origin}${request.url}`, 307);
    return sendPage(request, reply);
  };
  app.get("/", handleUnmatched);
  app.setNotFoundHandler(handleUnmatched);
  app.setErrorHandler((error, request, reply) => {
    const status =
      error instanceof Error && "statusCode" in error && typeof error.statusCode === "number" ? error.statusCode : 500;
    if (status >= 500) logFailure({ failure: error instanceof Error ? error.name : "unknown" }, request);
    return sendStatus(reply, status >= 500 ? 500 : status);
  });
  return app;

  /**
   * Path in the stable release that has these texts. Pages read the pinned file with integrity;
   * this URL is for people and tools.
   */
  function resolveLocalePath(url: string): string | null {
    const [path, language = "", namespace = ""] = localePath.exec(url) ?? [];
    if (path === undefined) return null;
    try {
      const owner = deployments.findNamespaceOwner(trustAnchors.vendor_id, namespace);
      return owner === null ? null : `/r/${owner.remote}/${owner.release}/locales/${language}/${namespace}.json`;
    } catch (error) {
      // No error handler runs before a route is found. Without a readable document only the host's
      // texts are served.
      logFailure({ failure: error instanceof Error ? error.name : "unknown" });
      return null;
    }
  }

  function getFileHeaders(path: string): Readonly<Record<string, string>> {
    if (/silent-renew\.html(\.br|\.gz)?$/.test(path)) return buildBasePageHeaders(renewalPolicy);
    if (/drive-answer\.html(\.br|\.gz)?$/.test(path)) return buildBasePageHeaders(buildDriveAnswerPolicy(readDrives()));
    return buildPageHeaders(filePolicy);
  }

  /** None while the document cannot be read; the page reports that itself. */
  function readDrives(): Drives {
    try {
      return deployments.getDrives(trustAnchors.vendor_id);
    } catch (error) {
      logFailure({ failure: error instanceof Error ? error.name : "unknown" });
      return {};
    }
  }

  function sendPage({ headers }: FastifyRequest, reply: FastifyReply): FastifyReply {
    const nonce = randomBytes(16).toString("base64url");
    const { identityOrigin, apiBase } = settings;
    return reply
      .headers(
        buildPageHeaders(
          buildHostPolicy({ nonce, origin, vaultOrigin, identityOrigin, apiBase, drives: readDrives() }),
          vaultOrigin,
        ),
      )
      .headers(buildReportingHeaders(apiBase))
      .header("cache-control", "no-store")
      .type("text/html; charset=utf-8")
      .send(readPage().render(nonce, parsePreferredLanguage(headers["accept-language"])));
  }
}

/** The browser's first language, as a page uses it until its reader chooses another. */
function parsePreferredLanguage(acceptLanguage = ""): Language {
  const [preferred] = acceptLanguage.toLowerCase().split(/[-,;]/, 1);
  return languages.find((language) => language === preferred) ?? "en";
}

/**
 * Replaces two slashes at the start by one, since the file server refuses them. Escapes a link
 * whose end cannot be decoded, so that the page can read it.
 */
function repairUrl(url: string): string {
  const singleSlashUrl = url.replace(/^\/{2,}/, "/");
  return linkPath.test(singleSlashUrl) && !isDecodable(singleSlashUrl)
    ? singleSlashUrl.replaceAll("%", "%25")
    : singleSlashUrl;
}

function isDecodable(url: string): boolean {
  try {
    decodeURIComponent(url.split("?", 1)[0] ?? "");
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether the request opens a page; false for a script, picture or call, which must not get the
 * page.
 */
function isNavigation(request: FastifyRequest): boolean {
  if (request.method !== "GET" && request.method !== "HEAD") return false;
  const path = request.url.split("?", 1)[0] ?? "/";
  if (nonPagePaths.test(path) || (fileExtension.test(path) && !linkPath.test(path))) return false;
  const mode = request.headers["sec-fetch-mode"];
  return mode === undefined || mode === "navigate"; // a client without it is a tool or an old browser: it gets the page
}

/**
 * Forwards everything, the session token to the service only. Answers with a problem document when
 * the upstream fails.
 */
function createProxyOptionsFactory(
  app: FastifyInstance,
  limiter: ClientLimiter,
  { connections, logFailure }: { connections: number; logFailure: LogFailure },
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
    /** Releases by the headers object that was sent, with which the proxy reports each attempt. */
    const pendingReleases = new WeakMap<object, () => void>();
    return {
      upstream,
      undici: pool,
      disableRequestLogging: true, // it contains paths
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
          // Retries only when the upstream had just closed a kept-alive connection.
          return attempt === 0 && req.method === "GET" && getErrorCode(err) === "UND_ERR_SOCKET" ? 10 : null;
        },
        rewriteRequestHeaders: (request, headers) => {
          // Drops what the browser claims about its IP address. Also drops its cookies, which
          // belong to other servers of this host, such as the identity provider.
          const { forwarded: _forwarded, cookie: _cookie, authorization, ...requestHeaders } = headers;
          const upstreamHeaders = {
            ...Object.fromEntries(Object.entries(requestHeaders).filter(([name]) => !hopByHopHeaders.has(name))),
            ...(forwardsAuthorization && authorization !== undefined ? { authorization } : {}),
            "x-forwarded-for": normalizeAddress(request.ip),
            "x-forwarded-proto": request.protocol,
            "x-forwarded-host": request.host,
          };
          pendingReleases.set(upstreamHeaders, limiter.retainForUpstream(request));
          return upstreamHeaders;
        },
        onResponse: (_request, reply, { stream }) => {
          // `Connection` concerns the upstream or an unread body, which is read to its end: this
          // connection stays open.
          void reply.removeHeader("connection").send(stream);
        },
        onError: (reply, { error }) => {
          const failure = getErrorCode(error) ?? "unknown";
          logFailure({ upstream, failure }, reply.request);
          const isTimeout = failure === "FST_REPLY_FROM_GATEWAY_TIMEOUT";
          void (isTimeout
            ? sendProblem(reply, 504, code, "Gateway Timeout")
            : sendProblem(reply, 502, code, "Bad Gateway"));
        },
      },
    };
  };
}
