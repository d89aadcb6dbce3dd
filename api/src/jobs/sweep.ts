import type { FastifyBaseLogger } from "fastify";
import { Counter, type Registry } from "prom-client";

import type { Database } from "../db/database.ts";
import { describeError, type ErrorDescription } from "../http/logging.ts";
import type { Resource } from "../resource/resource.ts";
import type { SweepContext } from "../resource/sweep-context.ts";
import type { Services } from "../services/services.ts";

export interface SweepDeps {
  readonly resources: readonly Resource<Services>[];
  readonly services: Services;
  readonly database: Database;
  /** By `step`. */
  readonly failures: Counter<"step">;
  readonly log: FastifyBaseLogger;
  /** Aborted when the process stops. */
  readonly stopping: AbortSignal;
}

/** Items and steps of sweeps that were not done, and are due again. */
export function createSweepFailureCounter(registry: Registry): Counter<"step"> {
  return new Counter({
    name: "relicario_sweep_failures_total",
    help: "What a sweep could not do, by step",
    labelNames: ["step"],
    registers: [registry],
  });
}

/**
 * Removes what is due, in one process at a time, then sends the mails that are. A step that fails,
 * or an item of one, is counted and logged, is due again the next time, and holds up nothing else.
 * Never throws.
 *
 * @returns false when another process is at it, or none could be.
 */
export async function sweep({ resources, services, database, failures, log, stopping }: SweepDeps): Promise<boolean> {
  const runStep = async (step: string, run: (attempt: SweepContext["attempt"]) => Promise<unknown>): Promise<void> => {
    const outcome: { failed: number; failure?: ErrorDescription } = { failed: 0 };
    const attempt: SweepContext["attempt"] = async (item) => {
      try {
        await item();
        return true;
      } catch (error) {
        outcome.failed += 1;
        outcome.failure ??= describeError(error); // the first of what may be thousands
        return false;
      }
    };
    await attempt(() => run(attempt));
    if (outcome.failed === 0) return;
    failures.inc({ step }, outcome.failed);
    log.error({ step, ...outcome }, "not all of the sweep was done");
  };

  let hasRun = false;
  await runStep("lock", async () => {
    hasRun = await database.runExclusively(async (lockSignal) => {
      const signal = AbortSignal.any([lockSignal, stopping]);
      for (const [step, run] of resources.flatMap(({ sweeps = {} }) => Object.entries(sweeps))) {
        if (!signal.aborted) await runStep(step, (attempt) => run(services, { now: services.now(), signal, attempt }));
      }
    });
  });
  await runStep("mails", () => services.mailer.deliver());
  return hasRun;
}
