/* oxlint-disable @typescript-eslint/no-unsafe-argument, @typescript-eslint/no-unsafe-member-access, @typescript-eslint/no-unnecessary-type-assertion --
   drizzle-kit's types import packages that are not installed, so the linter cannot resolve them;
   tsc checks this file */
import { execFile } from "node:child_process";
import { cp, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { createTestDatabase } from "@relicario/tooling/database/test-database";
import { generateDrizzleJson, generateMigration } from "drizzle-kit/api";
import { Client } from "pg";
import { v7 as uuidv7 } from "uuid";

import { migrateDatabase, migrationsFolder } from "./migrate.ts";
import * as schema from "./schema.ts";

const execFileAsync = promisify(execFile);

const emptyDatabase = () => createTestDatabase("empty_template", () => Promise.resolve());

interface Journal {
  readonly entries: readonly { readonly idx: number }[];
}

const readJournal = async (folder: string): Promise<Journal> =>
  JSON.parse(await readFile(join(folder, "meta/_journal.json"), "utf8")) as Journal;

/** Applies the first migrations only, from a copy in an empty folder. */
async function applyFirstMigrations(count: number, url: string, folder: string): Promise<void> {
  await cp(migrationsFolder, folder, { recursive: true });
  const journal = await readJournal(folder);
  await writeFile(
    join(folder, "meta/_journal.json"),
    JSON.stringify({ ...journal, entries: journal.entries.slice(0, count) }),
  );
  await migrateDatabase(url, folder);
}

type Snapshot = Parameters<typeof generateMigration>[0];

const readLastSnapshot = async (): Promise<Snapshot> => {
  const { entries } = await readJournal(migrationsFolder);
  const lastIndex = String(entries.at(-1)?.idx).padStart(4, "0");
  return JSON.parse(await readFile(join(migrationsFolder, `meta/${lastIndex}_snapshot.json`), "utf8")) as Snapshot;
};

const queryRows = async (url: string, text: string): Promise<unknown[]> => {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text)).rows;
  } finally {
    await client.end();
  }
};

