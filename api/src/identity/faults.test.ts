import { createTestDatabase, type TestDatabase } from "@relicario/tooling/database/test-database";
import { Client } from "pg";

import { startDatabaseProxy, type DatabaseProxy } from "../testing/database-faults.ts";
import { createEnvironment, findFreePort, SignInRequest, startProcess, Visitor } from "./test-support.ts";

let database: TestDatabase;
let proxy: DatabaseProxy;
beforeEach(async () => {
  database = await createTestDatabase("identity_empty", () => Promise.resolve());
  proxy = await startDatabaseProxy(database.url);
});
afterEach(async () => {
  await proxy.close();
  await database.drop();
});

describe("the identity provider without its database", () => {
  it("answers 503 with Retry-After, and /healthz at once", async () => {
    const environment = await createEnvironment(proxy.url, await findFreePort());
    const issuer = environment["IDENTITY_ISSUER"] ?? "";
    const identityProcess = await startProcess(environment);
    const signInPage = await new Visitor().get(new SignInRequest(issuer).buildUrl());
    await proxy.close();
    const pages = [
      await new Visitor().get(new SignInRequest(issuer).buildUrl()),
      await new Visitor().get(signInPage.url), // without its cookies: expired, before the database is asked
      await new Visitor().get(new URL("/readyz", issuer)),
    ];
    expect(pages.map(({ status, headers }) => [status, headers.get("retry-after")])).toEqual([
      [503, "3"],
      [400, null],
      [503, "3"],
    ]);
    const token = await new SignInRequest(issuer).redeem("some-code");
    expect([token.status, token.headers.get("retry-after")]).toEqual([503, "3"]);
    expect((await fetch(new URL("/healthz", issuer))).status).toBe(200);
    await identityProcess.stop();
  });
});

describe("two million expired rows", () => {
  it("are deleted while the process already listens", async () => {
    const environment = await createEnvironment(database.url, await findFreePort());
    await (await startProcess(environment)).stop(); // migrates
    const client = new Client({ connectionString: database.url });
    await client.connect();
    await client.query(`insert into provider_records (model, id, payload, expires_at)
      select 'Interaction', 'i' || n, '{}', now() - interval '2 hours' from generate_series(1, 2000000) n`);
    const countRows = async () =>
      Number((await client.query<{ count: string }>("select count(*) from provider_records")).rows[0]?.count);
    const identityProcess = await startProcess(environment);
    expect(await countRows()).toBeGreaterThan(0); // it listens before it has deleted all
    const page = await new Visitor().get(new SignInRequest(environment["IDENTITY_ISSUER"] ?? "").buildUrl());
    expect(page.status).toBe(200);
    let remaining = await countRows();
    while (remaining > 1) remaining = await countRows(); // the row of that page remains
    expect(await identityProcess.stop()).toBe(0);
    await client.end();
  }, 240_000);
});
