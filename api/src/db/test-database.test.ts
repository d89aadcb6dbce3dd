import { Client } from "pg";

import { createTestDatabase } from "@relicario/tooling/database/for-tests";

async function connectToFreshDatabase() {
  const database = await createTestDatabase("nothing", () => Promise.resolve());
  const client = new Client({ connectionString: database.url });
  const errors: Error[] = [];
  client.on("error", (error) => errors.push(error));
  await client.connect();
  return { database, client, errors };
}

describe("a test's database", () => {
  it("is dropped without cutting a connection that is still to be closed", async () => {
    const { database, client, errors } = await connectToFreshDatabase();
    const dropPromise = database.drop();
    const findDropStatement = () =>
      client.query("select 1 from pg_stat_activity where query like 'drop database%' || current_database() || '%'");
    while ((await findDropStatement()).rowCount === 0);
    await client.end();
    await dropPromise;
    expect(errors).toEqual([]);
  });

  it("is dropped at once where a test wants it cut", async () => {
    const { database, client } = await connectToFreshDatabase();
    await database.forceDrop();
    await expect(client.query("select 1")).rejects.toThrow();
    await database.drop();
    await client.end();
  });
});
