/**
 * The static servers of several remotes in one process, each at an address of its own, for one
 * machine. Environment: STATIC_SERVERS, a JSON list. Lines on standard input open and close one of
 * them; each time the process says what is open.
 */
import { createInterface } from "node:readline";

import type { FastifyInstance } from "fastify";

import { json, readEnvironment } from "./environment.ts";
import { buildRemoteServer } from "./remote-server.ts";
import { collect, portOf, stopWith } from "./serve.ts";
import { ServingOrder, StaticServers, type Serving } from "./static-servers.ts";

const { STATIC_SERVERS: known } = readEnvironment("static servers", { STATIC_SERVERS: json(StaticServers) });
const ports = new Map(known.map(({ name, port }) => [name, port])); // kept when one is opened again
const open = new Map<string, FastifyInstance>();
stopWith(() => [...open.values()]);

for (const { name, wanted } of known) if (wanted) await obey({ act: "open", name });
console.log(JSON.stringify({ ready: true, port: 0 })); // each has its own, said above
collect();

let last = Promise.resolve();
createInterface({ input: process.stdin }).on("line", (line) => {
  last = last.then(() => obey(ServingOrder.parse(JSON.parse(line))));
});

async function obey({ act, name }: ServingOrder): Promise<void> {
  const app = open.get(name);
  const settings = known.find((each) => each.name === name);
  if (act === "close" && app !== undefined) {
    open.delete(name);
    app.server.closeAllConnections();
    await app.close();
  }
  if (act === "open" && app === undefined && settings !== undefined) {
    const opened = await buildRemoteServer({ folder: settings.folder });
    await opened.listen({ host: "127.0.0.1", port: ports.get(name) ?? 0 });
    ports.set(name, portOf(opened));
    open.set(name, opened);
  }
  const serving: Serving = { serving: Object.fromEntries([...open].map(([each, server]) => [each, portOf(server)])) };
  console.log(JSON.stringify(serving));
}
