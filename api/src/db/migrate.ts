import { fileURLToPath } from "node:url";

import { drizzle } from "drizzle-orm/node-postgres";
import { migrate } from "drizzle-orm/node-postgres/migrator";
import { Client } from "pg";

export const migrationsFolder = fileURLToPath(new URL("migrations", import.meta.url));

/** Any number, the same in every release. */
const migrationLockKey = 7_235_001;

/**
 * Migrates the database to this release's schema. Processes that start together wait for each
 * other's advisory lock, which the server releases with the connection of a killed process.
 */
export async function migrateDatabase(url: string, folder: string = migrationsFolder): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on("error", () => undefined); // the pending query rejects
  await client.connect();
  try {
    await client.query("set client_min_messages = warning"); // hides "already exists, skipping"
    await client.query("select pg_advisory_lock($1)", [migrationLockKey]);
    await migrate(drizzle(client), { migrationsFolder: folder });
  } finally {
    await client.end();
  }
}
