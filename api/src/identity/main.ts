import { parseSettings } from "./env.ts";
import { createLog, describeError } from "./log.ts";
import { startIdentityProvider } from "./server.ts";

const log = createLog();

try {
  const server = await startIdentityProvider(parseSettings(process.env), log);
  let isStopping = false;
  const stop = (): void => {
    if (isStopping) return;
    isStopping = true;
    void server.stop().then(() => {
      log.info("stopped");
    });
  };
  process.once("SIGTERM", stop);
  process.once("SIGINT", stop);
  process.stdout.write(`${JSON.stringify({ ready: true, port: server.port })}\n`); // whoever reads it may end us
  globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" }); // as the service does
} catch (error) {
  // Our own lines name no values; whatever else went wrong may.
  const isExpected = error instanceof Error && error.message.startsWith("identity provider: ");
  if (isExpected) process.stderr.write(`${error.message}\n`);
  else log.error("cannot start", describeError(error));
  process.exitCode = 1;
}
