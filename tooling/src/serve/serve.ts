import type { FastifyInstance } from "fastify";

/** Longest wait for answers that are under way. */
const shutdownTimeoutMs = 5_000;

/**
 * Listens, says so in one JSON line on stdout (`{"ready":true,"port":N}`), and stops gracefully on
 * SIGTERM and SIGINT.
 */
export async function serve(app: FastifyInstance, { host, port }: { host: string; port: number }): Promise<void> {
  stopOnSignals(() => [app]);
  await app.listen({ host, port });
  console.log(JSON.stringify({ ready: true, port: getPort(app) }));
  collectGarbage();
}

/** Ends the process on SIGTERM and SIGINT, once these have answered. */
export function stopOnSignals(apps: () => readonly FastifyInstance[]): void {
  let stopping = false;
  const stop = (): void => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(0), shutdownTimeoutMs).unref();
    Promise.all(apps().map((app) => app.close())).then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
}

/** Where Node has --expose-gc: gives back what starting left and V8 keeps while nobody calls. */
export function collectGarbage(): void {
  globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" });
}

export function getPort(app: FastifyInstance): number {
  const address = app.server.address();
  if (address === null || typeof address === "string") throw new TypeError("not listening on a port");
  return address.port;
}
