import { once } from "node:events";

import { startDatabaseProxy, type DatabaseProxy } from "../testing/database-faults.ts";
import { createServiceDatabase, startService, type TestService } from "../testing/service.ts";
import type { TestDatabase } from "@relicario/tooling/database/test-database";

let database: TestDatabase;
let proxy: DatabaseProxy;
let service: TestService;
beforeEach(async () => {
  database = await createServiceDatabase();
  proxy = await startDatabaseProxy(database.url);
  service = await startService({ DATABASE_URL: proxy.url, DATABASE_SECONDS: "4", STOP_DRAIN_SECONDS: "3600" });
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

describe("with an unresponsive database, the service", () => {
  it("is alive but not ready, and ready again afterwards", async () => {
    expect((await service.call("GET", "/readyz", null)).status).toBe(200);
    proxy.stall();
    const responses = await Promise.all([1, 2, 3].map(() => service.call("GET", "/readyz", null)));
    for (const response of responses) expect(response).toMatchObject(unavailableResponse);
    expect((await service.call("GET", "/healthz", null)).status).toBe(200);
    proxy.resume();
    expect((await service.call("GET", "/readyz", null)).status).toBe(200);
  });

  it("answers 503 to more calls than it has connections, and loses none of them", async () => {
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

  it("returns every connection whose BEGIN failed", async () => {
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

  it("stops, because answered calls leave no connection open", async () => {
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
