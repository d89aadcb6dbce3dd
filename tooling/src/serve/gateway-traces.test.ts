import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";

import { z } from "zod";

const Span = z.object({ name: z.string(), traceId: z.string(), spanId: z.string() });
const Traces = z.object({
  resourceSpans: z.array(z.object({ scopeSpans: z.array(z.object({ spans: z.array(Span) })) })),
});

const traceparents: unknown[] = [];
const exportedBodies: string[] = [];
const gatewayLog: string[] = [];
const servers: Server[] = [];
let folder: string;
let gateway: ChildProcess;
let gatewayUrl: string;

async function startServer(onRequest: (request: IncomingMessage) => Promise<void> | void): Promise<string> {
  const server = createServer((request, response) => {
    Promise.resolve(onRequest(request)).then(
      () => response.setHeader("content-type", "application/json").end("{}"),
      () => response.destroy(), // its process ended meanwhile
    );
  }).listen(0, "127.0.0.1");
  servers.push(server);
  await once(server, "listening");
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? String(address?.port) : ""}`;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "gateway-traces-"));
  mkdirSync(join(folder, "vault"));
  for (const page of ["index.html", "vault/controller.html", "vault/element.html"])
    writeFileSync(join(folder, page), '<!doctype html><script type="application/json" id="portal-page"></script>');
  const serviceUrl = await startServer(({ headers }) => {
    traceparents.push(headers["traceparent"]);
  });
  const collectorUrl = await startServer(async (request) => {
    exportedBodies.push(await text(request));
  });
  const origin = "http://localhost:3000";
  gateway = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", join(__dirname, "gateway-main.ts")], {
    env: {
      ...{ GATEWAY_HOST: "127.0.0.1", GATEWAY_PORT: "0", LOG_LEVEL: "debug" },
      ...{ PUBLIC_ORIGIN: origin, VAULT_ORIGIN: "https://vault.portal.example" },
      ...{ API_BASE_URL: `${origin}/api`, IDP_AUTHORITY: `${origin}/realms/relicario` },
      ...{ HOST_FOLDER: folder, DEPLOYMENTS_FOLDER: folder, UPSTREAMS: JSON.stringify({ api: serviceUrl }) },
      PORTAL_PAGE: JSON.stringify({
        vendor_id: "relicario",
        portal_keys: [{ kid: "k", kty: "OKP", crv: "Ed25519", x: "A".repeat(43) }],
        team_keys: {},
      }),
      OTEL_EXPORTER_OTLP_ENDPOINT: collectorUrl,
    },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const port = await new Promise<number>((resolve, reject) => {
    gateway.once("exit", () => reject(new Error("the gateway has not started")));
    createInterface({ input: gateway.stdout ?? process.stdin }).on("line", (line) => {
      const ready = z.object({ port: z.int() }).safeParse(JSON.parse(line));
      if (ready.success) resolve(ready.data.port);
      else gatewayLog.push(line);
    });
  });
  gatewayUrl = `http://127.0.0.1:${String(port)}`;
}, 60_000);

afterAll(() => {
  gateway.kill();
  for (const server of servers) server.close();
  rmSync(folder, { recursive: true, force: true });
});

const readSpans = (): z.infer<typeof Span>[] =>
  exportedBodies.flatMap((body) =>
    Traces.parse(JSON.parse(body)).resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
  );

async function waitForSpan(name: string): Promise<z.infer<typeof Span>> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const span = readSpans().find((candidate) => candidate.name === name);
    if (span !== undefined) return span;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`no span ${name} among ${JSON.stringify(readSpans())}`);
}

it("a call's span is the parent of what the service records, under the id that the log has", async () => {
  const headers = {
    authorization: "Bearer planted",
    traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    tracestate: "a=planted",
    "user-agent": "planted agent",
  };
  await fetch(`${gatewayUrl}/api/secrets/planted-id?planted=1`, { headers });
  await fetch(`${gatewayUrl}/planted.js`, { headers });
  const { traceId, spanId } = await waitForSpan("GET /api/*");
  await waitForSpan("GET /*");
  expect(traceparents).toEqual([`00-${traceId}-${spanId}-01`]);
  expect(traceId).not.toBe("4bf92f3577b34da6a3ce929d0e0e4736"); // a stranger's
  expect(gatewayLog.filter((line) => line.includes(`"request_id":"${traceId}"`))).toHaveLength(1);
  expect([...exportedBodies, ...gatewayLog].join("")).not.toMatch(/planted|4bf92f3577b34da6/);
});
