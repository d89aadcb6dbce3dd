/**
 * Starts the real gateway in front of a hostile service and static server, and next to it an
 * unfiltered gateway, where the same attacks must succeed.
 */
import { EventEmitter } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import httpProxy from "@fastify/http-proxy";
import fastify, { type FastifyInstance } from "fastify";

import { buildGateway } from "../serve/gateway.ts";
import { choosePorts } from "../start/ports.ts";

/** Name of the storage entry or cookie that a successful attack leaves in the portal's origin. */
export const attackMarker = "attacked";

/**
 * Origins, each `http://localhost:<port>`. `silent-renew.html` is the page with the widest policy:
 * scripts and workers of the whole origin.
 */
export interface AttackedOrigins {
  readonly guardedOrigin: string;
  /** The real gateway, for requests without Fetch Metadata, as an older browser sends. */
  readonly guardedWithoutFetchMetadata: string;
  /** A gateway without filters, whose pages have no policy. */
  readonly unguardedOrigin: string;
  /** Serves the attacker's pages, on another origin of the same site: `/page?html=…`. */
  readonly foreignOrigin: string;
  /** Paths requested from {@link foreignOrigin} since the last call. */
  readonly takeForeignRequests: () => readonly string[];
  /** Resolves when a gateway refuses this URL: browsers do not report every refusal. */
  readonly waitForRefusal: (address: string) => Promise<void>;
  readonly stop: () => Promise<void>;
}

const markingScript = `localStorage.setItem(${JSON.stringify(attackMarker)}, "script ran")`;
const pageHtml =
  '<!doctype html><title>portal</title><meta property="csp-nonce" nonce="{{nonce}}"><script type="application/json" id="portal-page"></script>';

interface HostileResponse {
  readonly type: string;
  readonly body?: string;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Responses of the hostile servers, by the last segment of the path. */
function createHostileResponses(foreignOrigin: string): Readonly<Record<string, HostileResponse>> {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg"><script>${markingScript}</script></svg>`;
  return {
    "page.html": { type: "text/html", body: `<!doctype html><script>${markingScript}</script>` },
    "page.xhtml": {
      type: "application/xhtml+xml",
      body: `<html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script>${markingScript}</script></head></html>`,
    },
    "picture.svg": { type: "image/svg+xml", body: svg },
    "script.js": { type: "text/javascript", body: markingScript },
    // Reports to the page that started it, except as a service worker.
    "worker.js": {
      type: "text/javascript",
      body: "self.onconnect = ({ ports }) => ports[0].postMessage('ran'); self.postMessage?.('ran');",
      headers: { "service-worker-allowed": "/" },
    },
    "cookie.json": { type: "application/json", body: "{}", headers: { "set-cookie": `${attackMarker}=1; Path=/` } },
    "wipe.json": { type: "application/json", body: "{}", headers: { "clear-site-data": '"storage"' } },
    "redirect.json": { type: "application/json", status: 302, headers: { location: `${foreignOrigin}/taken` } },
    "refresh.txt": { type: "text/plain", body: "text", headers: { refresh: `0;url=${foreignOrigin}/taken` } },
    "link.html": {
      type: "text/html",
      body: "<!doctype html><title>links</title>",
      headers: { link: `<${foreignOrigin}/taken>; rel="preload"; as="style"` },
    },
  };
}

export async function startAttackedOrigins(): Promise<AttackedOrigins> {
  const folder = mkdtempSync(join(tmpdir(), "attacked-origin-"));
  const servers: FastifyInstance[] = [];
  const refusals = new EventEmitter();
  const listen = async (app: FastifyInstance, port?: number): Promise<string> => {
    servers.push(app);
    const listeningPort = port ?? (await choosePorts(0)).gateway;
    const origin = `http://localhost:${String(listeningPort)}`;
    await app.listen({ host: "localhost", port: listeningPort });
    app.server.on("request", ({ url = "" }, response) => {
      response.once("finish", () => {
        if (response.statusCode >= 400) refusals.emit(`${origin}${url}`);
      });
    });
    return origin;
  };

  let requestedPaths: string[] = [];
  const foreignServer = fastify();
  foreignServer.get<{ Querystring: { html?: string } }>("/*", async ({ url, query }, reply) => {
    requestedPaths.push(url.split("?", 1)[0] ?? "");
    return reply
      .header("access-control-allow-origin", "*")
      .type("text/html")
      .send(`<!doctype html><title>elsewhere</title>${query.html ?? ""}`);
  });
  const foreignOrigin = await listen(foreignServer);

  const responses = createHostileResponses(foreignOrigin);
  const hostileServer = fastify();
  hostileServer.get("/*", async ({ url }, reply) => {
    const {
      type,
      body = "",
      status = 200,
      headers = {},
    } = responses[url.slice(url.lastIndexOf("/") + 1)] ?? { type: "text/plain", status: 404 };
    return reply.code(status).headers(headers).type(type).send(Buffer.from(body));
  });
  const hostileOrigin = await listen(hostileServer);

  mkdirSync(join(folder, "host"));
  writeFileSync(join(folder, "host/index.html"), pageHtml);
  writeFileSync(join(folder, "host/silent-renew.html"), "<!doctype html><title>renewal</title>");
  mkdirSync(join(folder, "host/vault/static"), { recursive: true });
  for (const name of ["controller", "element"]) writeFileSync(join(folder, `host/vault/${name}.html`), pageHtml);
  const buildGatewayAt = async (origin: string): Promise<FastifyInstance> =>
    buildGateway({
      origin,
      vaultOrigin: "http://localhost:1",
      hostFolder: join(folder, "host"),
      deploymentsFolder: folder,
      trustAnchors: {
        vendor_id: "relicario",
        portal_keys: [{ kid: "k", kty: "OKP", crv: "Ed25519", x: "A".repeat(43) }],
        team_keys: {},
      },
      identityOrigin: "http://localhost:1",
      apiBase: `${origin}/api`,
      serviceAddress: hostileOrigin,
      remoteAddresses: new Map([["secrets", hostileOrigin]]),
      logFailure: () => undefined,
    });
  const guardedPort = (await choosePorts(0)).gateway;
  const guardedOrigin = await listen(await buildGatewayAt(`http://localhost:${String(guardedPort)}`), guardedPort);

  const metadataStripperPort = (await choosePorts(0)).gateway;
  const guardedUpstream = await listen(await buildGatewayAt(`http://localhost:${String(metadataStripperPort)}`));
  const metadataStripper = fastify();
  await metadataStripper.register(httpProxy, {
    upstream: guardedUpstream,
    replyOptions: {
      rewriteRequestHeaders: (_request, headers) =>
        Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith("sec-fetch-"))),
    },
  });
  const guardedWithoutFetchMetadata = await listen(metadataStripper, metadataStripperPort);

  const openGateway = fastify();
  await openGateway.register(httpProxy, { upstream: hostileOrigin, prefix: "/api" });
  await openGateway.register(httpProxy, { upstream: hostileOrigin, prefix: "/r/secrets" });
  openGateway.get("/*", async (_request, reply) => reply.type("text/html").send(pageHtml));
  const unguardedOrigin = await listen(openGateway);

  return {
    guardedOrigin,
    guardedWithoutFetchMetadata,
    unguardedOrigin,
    foreignOrigin,
    takeForeignRequests: () => {
      const paths = requestedPaths;
      requestedPaths = [];
      return paths;
    },
    waitForRefusal: (address) => new Promise((resolve) => refusals.once(address, resolve)),
    stop: async () => {
      for (const server of servers.reverse()) {
        server.server.closeAllConnections();
        await server.close();
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
