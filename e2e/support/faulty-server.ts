import { once } from "node:events";
import { createServer } from "node:http";

import type { RunningPortal } from "@relicario/tooling/portal";

/**
 * What a static server does to each request: answers with this status, or takes it and says
 * nothing.
 */
export type ServerFault = 404 | 500 | "slow";

/** Puts a server that does nothing else in the place of a remote's own. Returns the way back. */
export async function injectServerFault(
  { processes }: RunningPortal,
  remote: string,
  fault: ServerFault,
): Promise<() => Promise<void>> {
  await processes.kill(remote);
  const server = createServer((_request, response) => {
    if (fault !== "slow") response.writeHead(fault).end();
  });
  server.listen(processes.port(remote), "127.0.0.1");
  await once(server, "listening");
  return async () => {
    server.closeAllConnections();
    server.close();
    await once(server, "close");
    await processes.start(remote);
  };
}
