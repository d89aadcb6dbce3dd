import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

import fastify, { type FastifyInstance } from "fastify";

import { getClientNetwork, normalizeAddress, TrustedProxies } from "../http/address.ts";
import { buildGateway } from "./gateway.ts";
import { getPort } from "./serve.ts";

const origin = "http://localhost:3000";
const person = "198.51.100.7";

describe("TRUSTED_PROXIES", () => {
  let folder: string;
  let service: FastifyInstance;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "trusted-proxies-"));
    mkdirSync(join(folder, "vault/static"), { recursive: true });
    for (const page of ["index.html", "vault/controller.html", "vault/element.html"])
      writeFileSync(join(folder, page), '<!doctype html><script type="application/json" id="portal-page"></script>');
    service = fastify();
    service.get("/seen", ({ headers }) => ({
      for: headers["x-forwarded-for"],
      proto: headers["x-forwarded-proto"],
      host: headers["x-forwarded-host"],
    }));
    await service.listen({ host: "127.0.0.1", port: 0 });
  });
  afterAll(async () => {
    await service.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** What the service receives from a client behind a TLS proxy, which adds its own headers. */
  async function requestThroughProxy(
    trustedProxies: string,
    { from = person, claims = {} }: { from?: string; claims?: Record<string, string> } = {},
  ): Promise<unknown> {
    const gateway = await buildGateway({
      ...{ origin, hostFolder: folder, deploymentsFolder: folder, identityOrigin: origin, apiBase: `${origin}/api` },
      vaultOrigin: "https://vault.portal.example",
      trustAnchors: {
        vendor_id: "relicario",
        portal_keys: [{ kid: "k", kty: "OKP", crv: "Ed25519", x: "A".repeat(43) }],
        team_keys: {},
      },
      serviceAddress: `http://127.0.0.1:${String(getPort(service))}`,
      remoteAddresses: new Map(),
      trustedProxies: TrustedProxies.parse(trustedProxies),
    });
    await gateway.listen({ host: "127.0.0.1", port: 0 });
    const proxy = createServer(({ url, headers }, response) => {
      const existing = headers["x-forwarded-for"];
      const forwardedHeaders = {
        "x-forwarded-for": [...(existing === undefined ? [] : [existing]), from].join(", "),
        "x-forwarded-proto": "https",
        "x-forwarded-host": "portal.example",
      };
      request(
        {
          host: "127.0.0.1",
          port: getPort(gateway),
          path: url,
          agent: false,
          headers: { ...headers, ...forwardedHeaders },
        },
        (upstreamResponse) => {
          response.writeHead(upstreamResponse.statusCode ?? 0);
          upstreamResponse.pipe(response);
        },
      ).end();
    }).listen(0, "127.0.0.1");
    await once(proxy, "listening");
    try {
      const address = proxy.address();
      if (address === null || typeof address === "string") throw new TypeError("not listening on a port");
      return await (await fetch(`http://127.0.0.1:${String(address.port)}/api/seen`, { headers: claims })).json();
    } finally {
      proxy.close();
      proxy.closeAllConnections();
      await gateway.close();
    }
  }

  it("forwards address, protocol and host from a proxy that the setting names", async () => {
    const expected = { for: person, proto: "https", host: "portal.example" };
    expect(await requestThroughProxy("loopback")).toEqual(expected);
    expect(await requestThroughProxy("192.0.2.0/24, 127.0.0.1")).toEqual(expected);
    expect(await requestThroughProxy("loopback", { from: `::ffff:${person}` })).toEqual(expected);
  });

  it("ignores forwarded headers that a browser sends", async () => {
    expect(
      await requestThroughProxy("loopback", {
        claims: { "x-forwarded-for": "6.6.6.6", "x-forwarded-proto": "gopher" },
      }),
    ).toMatchObject({ for: person, proto: "https" });
    for (const trustedProxies of ["", "192.0.2.0/24"])
      expect(await requestThroughProxy(trustedProxies)).toMatchObject({ for: "127.0.0.1", proto: "http" });
  });

  it("is refused when the setting names no address", () => {
    expect(TrustedProxies.safeParse("loopback, portal.example").error?.issues[0]?.message).toBe(
      "names something that is neither an address nor a network",
    );
  });
});

describe("normalizeAddress and getClientNetwork", () => {
  it.each([
    ["203.0.113.1", "203.0.113.1", "203.0.113.1"],
    ["::ffff:203.0.113.1", "203.0.113.1", "203.0.113.1"],
    ["2001:db8::1", "2001:db8::1", "2001:db8:0:0::/64"],
    ["2001:0DB8:0:0:ffff::2", "2001:db8::ffff:0:0:2", "2001:db8:0:0::/64"],
    ["unknown", "unknown", "unknown"],
  ])("reads %s as the address %s in the network %s", (address, normalized, network) => {
    expect([normalizeAddress(address), getClientNetwork(address)]).toEqual([normalized, network]);
  });
});