describe("migrations", () => {
  it("match the schema: nothing is left to generate", async () => {
    const snapshot = await readLastSnapshot();
    const currentSchema = generateDrizzleJson(schema as Record<string, unknown>, snapshot.id);
    expect(await generateMigration(snapshot, currentSchema)).toEqual([]);
  });

  it("differ from a schema that lacks one of their tables", async () => {
    const snapshot = await readLastSnapshot();
    const { secrets: _, ...schemaWithoutSecrets } = schema;
    const currentSchema = generateDrizzleJson(schemaWithoutSecrets as Record<string, unknown>, snapshot.id);
    expect(await generateMigration(snapshot, currentSchema)).not.toEqual([]);
  });

  it("keep contents stored before uploads were split into parts", async () => {
    const database = await emptyDatabase();
    const folder = await mkdtemp(join(tmpdir(), "relicario-migrations-"));
    try {
      await applyFirstMigrations(1, database.url, folder);
      await queryRows(
        database.url,
        `insert into secret_versions (account_id, secret_id, version, ticket, object_key, content_sha256, size, created_at)
         values ('${uuidv7()}', '${uuidv7()}', 3, 'a', 'the key', 'b', 700, now())`,
      );
      await migrateDatabase(database.url);
      expect(
        await queryRows(
          database.url,
          "select ticket_sha256 = sha256('a'::bytea) as digest, dropped_at from secret_versions",
        ),
      ).toEqual([{ digest: true, dropped_at: null }]);
      expect(
        await queryRows(
          database.url,
          "select v.version, v.part_size::int, o.part, o.object_key, o.sha256 = v.content_sha256 as digest from secret_versions v join version_objects o using (account_id, secret_id, version)",
        ),
      ).toEqual([{ version: 3, part_size: 700, part: 1, object_key: "the key", digest: true }]);
    } finally {
      await database.drop();
      await rm(folder, { recursive: true });
    }
  });

  it("add sealed data, which earlier releases did not count, to the storage used", async () => {
    const database = await emptyDatabase();
    const folder = await mkdtemp(join(tmpdir(), "relicario-migrations-"));
    const [firstId, secondId] = [uuidv7(), uuidv7()];
    try {
      await applyFirstMigrations(4, database.url, folder);
      await queryRows(
        database.url,
        `insert into accounts (id, vendor_id, user_name, username, storage_used) values ('${firstId}', 'v', 'one', 'one', 1000), ('${secondId}', 'v', 'two', 'two', 0);
         insert into secrets (account_id, id, version, label, size, created_at, updated_at, change) values ('${firstId}', '${uuidv7()}', 2, 'label', 600, now(), now(), 1);
         insert into secret_versions (account_id, secret_id, version, ticket, ticket_sha256, content_sha256, size, part_size, created_at, dropped_at)
           values ('${firstId}', '${uuidv7()}', 1, null, '', '', 300, 300, now(), now()), ('${firstId}', '${uuidv7()}', 2, 'tick', '', '', 600, 600, now(), null);
         insert into uploads (account_id, id, secret_id, size, part_size, expires_at, published_version)
           values ('${firstId}', '${uuidv7()}', '${uuidv7()}', 400, 400, now(), null), ('${firstId}', '${uuidv7()}', '${uuidv7()}', 600, 600, now(), 2);
         insert into keyrings (account_id, key_epoch, state_rev, state, book, shares, key_statement, last_change_sha256, last_call_sha256, updated_at)
           values ('${firstId}', 1, 1, 's', 'bo', 'sha', 'stat', '', '', now());
         insert into keyring_states values ('${firstId}', 1, 's', now());
         insert into keyring_former values ('${firstId}', 1, 'book', '', 'former', now());
         insert into slots values ('${firstId}', '${uuidv7()}', 'image', 'slot');
         insert into image_records values ('${firstId}', '${uuidv7()}', 'record', now())`,
      );
      await migrateDatabase(database.url);
      const expectedStorageUsed = 5 + 600 + 4 + 400 + (1 + 2 + 3 + 4) + 1 + 6 + 4 + 6;
      expect(
        await queryRows(database.url, "select user_name, storage_used::int from accounts order by user_name"),
      ).toEqual([
        { user_name: "one", storage_used: expectedStorageUsed },
        { user_name: "two", storage_used: 0 },
      ]);
    } finally {
      await database.drop();
      await rm(folder, { recursive: true });
    }
  });

  it("run once when four processes start together, and change nothing when run again", async () => {
    const database = await emptyDatabase();
    try {
      const script = `import { migrateDatabase } from ${JSON.stringify(join(__dirname, "migrate.ts"))}; await migrateDatabase(process.env.URL_OF_TEST);`;
      const startMigration = () =>
        execFileAsync(process.execPath, ["--input-type=module", "-e", script], {
          env: { ...process.env, URL_OF_TEST: database.url },
        });
      await Promise.all([startMigration(), startMigration(), startMigration(), startMigration()]);
      const appliedMigrations = await queryRows(database.url, "select hash from drizzle.__drizzle_migrations");
      await migrateDatabase(database.url);
      expect(await queryRows(database.url, "select hash from drizzle.__drizzle_migrations")).toEqual(appliedMigrations);
      expect(appliedMigrations).toHaveLength((await readJournal(migrationsFolder)).entries.length);
    } finally {
      await database.drop();
    }
  });

  it("put account_id first in the primary key of every table that belongs to accounts", async () => {
    const database = await emptyDatabase();
    try {
      await migrateDatabase(database.url);
      const rows = (await queryRows(
        database.url,
        `select c.relname as table, a.attname as "firstColumn" from pg_index i join pg_class c on c.oid = i.indrelid
         join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
         where i.indisprimary and c.relnamespace = 'public'::regnamespace order by 1`,
      )) as { table: string; firstColumn: string }[];
      const directoryKeys = new Map([
        ["accounts", "id"],
        ["identities", "vendor_id"],
        ["user_names", "vendor_id"],
        ["public_ids", "public_id"],
        ["rate_limits", "subject"],
        ["measurements", "remote"],
      ]);
      expect(rows.length).toBeGreaterThan(10);
      for (const { table, firstColumn } of rows)
        expect([table, firstColumn]).toEqual([table, directoryKeys.get(table) ?? "account_id"]);
    } finally {
      await database.drop();
    }
  });

  it("are applied by their command, before a release's processes start", async () => {
    const database = await emptyDatabase();
    try {
      const command = join(__dirname, "../commands/migrate-command.ts");
      const { stdout } = await execFileAsync(process.execPath, [command], {
        env: { DATABASE_URL: "postgresql://of-no-rights.invalid/portal", DATABASE_MIGRATION_URL: database.url },
      });
      expect(stdout).toBe("the database has this release's schema\n");
      const { entries } = await readJournal(migrationsFolder);
      expect(await queryRows(database.url, "select 1 from drizzle.__drizzle_migrations")).toHaveLength(entries.length);
    } finally {
      await database.drop();
    }
  });
});
