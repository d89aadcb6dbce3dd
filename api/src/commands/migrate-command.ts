import { migrateDatabase } from "../db/migrate.ts";
import { runCommand } from "./run-command.ts";

/*
 * `pnpm --filter @relicario/api run migrate`: migrates the database before processes of this
 * release start, as a failed migration then stops none that runs. Needs DATABASE_URL; migrates by
 * DATABASE_MIGRATION_URL if it is set.
 */

runCommand("migrate", async () => {
  const { DATABASE_MIGRATION_URL, DATABASE_URL = "" } = process.env;
  await migrateDatabase(DATABASE_MIGRATION_URL ?? DATABASE_URL);
  return "the database has this release's schema";
});
