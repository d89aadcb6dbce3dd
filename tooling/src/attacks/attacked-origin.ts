/**
 * The real gateway in front of a service and a static server that want the portal's origin for
 * themselves; beside it a gateway that passes everything on, where their attacks succeed: without
 * it nobody would know that they are attacks.
 */
import { EventEmitter } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import httpProxy from "@fastify/http-proxy";
import fastify, { type FastifyInstance } from "fastify";

import { buildGateway } from "../serve/gateway.ts";
import { choosePorts } from "../start/ports.ts";

/** What script leaves where it ran in a page of the portal's origin. */
export const markOfScript = "attacked";

/**
 * Each `http://localhost:<port>`. `silent-renew.html` is the page with the widest policy: scripts
 * and workers of the whole origin.
 */
export interface AttackedOrigins {
  /** Behind the real gateway. */
  readonly guarded: string;
  /**
   * Behind the real gateway, seen by a browser that does not say what it will use an answer for (no
   * Fetch Metadata).
   */
  readonly guardedForOldBrowsers: string;
  /** Behind one that passes everything on, with pages without a policy. */
  readonly open: string;
  /** Another origin of the same site, with the attacker's own pages: `/page?html=…`. */
  readonly elsewhere: string;
  /** Paths that browsers asked of {@link elsewhere}, since the last call. */
  readonly askedElsewhere: () => readonly string[];
  /**
   * Resolves once a gateway has refused the next request for this address: browsers do not tell a
   * page of every refusal.
   */
  readonly refusalOf: (address: string) => Promise<void>;
  readonly stop: () => Promise<void>;
}

const mark = `localStorage.setItem(${JSON.stringify(markOfScript)}, "script ran")`;
const page =
  '<!doctype html><title>portal</title><meta property="csp-nonce" nonce="{{nonce}}"><script type="application/json" id="portal-page"></script>';

interface Answer {
  readonly type: string;
  readonly body?: string;
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What the servers behind the gateway answer, whatever stands before the last part of the path. */
function hostileAnswers(elsewhere: string): Readonly<Record<string, Answer>> {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg"><script>${mark}</script></svg>`;
  return {
    "page.html": { type: "text/html", body: `<!doctype html><script>${mark}</script>` },
    "page.xhtml": {
      type: "application/xhtml+xml",
      body: `<html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script>${mark}</script></head></html>`,
    },
    "picture.svg": { type: "image/svg+xml", body: svg },
    "script.js": { type: "text/javascript", body: mark },
    // Tells whoever started it; a service worker has nobody to tell, and needs none.
    "worker.js": {
      type: "text/javascript",
      body: "self.onconnect = ({ ports }) => ports[0].postMessage('ran'); self.postMessage?.('ran');",
      headers: { "service-worker-allowed": "/" },
    },
    "cookie.json": { type: "application/json", body: "{}", headers: { "set-cookie": `${markOfScript}=1; Path=/` } },
    "wipe.json": { type: "application/json", body: "{}", headers: { "clear-site-data": '"storage"' } },
    "redirect.json": { type: "application/json", status: 302, headers: { location: `${elsewhere}/taken` } },
    "refresh.txt": { type: "text/plain", body: "text", headers: { refresh: `0;url=${elsewhere}/taken` } },
    "link.html": {
      type: "text/html",
      body: "<!doctype html><title>links</title>",
      headers: { link: `<${elsewhere}/taken>; rel="preload"; as="style"` },
    },
  };
}

export async function startAttackedOrigins(): Promise<AttackedOrigins> {
  const folder = mkdtempSync(join(tmpdir(), "attacked-origin-"));
  const servers: FastifyInstance[] = [];
  const answers = new EventEmitter();
  const listen = async (app: FastifyInstance, port?: number): Promise<string> => {
    servers.push(app);
    const at = port ?? (await choosePorts(0)).gateway;
    const origin = `http://localhost:${String(at)}`;
    await app.listen({ host: "localhost", port: at });
    app.server.on("request", ({ url = "" }, response) => {
      response.once("finish", () => {
        if (response.statusCode >= 400) answers.emit(`${origin}${url}`);
      });
    });
    return origin;
  };

  let asked: string[] = [];
  const elsewhere = fastify();
  elsewhere.get<{ Querystring: { html?: string } }>("/*", async ({ url, query }, reply) => {
    asked.push(url.split("?", 1)[0] ?? "");
    return reply
      .header("access-control-allow-origin", "*")
      .type("text/html")
      .send(`<!doctype html><title>elsewhere</title>${query.html ?? ""}`);
  });
  const elsewhereOrigin = await listen(elsewhere);

  const hostileOnes = hostileAnswers(elsewhereOrigin);
  const hostile = fastify();
  hostile.get("/*", async ({ url }, reply) => {
    const {
      type,
      body = "",
      status = 200,
      headers = {},
    } = hostileOnes[url.slice(url.lastIndexOf("/") + 1)] ?? { type: "text/plain", status: 404 };
    return reply.code(status).headers(headers).type(type).send(Buffer.from(body));
  });
  const behind = await listen(hostile);

  mkdirSync(join(folder, "host"));
  writeFileSync(join(folder, "host/index.html"), page);
  writeFileSync(join(folder, "host/silent-renew.html"), "<!doctype html><title>renewal</title>");
  const gatewayAt = async (origin: string): Promise<FastifyInstance> =>
    buildGateway({
      origin,
      hostFolder: join(folder, "host"),
      deploymentsFolder: folder,
      page: {
        vendor_id: "relicario",
        portal_keys: [{ kid: "k", kty: "OKP", crv: "Ed25519", x: "A".repeat(43) }],
        team_keys: {},
      },
      identityOrigin: "http://localhost:1",
      apiBase: `${origin}/api`,
      service: behind,
      remotes: new Map([["secrets", behind]]),
      note: () => undefined,
    });
  const guardedPort = (await choosePorts(0)).gateway;
  const guarded = await listen(await gatewayAt(`http://localhost:${String(guardedPort)}`), guardedPort);

  const oldPort = (await choosePorts(0)).gateway;
  const gatewayOfOld = await listen(await gatewayAt(`http://localhost:${String(oldPort)}`));
  const silent = fastify();
  await silent.register(httpProxy, {
    upstream: gatewayOfOld,
    replyOptions: {
      rewriteRequestHeaders: (_request, headers) =>
        Object.fromEntries(Object.entries(headers).filter(([name]) => !name.startsWith("sec-fetch-"))),
    },
  });
  const guardedForOldBrowsers = await listen(silent, oldPort);

  const passing = fastify();
  await passing.register(httpProxy, { upstream: behind, prefix: "/api" });
  await passing.register(httpProxy, { upstream: behind, prefix: "/r/secrets" });
  passing.get("/*", async (_request, reply) => reply.type("text/html").send(page));
  const open = await listen(passing);

  return {
    guarded,
    guardedForOldBrowsers,
    open,
    elsewhere: elsewhereOrigin,
    askedElsewhere: () => {
      const since = asked;
      asked = [];
      return since;
    },
    refusalOf: (address) => new Promise((resolve) => answers.once(address, resolve)),
    stop: async () => {
      for (const server of servers.reverse()) {
        server.server.closeAllConnections();
        await server.close();
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
