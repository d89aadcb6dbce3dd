/** Many people behind few addresses: what the gateway's limits let through. */
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Agent, createServer, get, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { findFullestMinute, generateArrivals, simulatePeak, type SimulatedCall } from "../testing/office.ts";
import { buildGateway } from "./gateway.ts";
import { ServeLimits } from "./limits.ts";
import { getPort } from "./serve.ts";

const people = 50_000;
const morningSeconds = 1_800;
/** Of a browser to one origin, over HTTP/1.1. */
const connectionsOfBrowser = 6;
/** A visible page reads the deployment document every 45 s, so one connection of it stays. */
const visibleSeconds = 600;
/** The server closes a connection that is unused so long. */
const keepAliveSeconds = 72;
/** A first visit after a release, with nothing in the browser's cache: files, then calls. */
const pageCalls: readonly SimulatedCall[] = [
  ...Array<SimulatedCall>(64).fill({ queue: "files", milliseconds: 3 }),
  ...Array<SimulatedCall>(12).fill({ queue: "service", milliseconds: 20 }),
];

/** Most connections of an address at a time. */
function countConnections(arrivals: readonly number[]): number {
  const changes = arrivals.flatMap((arrival) => [
    { at: arrival, connections: connectionsOfBrowser },
    { at: arrival + keepAliveSeconds, connections: 1 - connectionsOfBrowser },
    { at: arrival + visibleSeconds + keepAliveSeconds, connections: -1 },
  ]);
  let [open, most] = [0, 0];
  for (const { connections } of changes.toSorted((a, b) => a.at - b.at)) most = Math.max(most, (open += connections));
  return most;
}

/** At one of the gateways, to which a load balancer sends people in turns. */
const simulate = (addresses: number, gateways: number, limits: ServeLimits) => {
  const arrivals = generateArrivals(people / addresses, morningSeconds).filter((_, index) => index % gateways === 0);
  return {
    arrivalsInMinute: findFullestMinute(arrivals).length,
    connections: countConnections(arrivals),
    ...simulatePeak({ arrivals, calls: pageCalls, lanes: connectionsOfBrowser, networkMilliseconds: 50, limits }),
  };
};

describe("50,000 people who open the portal within half an hour", () => {
  // the table of docs/operations.md
  it.each([
    [4, 1, { connectionsOfAddress: 16_000 }],
    [2, 1, { connectionsOfAddress: 32_000, turnsOfAddress: 16 }],
    [1, 1, { connectionsOfAddress: 60_000, turnsOfAddress: 32 }],
    [4, 2, { connectionsOfAddress: 8_000 }],
    [2, 2, { connectionsOfAddress: 16_000 }],
    [1, 2, { connectionsOfAddress: 32_000, turnsOfAddress: 16 }],
  ])(
    "behind %i addresses all get in through %i gateways with %j, and wait for no one",
    (addresses, gateways, settings) => {
      const limits = ServeLimits.parse(settings);
      const { connections, refusedCalls, longestWaitMs } = simulate(addresses, gateways, limits);
      expect(refusedCalls).toBe(0);
      expect(longestWaitMs).toBeLessThan(100);
      expect(connections).toBeLessThan(limits.connectionsOfAddress);
      expect(connections).toBeGreaterThan(limits.connectionsOfAddress * 0.8); // the table says no more than needed
    },
  );

  it("are refused behind one address with the usual limits", () => {
    expect(simulate(1, 1, ServeLimits.parse({})).refusedCalls).toBeGreaterThan(1_000);
  });
});

describe("500 people behind one address", () => {
  it("are all answered at the same moment, with the usual limits", async () => {
    const folder = mkdtempSync(join(tmpdir(), "office-"));
    mkdirSync(join(folder, "vault/static"), { recursive: true });
    for (const file of ["index.html", "vault/controller.html", "vault/element.html"])
      writeFileSync(join(folder, file), '<!doctype html><script type="application/json" id="portal-page"></script>');
    const service = createServer((_request, response) => {
      response.writeHead(200, { "content-type": "application/json" }).end("{}");
    }).listen(0, "127.0.0.1");
    await once(service, "listening");
    const origin = "http://localhost:3000";
    const gateway = await buildGateway({
      ...{ origin, vaultOrigin: "http://localhost:3004", identityOrigin: origin, apiBase: `${origin}/api` },
      ...{ hostFolder: folder, deploymentsFolder: folder, remoteAddresses: new Map() },
      trustAnchors: { vendor_id: "relicario", portal_keys: [], team_keys: {} },
      serviceAddress: `http://127.0.0.1:${String((service.address() as AddressInfo).port)}`,
      logFailure: () => undefined,
    });
    await gateway.listen({ host: "127.0.0.1", port: 0 });
    const agents = Array.from({ length: 500 }, () => new Agent({ keepAlive: true, maxSockets: 1 }));
    const call = async (agent: Agent): Promise<number | undefined> => {
      const [response] = (await once(
        get({ agent, host: "127.0.0.1", port: getPort(gateway), path: "/api/x" }),
        "response",
      )) as [IncomingMessage];
      response.resume();
      await once(response, "end");
      return response.statusCode;
    };
    try {
      for (let round = 0; round < 5; round++)
        expect(new Set(await Promise.all(agents.map(call)))).toEqual(new Set([200]));
    } finally {
      for (const agent of agents) agent.destroy();
      await gateway.close();
      service.close();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
