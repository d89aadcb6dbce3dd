import { describeError } from "@relicario/tooling/http";
import { startTracing } from "@relicario/tooling/tracing";

import { buildApp } from "./app.ts";
import { UnfitDatabaseError } from "./db/database.ts";
import { migrateDatabase } from "./db/migrate.ts";
import { EnvironmentError, parseEnv, type Env } from "./env/env.ts";

const sweepIntervalMilliseconds = 10 * 60_000;

async function main(): Promise<void> {
  await startTracing();
  const env = readEnv();
  await migrateDatabase(env.DATABASE_MIGRATION_URL ?? env.DATABASE_URL);
  const app = await buildApp(env);

  let stopPromise: Promise<void> | null = null;
  const stop = (): void => {
    clearInterval(sweepTimer);
    stopPromise ??= app.stop().then(
      () => process.exit(0),
      (error: unknown) => fail(error),
    );
  };
  const sweep = (): void => {
    void app.sweep(); // logs its failures
  };
  const sweepTimer = setInterval(sweep, sweepIntervalMilliseconds);
  process.once("SIGTERM", stop);
  process.once("SIGINT", stop);

  await app.http.listen({ host: env.API_HOST, port: env.API_PORT });
  const address = app.http.server.address();
  const port = address === null || typeof address === "string" ? env.API_PORT : address.port;
  process.stdout.write(`${JSON.stringify({ ready: true, port })}\n`);
  sweep();
  // With --expose-gc: frees the 120 MB that starting left and V8 keeps while idle.
  globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" });
}

function readEnv(): Env {
  try {
    return parseEnv(process.env);
  } catch (error) {
    if (!(error instanceof EnvironmentError)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(78); // EX_CONFIG
  }
}

function fail(error: unknown): never {
  if (error instanceof UnfitDatabaseError) {
    process.stderr.write(`The service cannot start: ${error.message}\n`);
    process.exit(78); // EX_CONFIG
  }
  process.stderr.write(`${JSON.stringify({ ready: false, failure: describeError(error) })}\n`);
  process.exit(1);
}

main().catch(fail);
