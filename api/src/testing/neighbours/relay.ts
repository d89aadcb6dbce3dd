import { connect, createServer, type Server, type Socket } from "node:net";

/** A port that stays, in front of servers that come and go: each connection goes to the next one that answers. */
export interface Relay {
  readonly port: number;
  /** Ports on 127.0.0.1, from now on. */
  lead(ports: readonly number[]): void;
  stop(): Promise<void>;
}

/** As a load balancer for TCP does it: no bytes are looked at, and one end that closes or resets closes the other. */
export async function startRelay(): Promise<Relay> {
  let ports: readonly number[] = [];
  let turn = 0;
  const open = new Set<Socket>();

  const pass = (client: Socket, tried: number): void => {
    const port = ports[turn++ % Math.max(ports.length, 1)];
    if (port === undefined || tried >= ports.length) {
      client.resetAndDestroy();
      return;
    }
    const server = connect({ host: "127.0.0.1", port, noDelay: true });
    server.once("error", () => {
      pass(client, tried + 1);
    });
    server.once("connect", () => {
      server.removeAllListeners("error");
      join(client, server);
    });
  };
  const join = (client: Socket, server: Socket): void => {
    open.add(server);
    client.pipe(server).pipe(client);
    for (const [one, other] of [[client, server], [server, client]] as const) {
      one.on("error", () => other.resetAndDestroy());
      one.once("close", () => {
        open.delete(one);
        other.destroySoon();
      });
    }
  };

  const server: Server = createServer({ noDelay: true, allowHalfOpen: false, pauseOnConnect: true }, (client) => {
    open.add(client);
    client.on("error", () => undefined); // it is gone; its close says the rest
    pass(client, 0);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  return {
    port: address.port,
    lead: (next) => {
      ports = next;
    },
    stop: () =>
      new Promise((stopped) => {
        server.close(() => {
          stopped();
        });
        for (const socket of open) socket.destroy();
      }),
  };
}
