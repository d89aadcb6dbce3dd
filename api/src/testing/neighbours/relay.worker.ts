/** The thread of relay.ts: reports its port, receives orders, and ends on null. */
import { connect, createServer, type Socket } from "node:net";
import { Transform } from "node:stream";
import { parentPort } from "node:worker_threads";

import type { RelayOrder } from "./relay.ts";

let targetPorts: readonly number[] = [];
let delayMs = 0;
let nextIndex = 0;
const sockets = new Set<Socket>();
parentPort?.on("message", (order: RelayOrder | null) => {
  if (order === null) closeAll();
  else ({ ports: targetPorts = targetPorts, delayMilliseconds: delayMs = delayMs } = order);
});

const server = createServer({ noDelay: true, allowHalfOpen: false, pauseOnConnect: true }, (client) => {
  client.on("error", () => undefined); // "close" follows
  trackSocket(client);
  forward(client, 0);
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  parentPort?.postMessage(address.port);
});

/** Closes all connections and the thread. */
function closeAll(): void {
  targetPorts = [];
  server.close();
  for (const socket of sockets) socket.destroy();
  parentPort?.close();
}

/**
 * Resets a connection. Destroys a socket that has already ended, because Node 24 never closes such
 * a socket after `resetAndDestroy()`.
 */
function resetSocket(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}

function trackSocket(socket: Socket): Socket {
  sockets.add(socket);
  return socket.once("close", () => sockets.delete(socket));
}

function forward(client: Socket, attempts: number): void {
  const port = targetPorts[nextIndex++ % Math.max(targetPorts.length, 1)];
  if (port === undefined || attempts >= targetPorts.length) {
    resetSocket(client);
    return;
  }
  const upstream = trackSocket(connect({ host: "127.0.0.1", port, noDelay: true }));
  upstream.once("error", () => {
    forward(client, attempts + 1);
  });
  upstream.once("connect", () => {
    upstream.removeAllListeners("error");
    pipeBothWays(client, upstream);
  });
}

function pipeBothWays(client: Socket, upstream: Socket): void {
  const delay = new Transform({
    transform: (chunk: Buffer, _encoding, callback) => {
      if (delayMs === 0) callback(null, chunk);
      else setTimeout(() => callback(null, chunk), delayMs);
    },
  });
  client.pipe(upstream).pipe(delay).pipe(client);
  for (const [source, target] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    source.on("error", () => {
      resetSocket(target);
    });
    source.once("close", () => {
      target.destroySoon();
    });
  }
}
