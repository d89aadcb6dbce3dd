import { Client } from "pg";

import { freshDatabase } from "@relicario/tooling/database/for-tests";

async function connected() {
  const database = await freshDatabase("nothing", () => Promise.resolve());
  const client = new Client({ connectionString: database.url });
  const failed: Error[] = [];
  client.on("error", (error) => failed.push(error));
  await client.connect();
  return { database, client, failed };
}

describe("a test's database", () => {
  it("is dropped without cutting a connection that is still to be closed", async () => {
    const { database, client, failed } = await connected();
    const dropped = database.drop();
    const dropping = () =>
      client.query("select 1 from pg_stat_activity where query like 'drop database%' || current_database() || '%'");
    while ((await dropping()).rowCount === 0);
    await client.end();
    await dropped;
    expect(failed).toEqual([]);
  });

  it("is dropped at once where a test wants it cut", async () => {
    const { database, client } = await connected();
    await database.cut();
    await expect(client.query("select 1")).rejects.toThrow();
    await database.drop();
    await client.end();
  });
});
