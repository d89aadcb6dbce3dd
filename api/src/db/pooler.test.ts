import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";

import { Client } from "pg";

import { prepareServiceProcess } from "../testing/process.ts";
import { startService } from "../testing/service.ts";

const poolerWithoutStatements = process.env["RELICARIO_TEST_POOLER_WITHOUT_STATEMENTS"] ?? "";
if (poolerWithoutStatements === "") throw new Error("the poolers are missing: npm run test:engines starts them");

/** The address of the service's database through another pooler. */
function replacePooler(url: string): string {
  const address = new URL(poolerWithoutStatements);
  address.pathname = new URL(url).pathname;
  return address.href;
}

describe("behind a pooler that shares connections, the service", () => {
  it("is refused, and says why, where calls would fail", async () => {
    const service = await prepareServiceProcess();
    try {
      const pooledUrl = service.variables["DATABASE_URL"] ?? "";
      const direct = new URL(service.variables["DATABASE_MIGRATION_URL"] ?? "");
      direct.searchParams.set("pooler", "transaction");
      for (const [url, reason] of [
        [replacePooler(pooledUrl), "the pooler keeps no prepared statements"],
        [direct.href, "the pooler keeps no prepared statements"],
      ] as const)
        expect(await readStartFailure({ ...service.variables, DATABASE_URL: url })).toMatch(
          new RegExp(`^The service cannot start: ${reason}`),
        );
      await setLimit(service.query, "statement_timeout", "0");
      expect(await readStartFailure(service.variables)).toMatch(
        /^The service cannot start: the database's role has no limits: alter role … set statement_timeout = 10000\n$/,
      );
      await setLimit(service.query, "statement_timeout", "10s");
      await service.start();
    } finally {
      await service.stop();
    }
  });

  it("is not ready, and says why, when its address does not name the pooler", async () => {
    const service = await prepareServiceProcess();
    try {
      const url = new URL(service.variables["DATABASE_URL"] ?? "");
      url.searchParams.delete("pooler");
      service.variables["DATABASE_URL"] = url.href;
      const response = await fetch(`${(await service.start()).url}/readyz`);
      expect([response.status, await response.json()]).toMatchObject([
        503,
        { detail: "a pooler is in between: add ?pooler=transaction to DATABASE_URL" },
      ]);
    } finally {
      await service.stop();
    }
  });

  it("turns unready, and says why, when the pooler loses its settings", async () => {
    const service = await startService({ DATABASE_SECONDS: "10" });
    try {
      expect(await service.call("GET", "/readyz", null)).toMatchObject({ status: 200, body: { database: "ok" } });
      await setLimit((statement) => runQuery(service.database.url, statement), "lock_timeout", "0");
      let readiness = await service.call("GET", "/readyz", null);
      // a call may still meet the lost connection
      while (String(readiness.body["detail"]).includes("does not answer"))
        readiness = await service.call("GET", "/readyz", null);
      expect(readiness).toMatchObject({
        status: 503,
        body: { detail: "the database's role has no limits: alter role … set lock_timeout = 5000" },
      });
    } finally {
      await service.stop();
    }
  });
});

/** For this database, whose open connections the pooler replaces. */
async function setLimit(query: (statement: string) => Promise<unknown>, name: string, limit: string): Promise<void> {
  await query(
    `do $$ begin execute format('alter role relicario_pooled in database %I set ${name} = %L', current_database(), '${limit}'); end $$`,
  );
  await query(
    "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'relicario_pooled' and datname = current_database()",
  );
}

async function runQuery(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(statement);
  await client.end();
}

async function readStartFailure(variables: Readonly<Record<string, string>>): Promise<string> {
  const child = spawn(process.execPath, [join(__dirname, "../main.ts")], {
    env: { PATH: process.env["PATH"], ...variables },
    stdio: ["ignore", "ignore", "pipe"],
  });
  const [errorOutput] = await Promise.all([text(child.stderr), once(child, "exit")]);
  expect(child.exitCode).toBe(78);
  return errorOutput;
}
