/**
 * Static servers of several remotes in one process, each on its own port. Environment:
 * STATIC_SERVERS, a JSON list. Lines on stdin open and close servers; after each, the process
 * prints which are open.
 */
import { createInterface } from "node:readline";

import type { FastifyInstance } from "fastify";

import { jsonSetting, readEnvironment } from "./environment.ts";
import { buildRemoteServer } from "./remote-server.ts";
import { collectGarbage, getPort, stopOnSignals } from "./serve.ts";
import { StaticServerCommand, StaticServers, type StaticServerStatus } from "./static-servers.ts";

const { STATIC_SERVERS: configuredServers } = readEnvironment("static servers", {
  STATIC_SERVERS: jsonSetting(StaticServers),
});
const ports = new Map(configuredServers.map(({ name, port }) => [name, port])); // reused when a server opens again
const openServers = new Map<string, FastifyInstance>();
stopOnSignals(() => [...openServers.values()]);

for (const { name, openAtStart } of configuredServers) if (openAtStart) await executeCommand({ action: "open", name });
console.log(JSON.stringify({ ready: true, port: 0 })); // each server has its own port, printed above
collectGarbage();

let pendingCommands = Promise.resolve();
createInterface({ input: process.stdin }).on("line", (line) => {
  pendingCommands = pendingCommands.then(() => executeCommand(StaticServerCommand.parse(JSON.parse(line))));
});

async function executeCommand({ action, name }: StaticServerCommand): Promise<void> {
  const app = openServers.get(name);
  const settings = configuredServers.find((server) => server.name === name);
  if (action === "close" && app !== undefined) {
    openServers.delete(name);
    app.server.closeAllConnections();
    await app.close();
  }
  if (action === "open" && app === undefined && settings !== undefined) {
    const server = await buildRemoteServer({ folder: settings.folder });
    await server.listen({ host: "127.0.0.1", port: ports.get(name) ?? 0 });
    ports.set(name, getPort(server));
    openServers.set(name, server);
  }
  const status: StaticServerStatus = {
    serving: Object.fromEntries([...openServers].map(([serverName, server]) => [serverName, getPort(server)])),
  };
  console.log(JSON.stringify(status));
}
