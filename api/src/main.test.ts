import { once } from "node:events";

import { createTestDatabase } from "@relicario/tooling/database/test-database";
import { Client } from "pg";

import { buildSecret, createPerson } from "./testing/person.ts";
import { prepareServiceProcess, type ServiceProcess } from "./testing/process.ts";

jest.setTimeout(120_000); // three processes start, on a machine that may be busy

let service: ServiceProcess;
beforeEach(async () => {
  service = await prepareServiceProcess();
});
afterEach(() => service.stop());

const postJson = (address: string, path: string, token: string, body: unknown): Promise<Response> =>
  fetch(`${address}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify(body),
  });

describe("the process", () => {
  it("reports missing settings in one line, and exits", async () => {
    delete service.variables["DATABASE_URL"];
    service.variables["RECORD_KEY"] = "short";
    await expect(service.start()).rejects.toThrow(
      /^it ended: The service cannot start: DATABASE_URL is missing; RECORD_KEY is not 32 bytes in base64url, or several separated by commas\n$/,
    );
  });

  it("migrates the database through the migration URL, and uses the other URL for calls", async () => {
    const emptyDatabase = await createTestDatabase("service_empty", () => Promise.resolve());
    try {
      service.variables["DATABASE_MIGRATION_URL"] = emptyDatabase.url;
      const { url } = await service.start();
      expect((await fetch(`${url}/readyz`)).status).toBe(200);
      expect(await service.signIn(url, "ana")).toMatch(/./);
      const client = new Client({ connectionString: emptyDatabase.url });
      await client.connect();
      const { rows } = await client.query("select count(*)::int as accounts from accounts");
      await client.end();
      expect(rows).toEqual([{ accounts: 0 }]); // the schema exists, the account that signed in does not
    } finally {
      await emptyDatabase.drop();
    }
  });

  it("prints one ready line, answers, and on SIGTERM finishes calls in flight", async () => {
    const { url, child, exited, output } = await service.start();
    const token = await service.signIn(url, "ana");
    const person = createPerson("ana", token);
    const { body } = buildSecret(person, { bytes: 200_000 });
    const pendingResponse = postJson(url, "/secrets/store", token, body);
    const loggedLine = once(child.stdout ?? child, "data"); // the next log line is of this call or of the shutdown
    const response = await pendingResponse;
    await loggedLine;
    child.kill("SIGTERM");
    const [code] = await exited;
    expect([response.status, code]).toEqual([200, 0]);
    expect(output().match(/"ready":true/g)).toHaveLength(1);
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  });
});
