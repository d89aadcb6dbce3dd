import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { join } from "node:path";

import httpProxy from "@fastify/http-proxy";
import fastifyStatic from "@fastify/static";
import fastify, { type FastifyInstance } from "fastify";

import { buildBasePageHeaders, buildHostPolicy, renewalPolicy } from "../serve/headers.ts";
import { createHostPage } from "../serve/page.ts";
import type { SourceRelease } from "./release-from-source.ts";

export interface DevelopmentServerSettings {
  readonly origin: string;
  /** Of the portal beside it, which answers for the service and for the other remotes. */
  readonly portalOrigin: string;
  readonly identityOrigin: string;
  readonly vendor: string;
  readonly hostFolder: string;
  readonly localesFolder: string;
  readonly release: SourceRelease;
  /** Answers for the remote's files, and passes on what is not among them. */
  readonly files: (request: IncomingMessage, response: ServerResponse, next: () => void) => unknown;
  /** Waits until the newest change is built. */
  readonly waitForBuild: () => Promise<void>;
}

/** The one origin of a remote in development. */
export async function buildDevelopmentServer({
  origin,
  portalOrigin,
  identityOrigin,
  vendor: vendorId,
  hostFolder,
  localesFolder,
  release,
  files,
  waitForBuild,
}: DevelopmentServerSettings): Promise<FastifyInstance> {
  const app = fastify({
    logger: false,
    forceCloseConnections: true, // pages listen for changes as long as they are open
    serverFactory: (handler) =>
      createServer(
        (request, response) =>
          void files(request, response, () => {
            handler(request, response);
          }),
      ),
  });
  app.addHook("onRequest", async (_request, reply) => {
    void reply.header("cache-control", "no-store"); // names stay, contents change
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
    return reply.type("application/jose+json").send(await release.buildDocument(origin));
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
    const page = createHostPage(readFileSync(join(hostFolder, "index.html"), "utf8"), await release.buildPage());
    return reply
      .header(
        "content-security-policy",
        relaxPolicy(buildHostPolicy({ nonce, origin, identityOrigin, apiBase: `${origin}/api` })),
      )
      .type("text/html; charset=utf-8")
      .send(page.render(nonce, null));
  });
  return app;
}

/** Parts that replace others have addresses that nobody signed. */
function relaxPolicy(policy: string): string {
  const droppedDirectives = ["require-trusted-types-for", "trusted-types", "report-to", "report-uri"];
  return policy
    .split("; ")
    .filter((directive) => !droppedDirectives.includes(directive.split(" ", 1)[0] ?? ""))
    .join("; ");
}
