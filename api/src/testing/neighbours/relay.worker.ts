/**
 * A relay (relay.ts), as a thread: says on which port it listens, is told whom it leads to, and by
 * null to end.
 */
import { connect, createServer, type Socket } from "node:net";
import { parentPort } from "node:worker_threads";

let ports: readonly number[] = [];
let nextIndex = 0;
const sockets = new Set<Socket>();
parentPort?.on("message", (next: readonly number[] | null) => {
  if (next === null) closeAll();
  else ports = next;
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
  ports = [];
  server.close();
  for (const socket of sockets) socket.destroy();
  parentPort?.close();
}

/** A socket that is being shut down cannot be reset: Node 24 would keep it for ever. */
function reset(socket: Socket): void {
  if (socket.writableEnded) socket.destroy();
  else socket.resetAndDestroy();
}

function trackSocket(socket: Socket): Socket {
  sockets.add(socket);
  return socket.once("close", () => sockets.delete(socket));
}

function forward(client: Socket, attempts: number): void {
  const port = ports[nextIndex++ % Math.max(ports.length, 1)];
  if (port === undefined || attempts >= ports.length) {
    reset(client);
    return;
  }
  const upstream = trackSocket(connect({ host: "127.0.0.1", port, noDelay: true }));
  upstream.once("error", () => {
    forward(client, attempts + 1);
  });
  upstream.once("connect", () => {
    upstream.removeAllListeners("error");
    pipeBoth(client, upstream);
  });
}

function pipeBoth(client: Socket, upstream: Socket): void {
  client.pipe(upstream).pipe(client);
  for (const [source, target] of [
    [client, upstream],
    [upstream, client],
  ] as const) {
    source.on("error", () => {
      reset(target);
    });
    source.once("close", () => {
      target.destroySoon();
    });
  }
}
