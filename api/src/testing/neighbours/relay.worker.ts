/**
 * A relay (relay.ts), as a thread: says on which port it listens, is told whom it leads to, and by
 * null to end.
 */
import { connect, createServer, type Socket } from "node:net";
import { parentPort } from "node:worker_threads";

let targetPorts: readonly number[] = [];
let nextIndex = 0;
const sockets = new Set<Socket>();
parentPort?.on("message", (message: readonly number[] | null) => {
  if (message === null) closeAll();
  else targetPorts = message;
});

const server = createServer({ noDelay: true, allowHalfOpen: false, pauseOnConnect: true }, (client) => {
  client.on("error", () => undefined); // it is gone; its close says the rest
  trackSocket(client);
  forward(client, 0);
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  parentPort?.postMessage(address.port);
});

/** Closes what is open, and the thread with it. */
function closeAll(): void {
  targetPorts = [];
  server.close();
  for (const socket of sockets) socket.destroy();
  parentPort?.close();
}

/** A socket that is being shut down cannot be reset: Node 24 would keep it for ever. */
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
  client.pipe(upstream).pipe(client);
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
