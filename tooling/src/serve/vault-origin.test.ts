import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync, gzipSync } from "node:zlib";

import { VaultPage, type ReleaseRecord } from "@relicario/shared/contract";
import fastify, { type FastifyInstance } from "fastify";

import { publishDeployment, signDeployment } from "../deployment/deployment.ts";
import { loadOrCreateKeyPair, type SigningKeyPair } from "../keys/signing-keys.ts";
import { computeFileIntegrity, computeIntegrity } from "../release/integrity.ts";
import { signCompact } from "../release/release.ts";
import { TrustedProxies } from "../http/address.ts";
import { buildGateway } from "./gateway.ts";
import { defaultLimits, type ServeLimits } from "./limits.ts";
import { buildRemoteServer } from "./remote-server.ts";
import { getPort } from "./serve.ts";

const origin = "http://localhost:3000";
const developmentOrigin = "http://localhost:3003";
const vaultHost = "localhost:3004";
const release = "recovery-0.3.1-0123456789ab";
const nextRelease = "recovery-0.3.2-0123456789ab";
const script = "controller();".repeat(20);
const navigation = { accept: "text/html,*/*;q=0.8", "sec-fetch-mode": "navigate", "sec-fetch-dest": "iframe" };
const policy = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self'",
  "connect-src 'self' http://localhost:3001",
  "frame-src 'self' http://localhost:3001",
  "base-uri 'none'",
  "form-action 'none'",
  `frame-ancestors 'self' ${origin} ${developmentOrigin}`,
  "require-trusted-types-for 'script'",
  "trusted-types default",
  "report-uri http://localhost:3004/api/reports/csp",
].join("; ");

