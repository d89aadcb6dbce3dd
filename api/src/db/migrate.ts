import { fileURLToPath } from "node:url";

import { drizzle } from "drizzle-orm/node-postgres";
import { migrate } from "drizzle-orm/node-postgres/migrator";
import { Client } from "pg";

export const migrationsFolder = fileURLToPath(new URL("migrations", import.meta.url));

/** Any number, the same in every release. */
const migrationLockKey = 7_235_001;

/**
 * Brings the database to this release's schema. Processes that start at once take turns by an
 * advisory lock; the later ones find nothing to do. The lock belongs to the connection, so a killed
 * process gives it back.
 */
export async function migrateDatabase(url: string, folder: string = migrationsFolder): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on("error", () => undefined); // the query under way says so
  await client.connect();
  try {
    await client.query("set client_min_messages = warning"); // "already exists, skipping" is no news
    await client.query("select pg_advisory_lock($1)", [migrationLockKey]);
    await migrate(drizzle(client), { migrationsFolder: folder });
  } finally {
    await client.end();
  }
}
