import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server } from "node:http";

import { createTestDatabase } from "@relicario/tooling/database/test-database";

import {
  createEnvironment,
  demoAccount,
  findFreePort,
  requireCode,
  SignInRequest,
  startProcess,
  Visitor,
} from "../identity/test-support.ts";
import { buildSecret, createPerson } from "../testing/person.ts";
import { prepareServiceProcess } from "../testing/process.ts";

jest.setTimeout(120_000); // processes start, on a machine that may be busy

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string };
}
interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: readonly Attribute[];
}
interface Traces {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly Span[] }[] }[];
}

/** A collector of OTLP over HTTP. */
let collector: Server;
let receivedBodies: string[] = [];
let variables: Readonly<Record<string, string>>;
beforeAll(async () => {
  collector = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      receivedBodies.push(Buffer.concat(chunks).toString());
      response.setHeader("content-type", "application/json").end("{}");
    });
  }).listen(0, "127.0.0.1");
  await once(collector, "listening");
  const address = collector.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  variables = {
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${String(address.port)}`,
    OTEL_SERVICE_NAME: "tested",
  };
});
afterAll(() => collector.close());
beforeEach(() => {
  receivedBodies = [];
});

const readSpans = (): Span[] =>
  receivedBodies.flatMap((body) =>
    (JSON.parse(body) as Traces).resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
  );

async function waitForSpan(name: string): Promise<Span> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    const span = readSpans().find((candidate) => candidate.name === name);
    if (span !== undefined) return span;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(
    `no span ${name}: ${readSpans()
      .map((span) => span.name)
      .join(", ")}`,
  );
}

describe("traces", () => {
  it("show a call of the service with its statements, under the id of its request, and nothing that was sent", async () => {
    const service = await prepareServiceProcess();
    try {
      Object.assign(service.variables, variables);
      const { url } = await service.start();
      const token = await service.signIn(url, "planted-subject");
      const person = createPerson("planted-subject", token);
      const { body } = buildSecret(person, { bytes: 2_000 });
      const response = await fetch(`${url}/secrets/store?planted-query=1`, {
        method: "POST",
        headers: {
          "content-type": "application/json",
          authorization: `Bearer ${token}`,
          tracestate: "a=planted",
          "user-agent": "planted agent",
        },
        body: JSON.stringify(body),
      });
      expect(response.status).toBe(200);
      await fetch(`${url}/share/planted-share`);
      await fetch(`${url}/vendors/planted-vendor`);
      await fetch(`${url}/planted-path`);
      const { traceId, spanId, attributes } = await waitForSpan("POST /secrets/store");
      await waitForSpan("GET /vendors/:id");
      expect(traceId).toBe(response.headers.get("x-request-id"));
      expect(attributes).toContainEqual({ key: "http.route", value: { stringValue: "/secrets/store" } });
      const statements = readSpans().filter((span) => span.traceId === traceId && span.parentSpanId === spanId);
      expect(statements.map(({ name }) => name)).toEqual(expect.arrayContaining(["BEGIN", "INSERT secrets", "COMMIT"]));
      for (const value of ["planted", token, body.secret_db_id, body.label, body.ticket, "insert into", "127.0.0.1/"])
        expect([value, receivedBodies.some((text) => text.includes(value))]).toEqual([value, false]);
    } finally {
      await service.stop();
    }
  });

  it("show a sign-in at the identity provider, without names, codes and ids", async () => {
    const database = await createTestDatabase("identity_empty", () => Promise.resolve());
    const environment = await createEnvironment(database.url, await findFreePort());
    const provider = await startProcess({ ...environment, ...variables });
    try {
      const request = new SignInRequest(environment["IDENTITY_ISSUER"] ?? "");
      const visitor = new Visitor();
      const page = await visitor.submit(await visitor.get(request.buildUrl()), {
        name: demoAccount.email,
        password: demoAccount.password,
      });
      const code = requireCode(page);
      expect((await request.redeem(code)).status).toBe(200);
      await waitForSpan("POST /realms/relicario/*");
      expect(readSpans().some((span) => span.name.startsWith("SELECT "))).toBe(true);
      const planted = [
        code,
        request.state,
        request.nonce,
        demoAccount.email,
        demoAccount.password,
        ...visitor.cookies(),
      ];
      for (const value of planted)
        expect([value, receivedBodies.some((text) => text.includes(value))]).toEqual([value, false]);
    } finally {
      await provider.stop();
      await database.drop();
    }
  });

  it("are loaded only with an endpoint", () => {
    const script = `import { registerHooks } from "node:module";
      const urls = [];
      registerHooks({ load: (url, context, next) => (urls.push(url), next(url, context)) });
      const { startTracing } = await import("@relicario/tooling/tracing");
      await startTracing();
      process.stdout.write(String(urls.some((url) => url.includes("opentelemetry"))));`;
    const isLoaded = (environment: Readonly<Record<string, string>>): string =>
      spawnSync(process.execPath, ["--disable-warning=ExperimentalWarning", "--input-type=module", "--eval", script], {
        cwd: __dirname,
        env: { PATH: process.env["PATH"], ...environment },
        encoding: "utf8",
      }).stdout;
    expect([isLoaded({}), isLoaded({ OTEL_EXPORTER_OTLP_ENDPOINT: "" }), isLoaded(variables)]).toEqual([
      "false",
      "false",
      "true",
    ]);
  });
});
