import { createTestDatabase, type TestDatabase } from "@relicario/tooling/database/test-database";

import { openFaultInjector, startDatabaseProxy, type DatabaseProxy } from "../testing/database-faults.ts";
import { openPool } from "./database.ts";

let database: TestDatabase;
let proxy: DatabaseProxy;
beforeEach(async () => {
  database = await createTestDatabase("empty_template", () => Promise.resolve());
  proxy = await startDatabaseProxy(database.url);
});
afterEach(async () => {
  await proxy.close();
  await database.drop();
});

describe("openPool", () => {
  it("fails on an unresponsive database, and recovers", async () => {
    const pool = openPool(proxy.url, () => undefined, 1);
    await pool.query("select 1");
    proxy.stall();
    await expect(pool.query("select 1")).rejects.toThrow("timeout");
    proxy.resume();
    expect((await pool.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
    await pool.end();
  });

  it("survives the loss of a connection in use", async () => {
    const connectionErrors: Error[] = [];
    const pool = openPool(database.url, (error) => connectionErrors.push(error));
    const client = await pool.connect();
    const faultInjector = await openFaultInjector(database.url);
    const connectionEnded = new Promise((resolve) => client.once("end", resolve));
    expect(await faultInjector.terminate("all")).toBe(1);
    await connectionEnded;
    client.release(true);
    expect(connectionErrors.length).toBeGreaterThan(0);
    await faultInjector.close();
    await pool.end();
  });
});
