import { Gauge, type Registry } from "prom-client";

import type { Database } from "../db/database.ts";

/** Measures the pool of connections to the database. */
export function measurePool(registry: Registry, { countConnections }: Pick<Database, "countConnections">): void {
  new Gauge({
    name: "db_client_connection_count",
    help: "Connections to the database by state",
    labelNames: ["state"],
    registers: [registry],
    collect() {
      const { used, idle } = countConnections();
      this.set({ state: "used" }, used);
      this.set({ state: "idle" }, idle);
    },
  });
  new Gauge({
    name: "db_client_connection_pending_requests",
    help: "Calls that wait for a connection to the database",
    registers: [registry],
    collect() {
      this.set(countConnections().waiting);
    },
  });
}
