import { once } from "node:events";
import { createServer } from "node:http";

import type { RunningPortal } from "@relicario/tooling/portal";

/**
 * How a static server treats each request: responds with this status, or accepts it and never
 * responds.
 */
export type ServerFault = 404 | 500 | "slow";

/** Replaces a remote's server by a faulty one; returns a function that restores it. */
export async function injectServerFault(
  { processes }: RunningPortal,
  remote: string,
  fault: ServerFault,
): Promise<() => Promise<void>> {
  await processes.kill(remote);
  const server = createServer((_request, response) => {
    if (fault !== "slow") response.writeHead(fault, { "content-type": "text/plain" }).end();
  });
  server.listen(processes.getPort(remote), "127.0.0.1");
  await once(server, "listening");
  return async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
    await processes.start(remote);
  };
}
