import { once } from "node:events";
import { createServer, type Server } from "node:net";

import type { FastifyInstance } from "fastify";

/** Longest wait for requests under way. */
const shutdownTimeoutMs = 5_000;

/**
 * Prints one JSON line when it listens (`{"ready":true,"port":N}`). Stops on SIGTERM and SIGINT.
 */
export async function serve(app: FastifyInstance, addresses: ListenAddresses): Promise<void> {
  stopOnSignals(() => [app]);
  await listen(app, addresses);
  console.log(JSON.stringify({ ready: true, port: getPort(app) }));
  collectGarbage();
}

interface ListenAddresses {
  readonly host: string;
  readonly port: number;
  /** Another port of the same host. */
  readonly secondPort?: number | undefined;
}

/** One HTTP server handles all connections, so its limits hold for both ports. */
export async function listen(app: FastifyInstance, { host, port, secondPort }: ListenAddresses): Promise<void> {
  const listeners: Server[] = [];
  app.addHook("preClose", async () => {
    for (const listener of listeners) listener.close();
  });
  await app.listen({ host, port });
  if (secondPort === undefined) return;
  for (const address of app.addresses()) {
    if (typeof address === "string") continue; // no port, such as a socket's path
    const listener = createServer({ allowHalfOpen: true, noDelay: true }, (socket) =>
      app.server.emit("connection", socket),
    );
    listeners.push(listener);
    listener.listen({ host: address.address, port: secondPort });
    await once(listener, "listening");
  }
}

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

/** Frees what an idle V8 keeps of the start, if Node has --expose-gc. */
export function collectGarbage(): void {
  globalThis.gc?.({ type: "major", execution: "sync", flavor: "last-resort" });
}

export function getPort(app: FastifyInstance): number {
  const address = app.server.address();
  if (address === null || typeof address === "string") throw new TypeError("not listening on a port");
  return address.port;
}
