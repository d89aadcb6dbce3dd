import { Client } from "pg";

import { createTestDatabase } from "@relicario/tooling/database/test-database";

async function connectToFreshDatabase() {
  const database = await createTestDatabase("nothing", () => Promise.resolve());
  const client = new Client({ connectionString: database.url });
  const errors: Error[] = [];
  client.on("error", (error) => errors.push(error));
  await client.connect();
  return { database, client, errors };
}

describe("drop of a test database", () => {
  it("waits for connections that are about to close", async () => {
    const { database, client, errors } = await connectToFreshDatabase();
    const dropPromise = database.drop();
    const findDropStatement = () =>
      client.query("select 1 from pg_stat_activity where query like 'drop database%' || current_database() || '%'");
    while ((await findDropStatement()).rowCount === 0);
    await client.end();
    await dropPromise;
    expect(errors).toEqual([]);
  });

  it("cuts connections when told to", async () => {
    const { database, client } = await connectToFreshDatabase();
    await database.forceDrop();
    await expect(client.query("select 1")).rejects.toThrow();
    await database.drop();
    await client.end();
  });
});
