import type { FastifyBaseLogger } from "fastify";
import { Counter, Gauge, type Registry } from "prom-client";
import { describeError, type ErrorDescription } from "@relicario/tooling/http";

import type { Database } from "../db/database.ts";
import type { Resource } from "../resource/resource.ts";
import type { SweepContext } from "../resource/sweep-context.ts";
import type { Services } from "../services/services.ts";

export interface SweepDeps {
  readonly resources: readonly Resource<Services>[];
  readonly services: Services;
  readonly database: Database;
  readonly metrics: SweepMetrics;
  readonly log: FastifyBaseLogger;
  /** Aborted when the process stops. */
  readonly stopSignal: AbortSignal;
}

export interface SweepMetrics {
  /** Failed items and steps, which stay due. */
  readonly failures: Counter<"step">;
  readonly lastEnd: Gauge;
}

export function createSweepMetrics(registry: Registry): SweepMetrics {
  return {
    failures: new Counter({
      name: "relicario_sweep_failures_total",
      help: "Failed items and steps of sweeps, by step",
      labelNames: ["step"],
      registers: [registry],
    }),
    lastEnd: new Gauge({
      name: "relicario_sweep_last_end_timestamp_seconds",
      help: "When this process ended a sweep, which only one process does at a time; 0 before the first",
      registers: [registry],
    }),
  };
}

/**
 * Deletes due data, in one process at a time, then sends due mails. A failing step or item is
 * counted, logged and retried by the next sweep; the others continue. Never throws.
 *
 * @returns false when another process is sweeping or the lock is not available.
 */
export async function sweep({ resources, services, database, metrics, log, stopSignal }: SweepDeps): Promise<boolean> {
  const runStep = async (step: string, run: (attempt: SweepContext["attempt"]) => Promise<unknown>): Promise<void> => {
    const outcome: { failed: number; failure?: ErrorDescription } = { failed: 0 };
    const attempt: SweepContext["attempt"] = async (item) => {
      try {
        await item();
        return true;
      } catch (error) {
        outcome.failed += 1;
        outcome.failure ??= describeError(error); // keeps the first of possibly thousands
        return false;
      }
    };
    await attempt(() => run(attempt));
    if (outcome.failed === 0) return;
    metrics.failures.inc({ step }, outcome.failed);
    log.error({ step, ...outcome }, "not all of the sweep was done");
  };

  let hasRun = false;
  await runStep("lock", async () => {
    hasRun = await database.runExclusively(async (lockSignal) => {
      const signal = AbortSignal.any([lockSignal, stopSignal]);
      for (const [step, run] of resources.flatMap(({ sweeps = {} }) => Object.entries(sweeps))) {
        if (!signal.aborted) await runStep(step, (attempt) => run(services, { now: services.now(), signal, attempt }));
      }
    });
    if (hasRun) metrics.lastEnd.setToCurrentTime();
  });
  await runStep("mails", () => services.mailer.deliver());
  return hasRun;
}
