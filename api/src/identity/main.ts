import { describeError } from "@relicario/tooling/http";
import { startTracing } from "@relicario/tooling/tracing";

import { parseSettings } from "./env.ts";
import { startIdentityProvider } from "./server.ts";

const shutdownGraceMilliseconds = 5_000;

try {
  await startTracing();
  const server = await startIdentityProvider(parseSettings(process.env));
  const stop = (): void => {
    setTimeout(() => process.exit(), shutdownGraceMilliseconds).unref();
    void server.stop(); // idempotent
  };
  process.once("SIGTERM", stop);
  process.once("SIGINT", stop);
  process.stdout.write(`${JSON.stringify({ ready: true, port: server.port })}\n`); // the reader may send SIGTERM from now on
  globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" }); // as in ../main.ts
} catch (error) {
  // Our own messages contain no values; others may.
  const isExpected = error instanceof Error && error.message.startsWith("identity provider: ");
  if (isExpected) process.stderr.write(`${error.message}\n`);
  else process.stderr.write(`${JSON.stringify({ ready: false, failure: describeError(error) })}\n`);
  process.exitCode = 1;
}
