import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";

import { Client } from "pg";

/**
 * Somebody beside the service on its database: holds tables, and ends the service's connections as
 * an operator does.
 */
export interface FaultInjector {
  query(text: string): Promise<Record<string, unknown>[]>;
  /** Nobody else reads or writes the table until `release`. */
  lockTable(table: string): Promise<void>;
  release(): Promise<void>;
  /** Waits until so many connections of the service wait for a held table. */
  waitForBlocked(count: number): Promise<void>;
  /** Ends those that wait for a table, or all of the service. @returns how many. */
  terminate(target: "waiting" | "all"): Promise<number>;
  close(): Promise<void>;
}

const otherConnections = "datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'";
const blockedConnections = `${otherConnections} and wait_event_type = 'Lock'`;

export async function openFaultInjector(url: string): Promise<FaultInjector> {
  const client = new Client({ connectionString: url });
  client.on("error", () => undefined); // the database is dropped under it when a test fails
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
 * A way to the real database that can stop forwarding, as a cut network or a stopped server does:
 * nothing is closed.
 */
export interface DatabaseProxy {
  /** The database's address by way of the proxy. */
  readonly url: string;
  stall(): void;
  resume(): void;
  close(): Promise<void>;
}

export async function startDatabaseProxy(url: string): Promise<DatabaseProxy> {
  const target = new URL(url);
  const sockets = new Set<Socket>();
  let isStalled = false;
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on("data", (chunk) => to.write(chunk));
      from.on("error", () => undefined); // "close" follows
      from.on("close", () => {
        sockets.delete(from);
        to.destroy();
      });
      if (isStalled) from.pause();
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  const proxyUrl = new URL(url);
  proxyUrl.host = `127.0.0.1:${String(address === null || typeof address === "string" ? "" : address.port)}`;
  return {
    url: proxyUrl.href,
    stall() {
      isStalled = true;
      for (const socket of sockets) socket.pause();
    },
    resume() {
      isStalled = false;
      for (const socket of sockets) socket.resume();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await yieldToEventLoop();
    },
  };
}
