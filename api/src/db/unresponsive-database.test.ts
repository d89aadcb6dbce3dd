import { once } from "node:events";

import { startDatabaseProxy, type DatabaseProxy } from "../testing/database-faults.ts";
import { createServiceDatabase, startService, type TestService } from "../testing/service.ts";
import type { TestDatabase } from "@relicario/tooling/database/for-tests";

let database: TestDatabase;
let proxy: DatabaseProxy;
let service: TestService;
beforeEach(async () => {
  database = await createServiceDatabase();
  proxy = await startDatabaseProxy(database.url);
  service = await startService({ DATABASE_URL: proxy.url, DATABASE_SECONDS: "1", STOP_DRAIN_SECONDS: "3600" });
});
afterEach(async () => {
  proxy.resume();
  await service.stop();
  await proxy.close();
  await database.drop();
});

const unavailableResponse = {
  status: 503,
  body: { code: "service_unavailable" },
  headers: { "retry-after": expect.any(String) as string },
};

describe("a database that accepts and answers nothing", () => {
  it("makes the service not ready, and alive; when it answers again the service is ready", async () => {
    expect((await service.call("GET", "/readyz", null)).status).toBe(200);
    proxy.stall();
    const responses = await Promise.all([1, 2, 3].map(() => service.call("GET", "/readyz", null)));
    for (const answer of responses) expect(answer).toMatchObject(unavailableResponse);
    expect((await service.call("GET", "/healthz", null)).status).toBe(200);
    proxy.resume();
    expect((await service.call("GET", "/readyz", null)).status).toBe(200);
  });

  it("has every call answered 503, more than there are connections, and takes none of them for good", async () => {
    const person = await service.signIn();
    proxy.stall();
    const calls = Array.from({ length: 25 }, () =>
      service.call("POST", "/user/me", person.token, { body: { user_name: `x-${person.subject.slice(0, 20)}` } }),
    );
    for (const answer of await Promise.all(calls)) expect(answer).toMatchObject(unavailableResponse);
    proxy.resume();
    expect((await service.call("POST", "/user/me", person.token, { body: { user_name: "back-again" } })).status).toBe(
      200,
    );
  });

  it("gives back every connection on which a transaction could not begin", async () => {
    const { db } = service.app.services;
    await db.execute("select 1");
    proxy.stall();
    for (const transaction of await Promise.allSettled(
      Array.from({ length: 20 }, () => db.transaction(() => Promise.resolve())),
    ))
      expect(transaction.status).toBe("rejected");
    proxy.resume();
    for (let count = 0; count < 3; count++) await db.transaction(() => Promise.resolve());
  });

  it("does not keep the process from stopping: what was answered 503 leaves no connection open", async () => {
    const person = await service.signIn();
    const address = await service.listen();
    proxy.stall();
    const requestArrived = once(service.app.http.server, "request");
    const answer = fetch(`${address}/user/me`, { headers: { authorization: `Bearer ${person.token}` } });
    await requestArrived;
    await service.app.stop();
    expect((await answer).status).toBe(503);
  });
});
