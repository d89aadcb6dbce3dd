import { createServer, type Server } from "node:http";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { startService, type TestService } from "../testing/service.ts";
import type { Person } from "../testing/person.ts";

const buildInvoice = (id: string, issuedAt: string) => ({
  id,
  number: `2026-${id}`,
  issued_at: issuedAt,
  amount: "12.10",
  currency: "EUR",
  state: "paid",
  href: `https://billing.example.org/${id}`,
});
const record = {
  plan: "family",
  invoices: [buildInvoice("1", "2026-09-01T00:00:00.000Z"), buildInvoice("2", "2026-10-01T00:00:00.000Z")],
};
const readBilling = async (service: TestService, { token }: Person) => service.call("GET", "/user/billing", token);

describe("GET /user/billing", () => {
  let folder: string;
  let service: TestService;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "relicario-billing-"));
    service = await startService({ BILLING_URL: folder });
  });
  afterAll(async () => {
    await service.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it("returns the free plan, no invoices and the usage for an account unknown to the operator", async () => {
    const { body } = await readBilling(service, await service.signIn());
    expect(body).toEqual({
      plan: "free",
      use: { storage_quota: 10 * 1024 ** 3, storage_used: 0, secrets: 0, shares: 0 },
      invoices: [],
    });
  });

  it("returns the account's file, newest invoice first", async () => {
    const [person, otherUser] = [await service.signIn(), await service.signIn()];
    await writeFile(join(folder, `${person.userId}.json`), JSON.stringify(record));
    expect((await readBilling(service, person)).body).toMatchObject({
      plan: "family",
      invoices: [{ id: "2" }, { id: "1" }],
    });
    expect((await readBilling(service, otherUser)).body).toMatchObject({ plan: "free", invoices: [] });
  });

  it.each([
    ["no JSON", "{"],
    [
      "an address that is no https",
      JSON.stringify({ ...record, invoices: [{ ...record.invoices[0], href: "javascript:alert(1)" }] }),
    ],
    ["an amount in words", JSON.stringify({ ...record, invoices: [{ ...record.invoices[0], amount: "twelve" }] })],
    ["an unknown member", JSON.stringify({ ...record, card: "4111" })],
  ])("returns no data from a record with %s", async (_, text) => {
    const person = await service.signIn();
    await writeFile(join(folder, `${person.userId}.json`), text);
    expect(await readBilling(service, person)).toMatchObject({ status: 503, body: { code: "service_unavailable" } });
  });
});

describe("a billing system over HTTP", () => {
  const responses = new Map<string, { status: number; text: string }>();
  const authorizations: (string | undefined)[] = [];
  let server: Server;
  let service: TestService;
  beforeAll(async () => {
    server = createServer((request, response) => {
      authorizations.push(request.headers.authorization);
      const { status, text } = responses.get(request.url ?? "") ?? { status: 404, text: "" };
      response.writeHead(status, { location: "/elsewhere" }).end(text);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("no port");
    service = await startService({
      BILLING_URL: `http://127.0.0.1:${String(address.port)}/accounts/`,
      BILLING_TOKEN: "a token of the operator",
    });
  });
  afterAll(async () => {
    await service.stop();
    await new Promise((resolve) => {
      server.closeAllConnections();
      server.close(resolve);
    });
  });

  it("is called with only the account's id and the token; 404 means the free plan", async () => {
    const person = await service.signIn();
    expect((await readBilling(service, person)).body).toMatchObject({ plan: "free", invoices: [] });
    responses.set(`/accounts/${person.userId}`, { status: 200, text: JSON.stringify(record) });
    expect((await readBilling(service, person)).body).toMatchObject({ plan: "family" });
    expect(new Set(authorizations)).toEqual(new Set(["Bearer a token of the operator"]));
  });

  it.each([
    ["fails", { status: 500, text: "" }],
    ["sends elsewhere", { status: 302, text: "" }],
    ["answers without end", { status: 200, text: JSON.stringify({ ...record, plan: "x".repeat(600 * 1024) }) }],
  ])("is reported unavailable when it %s, without the token in the log", async (_, billingResponse) => {
    const person = await service.signIn();
    responses.set(`/accounts/${person.userId}`, billingResponse);
    expect(await readBilling(service, person)).toMatchObject({ status: 503, body: { code: "service_unavailable" } });
    expect(service.readLog()).not.toContain("a token of the operator");
  });
});
