import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";

import httpProxy from "@fastify/http-proxy";
import fastifyStatic from "@fastify/static";
import fastify, { type FastifyInstance } from "fastify";

import { buildBasePageHeaders, buildHostPolicy, renewalPolicy } from "../serve/headers.ts";
import { createHostPage } from "../serve/host-page.ts";
import type { SourceRelease } from "./source-release.ts";

export interface DevelopmentServerSettings {
  readonly origin: string;
  /** Origin of the running portal, which serves the API and the other remotes. */
  readonly portalOrigin: string;
  /** Vault's origin of the running portal, which serves its released vault. */
  readonly vaultOrigin: string;
  readonly identityOrigin: string;
  readonly vendorId: string;
  readonly hostFolder: string;
  readonly localesFolder: string;
  readonly release: SourceRelease;
  /** Serves the remote's files, and calls `next` for everything else. */
  readonly serveFiles: (request: IncomingMessage, response: ServerResponse, next: () => void) => unknown;
  readonly waitForBuild: () => Promise<void>;
}

export async function buildDevelopmentServer({
  origin,
  portalOrigin,
  vaultOrigin,
  identityOrigin,
  vendorId,
  hostFolder,
  localesFolder,
  release,
  serveFiles,
  waitForBuild,
}: DevelopmentServerSettings): Promise<FastifyInstance> {
  const app = fastify({
    logger: false,
    forceCloseConnections: true, // open pages keep a connection for changes
    serverFactory: (handler) =>
      createServer(
        (request, response) =>
          void serveFiles(request, response, () => {
            handler(request, response);
          }),
      ),
  });
  app.addHook("onRequest", async (_request, reply) => {
    void reply.header("cache-control", "no-store"); // contents change under the same names
  });
  for (const prefix of ["/api", "/r"])
    await app.register(httpProxy, { upstream: portalOrigin, prefix, rewritePrefix: prefix });
  await app.register(fastifyStatic, {
    root: localesFolder,
    prefix: `${release.path}/locales/`,
    decorateReply: false,
    cacheControl: false,
  });
  app.get(`/deployments/${vendorId}`, async (_request, reply) => {
    await waitForBuild();
    return reply.type("application/jose+json").send(await release.signDocument(origin));
  });
  app.get("/silent-renew.html", async (_request, reply) =>
    reply.headers(buildBasePageHeaders(renewalPolicy)).sendFile("silent-renew.html"),
  );
  await app.register(fastifyStatic, {
    root: hostFolder,
    index: false,
    cacheControl: false,
    preCompressed: true,
    allowedPath: (path) => !path.startsWith("/index.html"),
  });
  app.setNotFoundHandler(async (request, reply) => {
    if (request.method !== "GET" || /\.[a-z0-9]+$/i.test(new URL(request.url, origin).pathname))
      return reply.code(404).send({ status: 404 });
    const nonce = randomBytes(16).toString("base64url");
    const page = createHostPage(readFileSync(join(hostFolder, "index.html"), "utf8"), await release.loadTrustAnchors());
    return reply
      .header(
        "content-security-policy",
        relaxPolicy(buildHostPolicy({ nonce, origin, vaultOrigin, identityOrigin, apiBase: `${origin}/api` })),
      )
      .type("text/html; charset=utf-8")
      .send(page.render(nonce, null));
  });
  return app;
}

/** Drops violation reports, and Trusted Types, since no team signed the URLs of hot updates. */
function relaxPolicy(policy: string): string {
  const droppedDirectives = ["require-trusted-types-for", "trusted-types", "report-to", "report-uri"];
  return policy
    .split("; ")
    .filter((directive) => !droppedDirectives.includes(directive.split(" ", 1)[0] ?? ""))
    .join("; ");
}
