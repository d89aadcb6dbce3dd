import type { FastifyBaseLogger } from "fastify";
import { Gauge, type Registry } from "prom-client";

/** Machines whose clocks the service can compare with its own. */
type ClockPeer = "identity_provider" | "database";

/** Seconds that a clock may differ before the difference is logged. */
const toleratedSeconds = 30;

export interface ClockSkews {
  /** @param seconds that the peer's clock is ahead of this process's */
  observe(peer: ClockPeer, seconds: number): void;
  /** Whole seconds, as last observed; 0 before. */
  get(peer: ClockPeer): number;
}

/**
 * Stores the last difference of each clock, also as a metric; logs when a clock leaves the
 * tolerance.
 */
export function createClockSkews(registry: Registry, log: FastifyBaseLogger): ClockSkews {
  const secondsByPeer = new Map<ClockPeer, number>();
  const gauge = new Gauge({
    name: "relicario_clock_skew_seconds",
    help: "Seconds that another machine's clock is ahead of this process's, by peer",
    labelNames: ["peer"],
    registers: [registry],
  });
  const get: ClockSkews["get"] = (peer) => secondsByPeer.get(peer) ?? 0;
  return {
    get,
    observe(peer, exactSeconds) {
      const seconds = Math.round(exactSeconds);
      const [wasTolerated, isTolerated] = [get(peer), seconds].map((value) => Math.abs(value) <= toleratedSeconds);
      secondsByPeer.set(peer, seconds);
      gauge.set({ peer }, seconds);
      if (!isTolerated && wasTolerated) log.warn({ peer, seconds }, "a clock differs from this machine's");
      if (isTolerated && !wasTolerated) log.info({ peer, seconds }, "a clock agrees with this machine's again");
    },
  };
}
