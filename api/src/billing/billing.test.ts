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

  it("is the free plan and no invoices, with what is used, for whom the operator's system does not know", async () => {
    const { body } = await readBilling(service, await service.signIn());
    expect(body).toEqual({
      plan: "free",
      use: { storage_quota: 10 * 1024 ** 3, storage_used: 0, secrets: 0, shares: 0 },
      invoices: [],
    });
  });

  it("is what stands in the account's file, the newest invoice first", async () => {
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
    ["a member that nobody knows", JSON.stringify({ ...record, card: "4111" })],
  ])("passes nothing on of a record with %s", async (_, text) => {
    const person = await service.signIn();
    await writeFile(join(folder, `${person.userId}.json`), text);
    expect(await readBilling(service, person)).toMatchObject({ status: 503, body: { code: "service_unavailable" } });
  });
});

describe("an operator's billing system over HTTP", () => {
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

  it("is asked for the account alone, with the token, and 404 is the free plan", async () => {
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
  ])("is unavailable when it %s, and the token stays out of the log", async (_, billingResponse) => {
    const person = await service.signIn();
    responses.set(`/accounts/${person.userId}`, billingResponse);
    expect(await readBilling(service, person)).toMatchObject({ status: 503, body: { code: "service_unavailable" } });
    expect(service.log()).not.toContain("a token of the operator");
  });
});
