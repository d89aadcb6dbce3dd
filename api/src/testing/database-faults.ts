import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";

import { Client } from "pg";

/**
 * A second client of the service's database: locks tables and terminates the service's connections.
 */
export interface FaultInjector {
  query(text: string): Promise<Record<string, unknown>[]>;
  /** Blocks all other access to the table until `release`. */
  lockTable(table: string): Promise<void>;
  release(): Promise<void>;
  /** Waits until this many connections wait for a locked table. */
  waitForBlocked(count: number): Promise<void>;
  /** Terminates connections of the service, those waiting for a table or all. @returns how many */
  terminate(target: "waiting" | "all"): Promise<number>;
  close(): Promise<void>;
}

const otherConnections = "datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'";
const blockedConnections = `${otherConnections} and wait_event_type = 'Lock'`;

export async function openFaultInjector(url: string): Promise<FaultInjector> {
  const client = new Client({ connectionString: url });
  client.on("error", () => undefined); // a failing test drops the database first
  await client.connect();
  const query: FaultInjector["query"] = async (text) => (await client.query<Record<string, unknown>>(text)).rows;
  return {
    query,
    async lockTable(table) {
      await query("begin");
      await query(`lock table ${table} in access exclusive mode`);
    },
    async release() {
      await query("commit");
    },
    async waitForBlocked(count) {
      while ((await query(`select 1 from pg_stat_activity where ${blockedConnections}`)).length < count)
        await query("select pg_stat_clear_snapshot()");
    },
    async terminate(target) {
      return (
        await query(
          `select pg_terminate_backend(pid) from pg_stat_activity where ${target === "all" ? otherConnections : blockedConnections}`,
        )
      ).length;
    },
    close: () => client.end(),
  };
}

/**
 * A proxy to the real database that can stop forwarding without closing anything, like a cut
 * network or a stopped server.
 */
export interface DatabaseProxy {
  /** The database's address through the proxy. */
  readonly url: string;
  stall(): void;
  resume(): void;
  close(): Promise<void>;
}

export async function startDatabaseProxy(url: string): Promise<DatabaseProxy> {
  let isStalled = false;
  const proxy = await startProxy(url, (client, upstream) => {
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on("data", (chunk) => to.write(chunk));
      if (isStalled) from.pause();
    }
  });
  return {
    url: proxy.url,
    stall() {
      isStalled = true;
      for (const socket of proxy.sockets) socket.pause();
    },
    resume() {
      isStalled = false;
      for (const socket of proxy.sockets) socket.resume();
    },
    close: proxy.close,
  };
}

interface Proxy {
  /** The database's address through the proxy. */
  readonly url: string;
  readonly sockets: ReadonlySet<Socket>;
  readonly close: () => Promise<void>;
}

/** @param forward passes on the bytes of a new connection, both ways */
export async function startProxy(url: string, forward: (client: Socket, upstream: Socket) => void): Promise<Proxy> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => undefined); // "close" follows
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    forward(client, upstream);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const proxyUrl = new URL(url);
  proxyUrl.host = `127.0.0.1:${String(address === null || typeof address === "string" ? "" : address.port)}`;
  return {
    url: proxyUrl.href,
    sockets,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await yieldToEventLoop();
    },
  };
}
