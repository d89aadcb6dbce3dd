import type { Pool } from "pg";
import { Gauge, type Registry } from "prom-client";

/** Connections of a pool. */
export interface ConnectionCounts {
  readonly used: number;
  readonly idle: number;
  /** Callers that wait for a connection. */
  readonly waiting: number;
}

export function countConnections(pool: Pool): ConnectionCounts {
  return { used: pool.totalCount - pool.idleCount, idle: pool.idleCount, waiting: pool.waitingCount };
}

/**
 * Measures a pool of connections to the database, under names of OpenTelemetry's semantic
 * conventions.
 */
export function measurePool(registry: Registry, count: () => ConnectionCounts): void {
  new Gauge({
    name: "db_client_connection_count",
    help: "Connections to the database by state",
    labelNames: ["state"],
    registers: [registry],
    collect() {
      const { used, idle } = count();
      this.set({ state: "used" }, used);
      this.set({ state: "idle" }, idle);
    },
  });
  new Gauge({
    name: "db_client_connection_pending_requests",
    help: "Calls that wait for a connection to the database",
    registers: [registry],
    collect() {
      this.set(count().waiting);
    },
  });
}
