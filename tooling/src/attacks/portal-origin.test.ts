/** Attacks of a hostile service or static server on the portal's origin. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import fastify, { type FastifyInstance } from "fastify";

import { buildGateway } from "../serve/gateway.ts";
import { getPort } from "../serve/serve.ts";

const origin = "http://localhost:3000";
const verificationKey = { kid: "k", kty: "OKP", crv: "Ed25519", x: "A".repeat(43) } as const;

/** Answers with the `type`, the `status` and the headers (`h-<name>`) of the query. */
function createHostileServer(receivedHeaders: Record<string, unknown>[]): FastifyInstance {
  const server = fastify({ exposeHeadRoutes: true });
  server.all<{ Querystring: Record<string, string> }>("/*", async ({ query, headers }, reply) => {
    receivedHeaders.push(headers);
    for (const [name, value] of Object.entries(query))
      if (name.startsWith("h-")) void reply.header(name.slice(2), value);
    void reply.code(Number(query["status"] ?? 200));
    if (query["type"] !== undefined) void reply.header("content-type", query["type"]);
    return reply.send(Buffer.from("<script>attack()</script>"));
  });
  return server;
}

describe("responses from behind the gateway", () => {
  const receivedHeaders: Record<string, unknown>[] = [];
  const failures: Readonly<Record<string, string>>[] = [];
  let folder: string;
  let upstream: FastifyInstance;
  let gateway: FastifyInstance;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "attacks-"));
    mkdirSync(join(folder, "host/vault/static"), { recursive: true });
    for (const page of ["index.html", "vault/controller.html", "vault/element.html"])
      writeFileSync(
        join(folder, "host", page),
        '<!doctype html><meta property="csp-nonce" nonce="{{nonce}}"><style nonce="{{nonce}}"></style><script type="application/json" id="portal-page"></script>',
      );
    upstream = createHostileServer(receivedHeaders);
    await upstream.listen({ host: "127.0.0.1", port: 0 });
    const address = `http://127.0.0.1:${String(getPort(upstream))}`;
    gateway = await buildGateway({
      origin,
      vaultOrigin: "http://localhost:3004",
      hostFolder: join(folder, "host"),
      deploymentsFolder: folder,
      trustAnchors: { vendor_id: "relicario", portal_keys: [verificationKey], team_keys: {} },
      identityOrigin: "http://localhost:3001",
      apiBase: `${origin}/api`,
      serviceAddress: address,
      remoteAddresses: new Map([["secrets", address]]),
      logFailure: (failure) => failures.push(failure),
    });
  });
  afterAll(async () => {
    await gateway.close();
    await upstream.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const get = (path: string, query: Record<string, string>, headers: Record<string, string> = {}) =>
    gateway.inject({ method: "GET", url: path, query, headers });
  const allowedTypes = { "/api/x": "application/json", "/r/secrets/x.js": "text/javascript" } as const;

  describe.each(["/api/x", "/r/secrets/x.js"] as const)("at %s", (path) => {
    it.each([
      "text/html",
      "text/html; charset=utf-8",
      "application/xhtml+xml",
      "text/xml",
      "application/xml",
      "application/pdf",
      "multipart/x-mixed-replace",
    ])("are refused as %s, which browsers would open as a page of the portal", async (type) => {
      const response = await get(path, { type });
      expect(response.statusCode).toBe(502);
      expect(response.headers["content-type"]).toBe("application/problem+json");
      expect(response.body).not.toContain("attack");
      expect(failures.at(-1)).toMatchObject({ failure: "MEDIA_TYPE" });
    });

    it("without a type are sent as bytes or refused, so that browsers do not guess one", async () => {
      const { statusCode, headers } = await get(path, {});
      expect([statusCode, headers["content-type"], headers["x-content-type-options"]]).toEqual(
        path === "/api/x" ? [200, "application/octet-stream", "nosniff"] : [502, "application/problem+json", "nosniff"],
      );
    });

    it("have no origin, run nothing and cannot be framed when opened as a document", async () => {
      for (const type of [allowedTypes[path], "application/problem+json"]) {
        const response = await get(path, {
          type,
          "h-content-security-policy": "default-src *",
          "h-x-content-type-options": "sniff",
        });
        expect(response.statusCode).toBe(200);
        expect(response.headers["content-security-policy"]).toBe("sandbox; default-src 'none'; frame-ancestors 'none'");
        expect(response.headers["x-content-type-options"]).toBe("nosniff");
      }
    });

    it.each([
      "document",
      "iframe",
      "frame",
      "object",
      "embed",
      "serviceworker",
      "worker",
      "sharedworker",
      "audioworklet",
      "xslt",
      "manifest",
    ])("are refused when loaded as %s", async (destination) => {
      const requestCount = receivedHeaders.length;
      const response = await get(path, { type: allowedTypes[path] }, { "sec-fetch-dest": destination });
      expect(response.statusCode).toBe(403);
      expect(response.headers["content-security-policy"]).toContain("sandbox");
      expect(receivedHeaders).toHaveLength(requestCount);
    });

    it.each([
      ["Set-Cookie", "a=b"],
      ["Clear-Site-Data", '"*"'],
      ["Service-Worker-Allowed", "/"],
      ["Refresh", "0;url=/x"],
      ["Link", "</x.js>; rel=modulepreload"],
      ["SourceMap", "/x.map"],
      ["Reporting-Endpoints", 'a="https://evil.example"'],
      ["NEL", "{}"],
      ["Report-To", "{}"],
      ["Access-Control-Allow-Origin", "*"],
      ["Cross-Origin-Resource-Policy", "cross-origin"],
      ["Strict-Transport-Security", "max-age=0"],
      ["Referrer-Policy", "unsafe-url"],
      ["Accept-CH", "Sec-CH-UA-Model"],
      ["Alt-Svc", 'h3="evil.example:443"'],
      ["Origin-Agent-Cluster", "?0"],
      ["Server", "x"],
      ["X-Anything", "x"],
    ])("lose the header %s", async (name, value) => {
      const response = await get(path, { type: allowedTypes[path], [`h-${name}`]: value });
      expect(response.statusCode).toBe(200);
      expect(response.headers[name.toLowerCase()]).not.toBe(value);
    });

    it.each([301, 302, 303, 307, 308])("are refused when they redirect with %i", async (status) => {
      const response = await get(path, {
        status: String(status),
        type: allowedTypes[path],
        "h-location": "https://evil.example/",
      });
      expect(response.statusCode).toBe(502);
      expect(response.headers).not.toHaveProperty("location");
    });

    it.each([
      'Basic realm="Relicario: your passphrase"',
      "Digest",
      "Negotiate",
      'Bearer, Basic realm="your passphrase"',
    ])("lose the challenge %s, for which browsers would prompt in the portal's name", async (challenge) => {
      const response = await get(path, { status: "401", type: "application/json", "h-www-authenticate": challenge });
      expect(response.statusCode).toBe(401);
      expect(response.headers["www-authenticate"]).toBeUndefined();
    });

    it("come from servers that get no cookies of other servers on this host", async () => {
      await get(path, { type: allowedTypes[path] }, { cookie: "_session=provider" });
      expect(receivedHeaders.at(-1)).not.toHaveProperty("cookie");
    });
  });

  it("of the service are refused as scripts, which no policy allows either", async () => {
    expect((await get("/api/x", { type: "text/javascript" })).statusCode).toBe(502);
    for (const destination of ["script", "style", "image", "font"])
      expect((await get("/api/x", { type: "application/json" }, { "sec-fetch-dest": destination })).statusCode).toBe(
        403,
      );
    const page = await gateway.inject({
      method: "GET",
      url: "/home",
      headers: { accept: "text/html", "sec-fetch-mode": "navigate" },
    });
    const sources = /script-src ([^;]+)/
      .exec(String(page.headers["content-security-policy"]))?.[1]
      ?.replace(/nonce-[^']+/, "nonce-N");
    expect(sources).toBe("http://localhost:3000/static/ http://localhost:3000/r/ 'nonce-N'");
  });

  it("come from servers of which only the service gets the session token", async () => {
    await get("/r/secrets/x.js", { type: "text/javascript" }, { authorization: "Bearer session" });
    expect(receivedHeaders.at(-1)).not.toHaveProperty("authorization");
    const response = await get(
      "/api/x",
      { status: "401", type: "application/json", "h-www-authenticate": 'Bearer error="invalid_token"' },
      { authorization: "Bearer session" },
    );
    expect(receivedHeaders.at(-1)).toMatchObject({ authorization: "Bearer session" });
    expect(response.headers["www-authenticate"]).toBe('Bearer error="invalid_token"');
  });

  it("pass when they are data of the service, or code and files of a release", async () => {
    for (const type of ["application/json; charset=utf-8", "application/octet-stream"])
      expect((await get("/api/x", { type }, { "sec-fetch-dest": "empty" })).statusCode).toBe(200);
    for (const [destination, type] of [
      ["script", "text/javascript; charset=utf-8"],
      ["style", "text/css"],
      ["empty", "application/wasm"],
      ["font", "font/woff2"],
      ["image", "image/svg+xml"],
    ] as const) {
      expect((await get("/r/secrets/x", { type }, { "sec-fetch-dest": destination })).statusCode).toBe(200);
    }
    expect((await get("/api/x", { status: "204" })).statusCode).toBe(204);
  });
});
