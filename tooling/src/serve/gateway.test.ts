import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { brotliDecompressSync, gunzipSync } from "node:zlib";

import type { PortalTrustAnchors, ReleaseRecord, RemoteName } from "@relicario/shared/contract";
import fastify, { type FastifyInstance } from "fastify";

import { publishDeployment } from "../deployment/deployment.ts";
import { loadOrCreateKeyPair } from "../keys/signing-keys.ts";
import { signCompact } from "../release/release.ts";
import { buildGateway } from "./gateway.ts";
import { buildRemoteServer } from "./remote-server.ts";
import { getPort } from "./serve.ts";

const origin = "http://localhost:3000";
const publicKey = { kid: "k", kty: "OKP", crv: "Ed25519", x: "A".repeat(43) } as const;
const trustAnchors: PortalTrustAnchors = {
  vendor_id: "relicario",
  portal_keys: [publicKey],
  team_keys: { secrets: [publicKey], sharing: [publicKey], recovery: [publicKey], settings: [publicKey] },
};
const release = "secrets-0.3.1-0123456789ab";
const metricsToken = "t".repeat(32);
const navigation = { accept: "text/html,*/*;q=0.8", "sec-fetch-mode": "navigate" };

describe("the gateway", () => {
  let folder: string;
  let service: FastifyInstance;
  let remote: FastifyInstance;
  let gateway: FastifyInstance;
  const logLines: Readonly<Record<string, unknown>>[] = [];
  const findLogLine = (message: string) => logLines.findLast(({ msg }) => msg === message);
  const receivedRequests: { url: string; headers: Record<string, unknown>; body: string }[] = [];

  beforeAll(async () => {
    folder = join(mkdtempSync(join(tmpdir(), "gateway-")), "static"); // a parent folder named `static` must not count
    const writeFixture = (path: string, text: string): void => {
      const file = join(folder, path);
      mkdirSync(join(file, ".."), { recursive: true });
      writeFileSync(file, text);
    };
    writeFixture(
      "host/index.html",
      '<!doctype html><meta property="csp-nonce" nonce="{{nonce}}"><style nonce="{{nonce}}"></style><script type="application/json" id="portal-page"></script><link hreflang=en><link hreflang=es>',
    );
    for (const name of ["controller", "element"])
      writeFixture(`host/vault/${name}.html`, '<script type="application/json" id="portal-page"></script>');
    writeFixture("host/vault/static/controller.0123abcd.js", "verify();");
    writeFixture("host/silent-renew.html", "<!doctype html><script src=/silent-renew.js></script>");
    writeFixture("host/drive-answer.html", "<!doctype html><script src=/drive-answer.js></script>");
    writeFixture("host/static/main.0123abcd.js", "host();");
    writeFixture("host/static/main.0123abcd.js.br", "compressed");
    writeFixture("host/locales/en/header.json", '{"a":"A"}');
    writeFixture(`remote/${release}/remoteEntry.js`, "remote();");
    writeFixture(`remote/${release}/locales/es/beta-home.json`, '{"a":"Á"}');

    const signingKey = await loadOrCreateKeyPair(join(folder, "keys"), "portal");
    const buildRecord = (remote: RemoteName): ReleaseRecord => ({
      ...{
        v: 1,
        release: release.replace("secrets", remote),
        version: "0.3.1",
        files: {},
        federation: { id: "x", name: "x" },
      },
      manifest: {
        name: remote,
        contract: "^3",
        title: { en: remote, es: remote },
        routes: [],
        namespaces: remote === "secrets" ? ["beta-home"] : remote === "sharing" ? ["beta-share"] : [],
        capabilities: [],
        api_paths: [],
      },
    });
    await publishDeployment(
      join(folder, "deployments"),
      {
        vendorId: "relicario",
        origin,
        vaultOrigin: "http://localhost:3004",
        environment: "test",
        appVersion: "0.3.1",
        identity: { authority: "http://localhost:3001/realms/relicario", client_id: "c", scope: "openid" },
        api: { base_url: `${origin}/api`, credentials: false },
        drives: { google: { client_id: "g", api_origin: "https://drive.example" } },
        releases: await Promise.all(
          ["secrets", "sharing", "recovery", "settings"]
            .map(buildRecord)
            .map(async (record) => ({ record, jws: await signCompact(record, signingKey) })),
        ),
      },
      signingKey,
    );

    service = fastify();
    service.removeAllContentTypeParsers();
    service.addContentTypeParser("*", { parseAs: "string" }, (_request, body, done) => {
      done(null, body);
    });
    service.all("/*", async (request, reply) => {
      receivedRequests.push({
        url: request.url,
        headers: request.headers,
        body: typeof request.body === "string" ? request.body : "",
      });
      if (request.url === "/metrics") return reply.type("text/plain; version=0.0.4; charset=utf-8").send("up 1\n");
      if (request.url === "/page") return reply.type("text/html").send("<script>1</script>");
      return reply
        .code(request.url.startsWith("/busy") ? 503 : 201)
        .header("x-request-id", "yes")
        .send({ ok: true });
    });
    await service.listen({ host: "127.0.0.1", port: 0 });
    remote = await buildRemoteServer({ folder: join(folder, "remote") });
    await remote.listen({ host: "127.0.0.1", port: 0 });
    const unusedAddress = "http://127.0.0.1:1";
    gateway = await buildGateway({
      origin,
      vaultOrigin: "http://localhost:3004",
      hostFolder: join(folder, "host"),
      deploymentsFolder: join(folder, "deployments"),
      trustAnchors,
      identityOrigin: "http://localhost:3001",
      apiBase: `${origin}/api`,
      serviceAddress: `http://127.0.0.1:${String(getPort(service))}`,
      remoteAddresses: new Map([
        ["secrets", `http://127.0.0.1:${String(getPort(remote))}`],
        ["sharing", unusedAddress],
        ["recovery", unusedAddress],
        ["settings", unusedAddress],
      ]),
      metricsToken,
      logLevel: "debug",
      logStream: { write: (line) => logLines.push(JSON.parse(line) as (typeof logLines)[number]) },
    });
  });
  afterAll(async () => {
    await gateway.close();
    await remote.close();
    await service.close();
    rmSync(join(folder, ".."), { recursive: true, force: true });
  });

  const get = (url: string, headers: Record<string, string> = {}) => gateway.inject({ method: "GET", url, headers });

  describe("the host's page", () => {
    it.each(["/", "/home", "/edit-secret/0190", "/shared/AAAAAAAAAAAAAAAAAAAAAA", "/secrets?x=1"])(
      "answers a navigation to %s",
      async (path) => {
        const response = await get(path, navigation);
        expect(response.statusCode).toBe(200);
        expect(response.headers["content-type"]).toBe("text/html; charset=utf-8");
        expect(response.headers["cache-control"]).toBe("no-store");
      },
    );

    it.each([
      "//secrets",
      "///home",
      "//shared/AAAAAAAAAAAAAAAAAAAAAA",
      "/Shared/AAAAAAAAAAAAAAAAAAAAAA",
      "/shared/AAAAAAAAAAAAAAAAAAAAAA%23s=AAAA.",
      "/shared/AAAAAAAAAAAAAAAAAAAAAA%23s=AAAA.Please",
      "/shared/AAAAAAAAAAAAAAAAAAAAAA%A0",
      "/shared/AAAAAAAAAAAAAAAAAAAAAA%",
      "/home%23vendorId=a%20b",
    ])("answers a navigation to a changed address: %s", async (path) => {
      const address = new URL(
        await gateway.listen({ host: "127.0.0.1", port: 0 }).catch(() => gateway.listeningOrigin),
      );
      const { status, type, body } = await requestRaw(address, path); // `inject` would take `//x` for a host
      expect([status, type]).toEqual([200, "text/html; charset=utf-8"]);
      expect(body).toContain('id="portal-page"');
    });

    it.each([
      "/missing.js",
      "/static/missing.js",
      "/api2.js",
      "/r/secrets.js",
      "/deployments/nobody",
      "/locales/en/nothing.json",
      "/index.html",
      "/host/../index.html.br",
    ])("does not answer for %s", async (path) => {
      const response = await get(path, navigation);
      expect(response.statusCode).toBe(404);
      expect(response.json()).toMatchObject({ status: 404, code: "not_found" });
    });

    it("does not answer a script's request for a path of the portal", async () => {
      const response = await get("/home", { accept: "*/*", "sec-fetch-mode": "cors" });
      expect(response.statusCode).toBe(404);
    });

    it("answers tools with any accept header, or with none", async () => {
      for (const headers of [{ accept: "*/*" }, { accept: "application/json" }, {}])
        expect((await get("/home", headers)).headers["content-type"]).toBe("text/html; charset=utf-8");
    });

    it("answers only GET and HEAD", async () => {
      expect((await gateway.inject({ method: "POST", url: "/home", headers: navigation })).statusCode).toBe(404);
      expect((await gateway.inject({ method: "HEAD", url: "/home", headers: navigation })).statusCode).toBe(200);
    });

    it("has the same nonce in page and policy, a new one in each response", async () => {
      const responses = [await get("/home", navigation), await get("/home", navigation)];
      const nonces = responses.map(({ headers, body }) => {
        const nonce = /style-src [^;]*'nonce-([^']+)'/.exec(String(headers["content-security-policy"]))?.[1] ?? "";
        expect(nonce).toMatch(/^[A-Za-z0-9_-]{22}$/);
        expect(body.split(`nonce="${nonce}"`)).toHaveLength(3);
        expect(body).not.toContain("{{nonce}}");
        return nonce;
      });
      expect(nonces[0]).not.toBe(nonces[1]);
    });

    it("carries vendor and keys as inert JSON", async () => {
      const { body } = await get("/", navigation);
      const json = /<script type="application\/json" id="portal-page">(.*?)<\/script>/.exec(body)?.[1] ?? "";
      expect(JSON.parse(json)).toEqual(trustAnchors);
    });

    it.each([
      ["ES-mx,en;q=0.9", "es"],
      ["en-GB,es", "en"],
      ["fr", "en"],
      ["", "en"],
    ])("preloads the host's texts of the browser's first language: %s", async (accepted, language) => {
      expect((await get("/home", { ...navigation, "accept-language": accepted })).body).toMatch(
        new RegExp(`</script><link[^>]*><link hreflang=${language}>$`),
      );
    });

    it("allows code from this origin only, and connections to named origins", async () => {
      const { headers } = await get("/", navigation);
      expect(headers["integrity-policy"]).toBe("blocked-destinations=(script)");
      const policy = String(headers["content-security-policy"]).replace(/nonce-[^']+/g, "nonce-N");
      expect(policy.split("; ")).toEqual([
        "default-src 'none'",
        "script-src http://localhost:3000/static/ http://localhost:3000/r/ 'nonce-N'",
        "style-src http://localhost:3000/static/ 'nonce-N'",
        "font-src 'self'",
        "img-src 'self' data: blob:",
        // only the drive of the deployment document
        "connect-src 'self' http://localhost:3001 http://localhost:3000 https://drive.example",
        "frame-src 'self' http://localhost:3001 http://localhost:3004",
        "worker-src 'none'",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'self' http://localhost:3001",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types default",
        "report-uri http://localhost:3000/api/reports/csp",
      ]);
      expect(headers["reporting-endpoints"]).toBeUndefined();
      expect(headers).toMatchObject({
        "referrer-policy": "no-referrer",
        "x-content-type-options": "nosniff",
        "cross-origin-opener-policy": "same-origin-allow-popups",
        "permissions-policy": expect.stringContaining(
          'camera=(), clipboard-write=(self "http://localhost:3004"), ' +
            'publickey-credentials-create=(self "http://localhost:3004"), ' +
            'publickey-credentials-get=(self "http://localhost:3004")',
        ),
      });
      expect(headers["permissions-policy"]).toContain("clipboard-read=(),");
    });

    it("redirects from 127.0.0.1 to localhost", async () => {
      const response = await get("/home?x=1", { ...navigation, host: "127.0.0.1:3000" });
      expect(response.statusCode).toBe(307);
      expect(response.headers.location).toBe("http://localhost:3000/home?x=1");
    });
  });

  describe("other files of the host", () => {
    it("are immutable when their name has a hash, and compressed", async () => {
      const plain = await get("/static/main.0123abcd.js");
      expect(plain.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
      expect(plain.body).toBe("host();");
      const compressed = await get("/static/main.0123abcd.js", { "accept-encoding": "br" });
      expect(compressed.headers).toMatchObject({
        "content-encoding": "br",
        vary: expect.stringMatching(/accept-encoding/i),
      });
      expect(compressed.body).toBe("compressed");
    });

    it("can be framed by the host only where a renewal ends", async () => {
      const { statusCode, headers } = await get("/silent-renew.html?code=1&state=2", navigation);
      expect(statusCode).toBe(200);
      expect(headers["content-security-policy"]).toContain("frame-ancestors 'self'");
      expect(headers["cache-control"]).toBe("no-cache");
    });

    it("keep their opener only where a sign-in ends", async () => {
      expect((await get("/silent-renew.html?code=1&state=2", navigation)).headers).not.toHaveProperty(
        "cross-origin-opener-policy",
      );
      const { headers } = await get("/drive-answer.html?code=1&state=2", navigation);
      expect(headers).not.toHaveProperty("cross-origin-opener-policy");
      expect(headers["content-security-policy"]).toBe(
        "default-src 'none'; script-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      );
      expect((await get("/", navigation)).headers["cross-origin-opener-policy"]).toBe("same-origin-allow-popups");
    });
  });

  describe("hop-by-hop headers", () => {
    it("are not forwarded; the gateway answers Expect itself", async () => {
      if (!gateway.server.listening) await gateway.listen({ host: "127.0.0.1", port: 0 });
      const outgoing = request({
        ...{ host: "127.0.0.1", port: getPort(gateway), method: "POST", path: "/api/expecting" },
        headers: {
          ...{ host: "localhost:3000", expect: "100-continue", te: "trailers", "content-length": 2 },
          ...{ "proxy-authorization": "Basic planted", "proxy-connection": "keep-alive", "keep-alive": "timeout=9" },
          ...{ connection: "x-named", "x-named": "planted", "content-type": "application/json" },
        },
      });
      outgoing.flushHeaders();
      await once(outgoing, "continue");
      outgoing.end("{}");
      const [response] = (await once(outgoing, "response")) as [IncomingMessage];
      response.resume();
      expect(response.statusCode).toBe(201);
      const received = receivedRequests.find(({ url }) => url === "/expecting");
      expect(received?.body).toBe("{}");
      expect(Object.keys(received?.headers ?? {}).sort()).toEqual([
        "connection",
        "content-length",
        "content-type",
        "host",
        "traceparent",
        "x-forwarded-for",
        "x-forwarded-host",
        "x-forwarded-proto",
      ]);
    });
  });

  describe("deployments", () => {
    it("returns the signed document, to be revalidated each time", async () => {
      const response = await get("/deployments/relicario");
      expect(response.statusCode).toBe(200);
      expect(response.headers).toMatchObject({ "cache-control": "no-cache", vary: "accept-encoding" });
      expect(response.headers).not.toHaveProperty("content-encoding");
      expect(response.json()).toMatchObject({
        payload: expect.any(String),
        signatures: [{ signature: expect.any(String) }],
      });
    });

    it.each<[string, string, (bytes: Buffer) => Buffer]>([
      ["br", "gzip, br", brotliDecompressSync],
      ["gzip", "gzip;q=0.5, br;q=0", gunzipSync],
    ])("sends it compressed as %s", async (coding, accepted, decompress) => {
      const plain = await get("/deployments/relicario");
      const response = await get("/deployments/relicario", { "accept-encoding": accepted });
      expect(response.headers["content-encoding"]).toBe(coding);
      expect(decompress(response.rawPayload).toString()).toBe(plain.body);
    });

    it("answers 304 when the client has it", async () => {
      const etag = String((await get("/deployments/relicario")).headers.etag);
      const revalidated = await get("/deployments/relicario", { "if-none-match": `"other", W/${etag}` });
      expect([revalidated.statusCode, revalidated.body, revalidated.headers.etag]).toEqual([304, "", etag]);
      const file = join(folder, "deployments/relicario.json");
      const document = readFileSync(file, "utf8");
      try {
        writeFileSync(file, ` ${document}`);
        expect((await get("/deployments/relicario", { "if-none-match": etag })).statusCode).toBe(200);
      } finally {
        writeFileSync(file, document);
      }
    });

    it.each(["/deployments/..%2f..%2fkeys%2fportal", "/deployments/relicario.sequence", "/deployments/Relicario"])(
      "returns 404 for anything else: %s",
      async (path) => {
        expect((await get(path)).statusCode).toBe(404);
      },
    );
  });

  describe("texts", () => {
    it("come from the promoted release of their owner, without a redirect, to be revalidated each time", async () => {
      const response = await get("/locales/es/beta-home.json?x=1");
      expect(response.statusCode).toBe(200);
      expect(response.headers).toMatchObject({
        "content-type": expect.stringContaining("application/json"),
        "cache-control": "no-cache",
      });
      expect(response.json()).toEqual({ a: "Á" });
      expect(
        (await get("/locales/es/beta-home.json", { "if-none-match": String(response.headers.etag) })).statusCode,
      ).toBe(304);
    });

    it("answer 502 with a problem document when their server is down", async () => {
      const response = await get("/locales/es/beta-share.json");
      expect(response.statusCode).toBe(502);
      expect(response.headers["cache-control"]).toBe("no-store");
      expect(response.json()).toMatchObject({ code: "remote_unreachable" });
    });

    it.each([
      "/locales/es/nothing.json",
      "/locales/en/beta-home.json",
      "/locales/ES/beta-home.json",
      "/locales/es/%62eta-home.json",
      "/locales/es/..%2f..%2findex.json",
    ])("answer 404 when they do not exist: %s", async (path) => {
      const response = await get(path);
      expect(response.statusCode).toBe(404);
      expect(response.headers["cache-control"]).toBe("no-store");
    });

    it("come from the host when they are its own", async () => {
      expect((await get("/locales/en/header.json")).json()).toEqual({ a: "A" });
    });

    it("are the host's alone while the document cannot be read", async () => {
      const file = join(folder, "deployments/relicario.json");
      const document = readFileSync(file, "utf8");
      try {
        writeFileSync(file, "broken");
        expect((await get("/locales/es/beta-home.json")).statusCode).toBe(404);
        expect(findLogLine("failed")).toMatchObject({ failure: "SyntaxError" });
        expect((await get("/locales/en/header.json")).json()).toEqual({ a: "A" });
      } finally {
        writeFileSync(file, document);
      }
    });
  });

  describe("remotes", () => {
    it("are served from their releases as immutable files", async () => {
      const response = await get(`/r/secrets/${release}/remoteEntry.js`);
      expect(response.body).toBe("remote();");
      expect(response.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
      expect(response.headers["x-content-type-options"]).toBe("nosniff");
    });

    it("answer 404 for what is not in the release, never a page", async () => {
      const response = await get(`/r/secrets/${release}/missing.js`, navigation);
      expect(response.statusCode).toBe(404);
      expect(response.headers["cache-control"]).toBe("no-store");
    });

    it.each([
      `/r/secrets/${release}/../../host/index.html`,
      "/r/secrets/%2e%2e/host/index.html",
      "/r/secrets/..%2fhost%2findex.html",
    ])("cannot be escaped by a path: %s", async (path) => {
      const response = await get(path);
      expect([400, 403, 404]).toContain(response.statusCode);
      expect(response.body).not.toContain("doctype");
    });

    it("answer 502 with a problem document when their server is down, and others keep working", async () => {
      const response = await get("/r/sharing/x/remoteEntry.js");
      expect(response.statusCode).toBe(502);
      expect(response.headers["content-type"]).toContain("application/problem+json");
      expect(response.json()).toEqual({
        type: "about:blank",
        title: "Bad Gateway",
        status: 502,
        code: "remote_unreachable",
      });
      expect(findLogLine("failed")).toMatchObject({
        request_id: response.headers["x-request-id"],
        upstream: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
        failure: expect.any(String),
      });
      expect((await get(`/r/secrets/${release}/remoteEntry.js`)).statusCode).toBe(200);
      expect((await get("/home", navigation)).statusCode).toBe(200);
    });
  });

  describe("its log", () => {
    const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";

    it("has one line for a response: the route's pattern and the id with which the service was called", async () => {
      const linesBefore = logLines.length;
      const response = await get("/api/secrets/planted-id?planted=1", {
        authorization: "Bearer planted",
        traceparent: `00-${traceId}-00f067aa0ba902b7-01`,
        tracestate: "a=planted",
      });
      expect(response.statusCode).toBe(201);
      const lines = logLines.slice(linesBefore);
      expect(lines).toEqual([
        {
          level: 20, // debug, as for all that is neither slow nor an error
          time: expect.any(Number),
          request_id: expect.stringMatching(/^[0-9a-f]{32}$/),
          method: "GET",
          route: "/api/*",
          status: 201,
          ms: expect.any(Number),
          msg: "answered",
        },
      ]);
      const headers = receivedRequests.at(-1)?.headers;
      expect(headers?.["traceparent"]).toMatch(
        new RegExp(`^00-${String(lines[0]?.["request_id"])}-[0-9a-f]{16}-[0-9a-f]{2}$`),
      );
      expect(headers).not.toHaveProperty("tracestate");
      expect(JSON.stringify([lines, headers?.["traceparent"]])).not.toMatch(new RegExp(`planted|${traceId}|127\\.`));
    });

    it("has a line for an error without debugging", async () => {
      const response = await get("/r/sharing/x/remoteEntry.js");
      expect(response.statusCode).toBe(502);
      expect(logLines.at(-1)).toMatchObject({
        level: 30,
        request_id: response.headers["x-request-id"],
        status: 502,
        msg: "answered",
      });
    });

    it("has no path of a page or of an unknown file", async () => {
      await get("/shared/planted-share", navigation);
      await get("/planted.js");
      expect(logLines.slice(-2).map(({ msg, route, status }) => [msg, route, status])).toEqual([
        ["answered", expect.not.stringContaining("planted"), 200],
        ["answered", expect.not.stringContaining("planted"), 404],
      ]);
    });
  });

  describe("its metrics", () => {
    it("need the token", async () => {
      for (const headers of [{}, { authorization: "Bearer " }, { authorization: `Bearer ${metricsToken}t` }]) {
        const response = await get("/metrics", headers);
        expect([response.statusCode, response.headers["www-authenticate"]]).toEqual([401, "Bearer"]);
        expect(response.json()).toMatchObject({ code: "unauthorized" });
      }
    });

    it("count responses by route, without paths, and measure the process", async () => {
      await get("/api/secrets/planted-id?planted=1", { authorization: "Bearer planted" });
      const response = await get("/metrics", { authorization: `Bearer ${metricsToken}` });
      expect(response.statusCode).toBe(200);
      expect(response.headers["cache-control"]).toBe("no-store");
      expect(response.body).toMatch(
        /^http_server_request_duration_seconds_count\{http_request_method="GET",http_route="\/api\/\*",http_response_status_code="201"\} \d/m,
      );
      expect(response.body).toMatch(/^process_resident_memory_bytes \d/m);
      expect(response.body).not.toMatch(/planted|127\.0\.0\.1/);
    });
  });

  describe("the service", () => {
    it("receives path, query, body and token as they were sent, without the prefix", async () => {
      const response = await gateway.inject({
        method: "POST",
        url: "/api/secrets/store?limit=3",
        headers: {
          authorization: "Bearer t",
          "content-type": "application/json",
          "x-forwarded-for": "6.6.6.6",
          forwarded: "for=6.6.6.6",
        },
        payload: '{"a": 1}',
      });
      expect(response.statusCode).toBe(201);
      expect(response.headers["x-request-id"]).toBe("yes");
      const received = receivedRequests.at(-1);
      expect(received).toMatchObject({
        url: "/secrets/store?limit=3",
        body: '{"a": 1}',
        headers: { authorization: "Bearer t", "content-type": "application/json" },
      });
      expect(received?.headers["x-forwarded-for"]).toBe("127.0.0.1");
      expect(received?.headers["forwarded"]).toBeUndefined();
    });

    it("shows its metrics, and no page, which would have the portal's rights", async () => {
      const response = await get("/api/metrics", { authorization: "Bearer t" });
      expect([response.statusCode, response.body]).toEqual([200, "up 1\n"]);
      expect(response.headers["x-content-type-options"]).toBe("nosniff");
      expect((await get("/api/metrics", { "sec-fetch-dest": "document" })).statusCode).toBe(403);
      expect((await get("/api/page")).statusCode).toBe(502);
    });

    it("is not asked again when it answers 503", async () => {
      const requestCount = receivedRequests.length;
      expect((await get("/api/busy")).statusCode).toBe(503);
      expect(receivedRequests.length).toBe(requestCount + 1);
    });
  });
});

interface RawResponse {
  readonly status: number | undefined;
  readonly type: string | undefined;
  readonly body: string;
}

function requestRaw({ hostname, port }: URL, path: string): Promise<RawResponse> {
  return new Promise((resolve, reject) => {
    const headers = { host: "localhost:3000", "sec-fetch-mode": "navigate", accept: "text/html" };
    request({ hostname, port, path, headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => {
        const { statusCode: status, headers: received } = response;
        resolve({ status, type: received["content-type"], body: Buffer.concat(chunks).toString() });
      });
    })
      .on("error", reject)
      .end();
  });
}
