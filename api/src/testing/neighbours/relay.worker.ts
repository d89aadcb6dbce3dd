/**
 * A relay (relay.ts), as a thread: says on which port it listens, is told whom it leads to, and by
 * null to end.
 */
import { connect, createServer, type Socket } from "node:net";
import { parentPort } from "node:worker_threads";

let ports: readonly number[] = [];
let turn = 0;
const sockets = new Set<Socket>();
parentPort?.on("message", (next: readonly number[] | null) => {
  if (next === null) end();
  else ports = next;
});

const server = createServer({ noDelay: true, allowHalfOpen: false, pauseOnConnect: true }, (client) => {
  client.on("error", () => undefined); // it is gone; its close says the rest
  remember(client);
  pass(client, 0);
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  parentPort?.postMessage(address.port);
});

/** Closes what is open, and the thread with it. */
function end(): void {
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

function remember(socket: Socket): Socket {
  sockets.add(socket);
  return socket.once("close", () => sockets.delete(socket));
}

function pass(client: Socket, tried: number): void {
  const port = ports[turn++ % Math.max(ports.length, 1)];
  if (port === undefined || tried >= ports.length) {
    reset(client);
    return;
  }
  const to = remember(connect({ host: "127.0.0.1", port, noDelay: true }));
  to.once("error", () => {
    pass(client, tried + 1);
  });
  to.once("connect", () => {
    to.removeAllListeners("error");
    join(client, to);
  });
}

function join(client: Socket, to: Socket): void {
  client.pipe(to).pipe(client);
  for (const [one, other] of [
    [client, to],
    [to, client],
  ] as const) {
    one.on("error", () => {
      reset(other);
    });
    one.once("close", () => {
      other.destroySoon();
    });
  }
}
