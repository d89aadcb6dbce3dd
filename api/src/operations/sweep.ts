import type { FastifyBaseLogger } from "fastify";
import type { Counter } from "prom-client";

import { deleteDueAccounts } from "../account/delete-due.ts";
import { dropOldActivity } from "../activity/queries.ts";
import type { OpenDatabase } from "../db/database.ts";
import { dropOldLinks } from "../device-links/queries.ts";
import { factsOf, type FailureFacts } from "../http/logging.ts";
import { dropOldFeedback } from "../feedback/queries.ts";
import { dropFormer } from "../keyring/former-collector.ts";
import { dropOldStages } from "../keyring/stage.ts";
import { collect } from "../objects/loose.ts";
import { dropOldReports } from "../reports/share-report.ts";
import { dropCollected, dropOldDocuments, dropUnfinishedAnswers } from "../requests/collector.ts";
import { dropTrashed, warnOfDropping } from "../secrets/trash-collector.ts";
import type { Services } from "../services.ts";
import { warnOfEnding } from "../shares/end-warning.ts";
import { dropOldClaims, dropOldTickets } from "../shares/collector.ts";
import { dropSetAside } from "../start-anew/collector.ts";
import { dropOldMeasurements } from "../telemetry/sums.ts";
import { dropExpiredUploads } from "../uploads/remove.ts";
import { dropOldQuestions } from "../users/contact-address.ts";
import { remindOfRehearsals } from "../users/rehearsal-reminder.ts";
import { dropRestedNames } from "../users/user-name.ts";
import type { Sweeping } from "./sweeping.ts";

export interface SweepParts {
  readonly services: Services;
  readonly database: OpenDatabase;
  /** By `step`. */
  readonly failures: Counter<"step">;
  readonly log: FastifyBaseLogger;
  /** Aborted when the process stops. */
  readonly stopping: AbortSignal;
}

/**
 * In this order: objects come last, so that what was dropped before them goes in the same sweep.
 */
const steps: Readonly<Record<string, (services: Services, sweeping: Sweeping) => Promise<unknown>>> = {
  accounts: ({ db }, sweeping) => deleteDueAccounts(db, sweeping),
  warnings: ({ db, mailer }, sweeping) => warnOfDropping(db, mailer, sweeping),
  rehearsals: ({ db, mailer }, sweeping) => remindOfRehearsals(db, mailer, sweeping),
  shares_ending: ({ db, mailer }, sweeping) => warnOfEnding(db, mailer, sweeping),
  trash: ({ db }, sweeping) => dropTrashed(db, sweeping),
  set_aside: ({ db }, sweeping) => dropSetAside(db, sweeping),
  uploads: ({ db }, sweeping) => dropExpiredUploads(db, sweeping),
  stages: ({ db }, sweeping) => dropOldStages(db, sweeping),
  answers: ({ db }, sweeping) => dropUnfinishedAnswers(db, sweeping),
  collected: ({ db }, sweeping) => dropCollected(db, sweeping),
  documents: ({ db }, sweeping) => dropOldDocuments(db, sweeping),
  tickets: ({ db }, sweeping) => dropOldTickets(db, sweeping),
  claims: ({ db }, sweeping) => dropOldClaims(db, sweeping),
  reports: ({ db }, sweeping) => dropOldReports(db, sweeping),
  feedback: ({ db }, sweeping) => dropOldFeedback(db, sweeping),
  former: ({ db }, sweeping) => dropFormer(db, sweeping),
  questions: ({ db }, sweeping) => dropOldQuestions(db, sweeping),
  device_links: ({ db }, sweeping) => dropOldLinks(db, sweeping),
  activity: ({ db }, sweeping) => dropOldActivity(db, sweeping),
  names: ({ db }, sweeping) => dropRestedNames(db, sweeping),
  measurements: ({ db }, sweeping) => dropOldMeasurements(db, sweeping),
  rate_limits: ({ limiter }, sweeping) => limiter.sweep(sweeping),
  objects: ({ db, objects }, sweeping) => collect(db, objects, sweeping),
};

/**
 * Removes what is due, in one process at a time, then sends the mails that are. A step that fails,
 * or an item of one, is counted and logged, is due again the next time, and holds up nothing else.
 * Never throws.
 *
 * @returns false when another process is at it, or none could be.
 */
export async function sweep({ services, database, failures, log, stopping }: SweepParts): Promise<boolean> {
  const doStep = async (step: string, work: (attempt: Sweeping["attempt"]) => Promise<unknown>): Promise<void> => {
    const seen: { failed: number; failure?: FailureFacts } = { failed: 0 };
    const attempt: Sweeping["attempt"] = async (item) => {
      try {
        await item();
        return true;
      } catch (error) {
        seen.failed += 1;
        seen.failure ??= factsOf(error); // the first of what may be thousands
        return false;
      }
    };
    await attempt(() => work(attempt));
    if (seen.failed === 0) return;
    failures.inc({ step }, seen.failed);
    log.error({ step, ...seen }, "not all of the sweep was done");
  };

  let ran = false;
  await doStep("lock", async () => {
    ran = await database.oneAtATime(async (held) => {
      const signal = AbortSignal.any([held, stopping]);
      for (const [step, work] of Object.entries(steps)) {
        if (!signal.aborted) await doStep(step, (attempt) => work(services, { now: services.now(), signal, attempt }));
      }
    });
  });
  await doStep("mails", () => services.mailer.deliver());
  return ran;
}