describe("the vault's origin", () => {
  let folder: string;
  let key: SigningKeyPair;
  let service: FastifyInstance;
  let remote: FastifyInstance;
  let gateway: FastifyInstance;
  const failures: Readonly<Record<string, string>>[] = [];

  const writeFixture = (path: string, content: string | Buffer): string => {
    const file = join(folder, path);
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, content);
    return file;
  };
  const publish = async (
    { stable, disabled = [] }: { readonly stable: string; readonly disabled?: readonly string[] },
    files: Readonly<Record<string, string>>,
  ): Promise<void> => {
    const record: ReleaseRecord = {
      ...{ v: 1, release: stable, version: "0.3.1", files, federation: { id: "x", name: "x" } },
      manifest: {
        name: "recovery",
        contract: "^3",
        title: { en: "recovery", es: "recovery" },
        routes: [],
        namespaces: [],
        capabilities: [],
        api_paths: [],
      },
    };
    const deployment = await publishDeployment(
      join(folder, "deployments"),
      {
        vendorId: "relicario",
        origin,
        vaultOrigin: `http://${vaultHost}`,
        environment: "test",
        appVersion: "0.3.1",
        identity: { authority: "http://localhost:3001/realms/relicario", client_id: "c", scope: "openid" },
        api: { base_url: `${origin}/api`, credentials: false },
        releases: [{ record, jws: await signCompact(record, key) }],
      },
      key,
    );
    writeFixture(
      "deployments/relicario.json",
      JSON.stringify(await signDeployment({ ...deployment, disabled: [...disabled] }, key)),
    );
  };

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "vault-origin-"));
    key = await loadOrCreateKeyPair(join(folder, "keys"), "portal");
    const page = '<!doctype html><script type="application/json" id="portal-page"></script>';
    writeFixture("host/index.html", page);
    writeFixture("host/host-files.json", "{}");
    writeFixture("host/silent-renew.html", page);
    writeFixture("host/static/main.0123abcd.js", "host();");
    writeFixture("host/locales/en/header.json", "{}");
    for (const name of ["controller", "element"]) writeFixture(`host/vault/${name}.html`, page);
    writeFixture("host/vault/signed-in.html", page);
    writeFixture("host/vault/signed-in.js", "answer();");
    writeFixture("host/vault/static/controller.0123abcd.js", "verify();");
    const signedFile = writeFixture(`remote/${release}/vault-controller.js`, script);
    writeFixture(`remote/${release}/vault-controller.js.gz`, gzipSync(script));
    writeFixture(`remote/${release}/engine.wasm`, "engine");
    writeFixture(`remote/${release}/kit.txt`, "kit");
    writeFixture(`remote/${release}/altered.js`, "altered();");
    writeFixture(`remote/${release}/unlisted.js`, "unlisted();");
    writeFixture(`remote/${release}/page.html`, page);
    await publish(
      { stable: release },
      {
        "vault-controller.js": computeFileIntegrity(signedFile),
        "engine.wasm": computeIntegrity(Buffer.from("engine")),
        "kit.txt": computeIntegrity(Buffer.from("kit")),
        "altered.js": computeIntegrity(Buffer.from("signed();")),
        "missing.js": computeIntegrity(Buffer.from("missing();")),
        "page.html": computeIntegrity(Buffer.from(page)),
      },
    );

    service = fastify();
    service.all("/*", async ({ url, headers }, reply) =>
      reply
        .headers({ "set-cookie": "a=1", "access-control-allow-origin": "*", "x-request-id": "yes" })
        .send({ url, authorization: headers.authorization, host: headers["x-forwarded-host"] }),
    );
    await service.listen({ host: "127.0.0.1", port: 0 });
    remote = await buildRemoteServer({ folder: join(folder, "remote") });
    await remote.listen({ host: "127.0.0.1", port: 0 });
    gateway = await build("");
  });
  afterAll(async () => {
    await gateway.close();
    await remote.close();
    await service.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const build = (
    trustedProxies: string,
    {
      remoteUrl = `http://127.0.0.1:${String(getPort(remote))}`,
      limits = defaultLimits,
    }: { readonly remoteUrl?: string; readonly limits?: ServeLimits } = {},
  ): Promise<FastifyInstance> => {
    const { publicKey } = key;
    return buildGateway({
      origin,
      vaultOrigin: `http://${vaultHost}`,
      developmentOrigin,
      hostFolder: join(folder, "host"),
      deploymentsFolder: join(folder, "deployments"),
      trustAnchors: {
        vendor_id: "relicario",
        portal_keys: [publicKey],
        team_keys: { recovery: [publicKey], secrets: [publicKey] },
      },
      identityOrigin: "http://localhost:3001",
      apiBase: `${origin}/api`,
      serviceAddress: `http://127.0.0.1:${String(getPort(service))}`,
      remoteAddresses: new Map(["recovery", "secrets"].map((name) => [name, remoteUrl])),
      limits,
      trustedProxies: TrustedProxies.parse(trustedProxies),
      logFailure: (failure) => failures.push(failure),
    });
  };
  const get = (url: string, headers: Record<string, string> = {}) =>
    gateway.inject({ method: "GET", url, headers: { host: vaultHost, ...headers } });

  it("has the page where its sign-in ends, also when the identity provider's site sends people there", async () => {
    const { statusCode, headers, body } = await get("/signed-in?state=s&code=c", {
      ...navigation,
      "sec-fetch-site": "cross-site",
    });
    expect(statusCode).toBe(200);
    expect(headers).toMatchObject({ "content-security-policy": policy, "cross-origin-opener-policy": "unsafe-none" });
    expect(body).toContain(JSON.stringify([origin, developmentOrigin]));
    expect((await get("/signed-in.js")).body).toBe("answer();");
    expect((await get("/signed-in", { host: "localhost:3000" })).body).not.toContain("portal_origins");
  });

  it("has a page with vendor, only the keys of the vault's team, and the origins that may frame it", async () => {
    const { statusCode, headers, body } = await get("/controller", { ...navigation, "sec-fetch-site": "same-site" });
    expect(statusCode).toBe(200);
    expect(headers).toMatchObject({
      "content-type": "text/html; charset=utf-8",
      "content-security-policy": policy,
      "integrity-policy": "blocked-destinations=(script)",
      "cross-origin-resource-policy": "same-site",
      "cross-origin-opener-policy": "unsafe-none",
      "origin-agent-cluster": "?1",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "cache-control": "no-cache",
    });
    expect(headers).not.toHaveProperty("x-frame-options");
    const json = /<script type="application\/json" id="portal-page">(.*?)<\/script>/.exec(body)?.[1] ?? "";
    expect(VaultPage.parse(JSON.parse(json))).toEqual({
      vendor_id: "relicario",
      portal_keys: [key.publicKey],
      team_keys: { recovery: [key.publicKey] },
      portal_origins: [origin, developmentOrigin],
    });
  });

  it("has elements with a nonce of their own, and styles, fonts and pictures of nowhere else", async () => {
    const [first, second] = [await get("/element", navigation), await get("/element", navigation)];
    const policies = [first, second].map(({ headers }) => String(headers["content-security-policy"]));
    const nonces = policies.map((text) => /style-src 'self' 'nonce-([\w-]{22})';/.exec(text)?.[1]);
    expect(new Set(nonces).size).toBe(2);
    for (const [index, text] of policies.entries()) {
      expect(text).toContain("font-src 'self'; img-src data: blob:");
      expect(text.replace(/ style-src [^;]*; font-src [^;]*; img-src [^;]*;/, "")).toBe(
        policy.replace(
          "connect-src 'self' http://localhost:3001; frame-src 'self' http://localhost:3001",
          "connect-src 'self'",
        ),
      );
      expect(text).not.toContain("unsafe-inline");
      expect([first, second][index]?.headers).toMatchObject({
        "cache-control": "no-store",
        "integrity-policy": "blocked-destinations=(script)",
        "origin-agent-cluster": "?1",
      });
    }
    expect((await get("/element", { ...navigation, "sec-fetch-site": "cross-site" })).statusCode).toBe(403);
  });

  it("refuses its page to other sites", async () => {
    const response = await get("/controller", { ...navigation, "sec-fetch-site": "cross-site" });
    expect([response.statusCode, response.json()]).toEqual([403, expect.objectContaining({ code: "forbidden" })]);
    for (const headers of [{ "sec-fetch-site": "same-origin" }, { "sec-fetch-site": "none" }, {}])
      expect((await get("/controller", headers)).statusCode).toBe(200);
  });

  it("has the page's script as an immutable file", async () => {
    const { body, headers } = await get("/static/controller.0123abcd.js");
    expect(body).toBe("verify();");
    expect(headers).toMatchObject({
      "cache-control": "public, max-age=31536000, immutable",
      "content-security-policy": policy,
    });
  });

  it.each([
    "/",
    "/home",
    "/index.html",
    "/vault/controller.html",
    "/controller.html",
    "/silent-renew.html",
    "/host-files.json",
    "/static/main.0123abcd.js",
    "/locales/en/header.json",
    `/r/secrets/${release}/vault-controller.js`,
    "/healthz",
    "/.well-known/webauthn",
    "/deployments/nobody",
  ])("answers 404 with its own headers for what is not the vault's: %s", async (path) => {
    const response = await get(path, navigation);
    expect([response.statusCode, response.json()]).toEqual([404, expect.objectContaining({ code: "not_found" })]);
    expect(response.headers["content-security-policy"]).toBe(policy);
    expect((await gateway.inject({ method: "POST", url: path, headers: { host: vaultHost } })).statusCode).toBe(404);
  });

  it.each(["localhost:3000", "127.0.0.1:3000", "portal.example", "localhost", "vault.localhost:3004"])(
    "does not answer for %s",
    async (host) => {
      const page = await get("/controller", { host, "sec-fetch-mode": "cors" });
      expect([page.statusCode, page.headers["content-security-policy"]]).toEqual([404, undefined]);
      expect((await get("/vault/static/controller.0123abcd.js", { host })).statusCode).toBe(404);
      expect((await get("/static/controller.0123abcd.js", { host })).statusCode).toBe(404);
      expect((await get("/host-files.json", { host })).statusCode).toBe(200);
    },
  );

  it("is named only by X-Forwarded-Host of a trusted proxy", async () => {
    const trusting = await build("loopback");
    const headers = { host: "gateway:8080", "x-forwarded-host": vaultHost, "sec-fetch-mode": "cors" };
    expect((await trusting.inject({ url: "/controller", headers })).statusCode).toBe(200);
    expect((await gateway.inject({ url: "/controller", headers })).statusCode).toBe(404);
    await trusting.close();
  });

  it("has the vendor's signed document", async () => {
    const document = await get("/deployments/relicario");
    expect(document.body).toBe((await get("/deployments/relicario", { host: "localhost:3000" })).body);
    expect(document.headers).toMatchObject({ "cache-control": "no-cache", "content-security-policy": policy });
  });

  describe("the vault's release", () => {
    const base = `/r/recovery/${release}`;

    it.each([
      ["as it is", {}, null],
      ["compressed, where the server has it so", { "accept-encoding": "gzip" }, "gzip"],
      ["as it is, where the server has no such form", { "accept-encoding": "br" }, null],
      ["for a worker", { "sec-fetch-dest": "worker" }, null],
      ["again", { "accept-encoding": "gzip" }, "gzip"],
    ])("is served with the policy that its workers have: %s", async (_case, accepted, coding) => {
      const { statusCode, headers, rawPayload } = await get(`${base}/vault-controller.js`, accepted);
      expect([statusCode, headers["content-encoding"]]).toEqual([200, coding ?? undefined]);
      expect((coding === null ? rawPayload : gunzipSync(rawPayload)).toString()).toBe(script);
      expect(headers).toMatchObject({
        "content-type": "text/javascript; charset=utf-8",
        "content-security-policy": policy,
        "cross-origin-resource-policy": "same-site",
        "cache-control": "public, max-age=31536000, immutable",
        vary: "accept-encoding",
      });
    });

    it("is served with types by file names", async () => {
      expect((await get(`${base}/engine.wasm`)).headers["content-type"]).toBe("application/wasm");
      expect((await get(`${base}/kit.txt`)).headers["content-type"]).toBe("text/plain; charset=utf-8");
    });

    it.each(["unlisted.js", "page.html", "constructor", "../../host/index.html", "..%2f..%2fhost%2findex.html"])(
      "has only what its record lists as code: %s",
      async (path) => {
        expect((await get(`${base}/${path}`)).statusCode).toBe(404);
      },
    );

    it.each([
      ["altered.js", "INTEGRITY"],
      ["missing.js", "STATUS_404"],
    ])("answers 502 for a file that is not the signed one: %s", async (path, failure) => {
      const response = await get(`${base}/${path}`);
      expect([response.statusCode, response.json()]).toEqual([
        502,
        expect.objectContaining({ code: "remote_unreachable" }),
      ]);
      expect(failures.at(-1)).toMatchObject({ failure });
    });

    it.each(["document", "iframe", "serviceworker"])("is not served as a %s", async (destination) => {
      expect((await get(`${base}/vault-controller.js`, { "sec-fetch-dest": destination })).statusCode).toBe(403);
    });

    it("is fetched for an IP address in turns, while others get theirs", async () => {
      const heldPaths: (string | undefined)[] = [];
      const hangingRemote = createServer(({ url }) => void heldPaths.push(url)).listen(0, "127.0.0.1");
      await once(hangingRemote, "listening");
      const remoteUrl = `http://127.0.0.1:${String((hangingRemote.address() as AddressInfo).port)}`;
      const slowGateway = await build("", { remoteUrl, limits: { ...defaultLimits, turnsOfAddress: 2 } });
      const send = (remoteAddress: string, path: string): Promise<unknown> =>
        slowGateway.inject({ url: `${base}/${path}`, headers: { host: vaultHost }, remoteAddress });
      const calls = [
        ...["vault-controller.js", "engine.wasm", "altered.js", "missing.js"].map((path) => send("203.0.113.1", path)),
        send("198.51.100.7", "missing.js"),
      ];
      try {
        while (!heldPaths.includes(`/${release}/missing.js`)) await once(hangingRemote, "request");
        expect(heldPaths.toSorted()).toEqual(
          ["engine.wasm", "missing.js", "vault-controller.js"].map((path) => `/${release}/${path}`),
        );
      } finally {
        hangingRemote.close();
        hangingRemote.closeAllConnections();
        await Promise.all(calls);
        await slowGateway.close();
      }
    });

    it("stays for open pages when another release is promoted, until it is disabled", async () => {
      await publish({ stable: nextRelease }, {});
      expect((await get(`${base}/vault-controller.js`)).statusCode).toBe(200);
      await publish({ stable: nextRelease, disabled: [release] }, {});
      expect((await get(`${base}/vault-controller.js`)).statusCode).toBe(404);
    });
  });

  it("calls the service by the portal's rules, without cookies and CORS", async () => {
    const response = await get("/api/secrets?x=1", { authorization: "Bearer t", origin: `http://${vaultHost}` });
    expect(response.json()).toEqual({ url: "/secrets?x=1", authorization: "Bearer t", host: vaultHost });
    expect(response.headers).toMatchObject({
      "x-request-id": "yes",
      "content-security-policy": "sandbox; default-src 'none'; frame-ancestors 'none'",
      "cross-origin-resource-policy": "same-site",
    });
    expect(response.headers).not.toHaveProperty("set-cookie");
    expect(response.headers).not.toHaveProperty("access-control-allow-origin");
    expect((await get("/api/secrets", { "sec-fetch-dest": "document" })).statusCode).toBe(403);
  });
});
