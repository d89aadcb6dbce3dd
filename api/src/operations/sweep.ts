import type { FastifyBaseLogger } from "fastify";
import type { Counter } from "prom-client";

import { deleteDueAccounts } from "../account/delete-due-accounts.ts";
import { deleteExpiredActivity } from "../activity/queries.ts";
import type { OpenDatabase } from "../db/database.ts";
import { deleteExpiredLinks } from "../device-links/queries.ts";
import { describeError, type ErrorDescription } from "../http/logging.ts";
import { deleteExpiredFeedback } from "../feedback/queries.ts";
import { deleteFormerKeyringParts } from "../keyring/collector.ts";
import { deleteExpiredStages } from "../keyring/stage.ts";
import { collectOrphans } from "../objects/orphaned-objects.ts";
import { deleteExpiredReports } from "../reports/share-report.ts";
import { dropCollectedAnswers, dropExpiredDocuments, deleteExpiredAnswers } from "../requests/collector.ts";
import { dropTrashedContents, warnBeforeDropping } from "../secrets/trash-collector.ts";
import type { Services } from "../services.ts";
import { warnBeforeExpiry } from "../shares/expiry-warning.ts";
import { deleteExpiredClaims, dropExpiredTickets } from "../shares/collector.ts";
import { deleteArchivedData } from "../reset-account/collector.ts";
import { deleteExpiredMeasurements } from "../telemetry/sums.ts";
import { deleteExpiredUploads } from "../uploads/cancel.ts";
import { deleteExpiredValidations } from "../users/contact-address.ts";
import { remindOfCopyChecks } from "../users/copy-check-reminder.ts";
import { deleteReleasedNames } from "../users/user-name.ts";
import type { SweepContext } from "./sweep-context.ts";

export interface SweepDeps {
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
const steps: Readonly<Record<string, (services: Services, context: SweepContext) => Promise<unknown>>> = {
  accounts: ({ db }, context) => deleteDueAccounts(db, context),
  warnings: ({ db, mailer }, context) => warnBeforeDropping(db, mailer, context),
  rehearsals: ({ db, mailer }, context) => remindOfCopyChecks(db, mailer, context),
  shares_ending: ({ db, mailer }, context) => warnBeforeExpiry(db, mailer, context),
  trash: ({ db }, context) => dropTrashedContents(db, context),
  set_aside: ({ db }, context) => deleteArchivedData(db, context),
  uploads: ({ db }, context) => deleteExpiredUploads(db, context),
  stages: ({ db }, context) => deleteExpiredStages(db, context),
  answers: ({ db }, context) => deleteExpiredAnswers(db, context),
  collected: ({ db }, context) => dropCollectedAnswers(db, context),
  documents: ({ db }, context) => dropExpiredDocuments(db, context),
  tickets: ({ db }, context) => dropExpiredTickets(db, context),
  claims: ({ db }, context) => deleteExpiredClaims(db, context),
  reports: ({ db }, context) => deleteExpiredReports(db, context),
  feedback: ({ db }, context) => deleteExpiredFeedback(db, context),
  former: ({ db }, context) => deleteFormerKeyringParts(db, context),
  questions: ({ db }, context) => deleteExpiredValidations(db, context),
  device_links: ({ db }, context) => deleteExpiredLinks(db, context),
  activity: ({ db }, context) => deleteExpiredActivity(db, context),
  names: ({ db }, context) => deleteReleasedNames(db, context),
  measurements: ({ db }, context) => deleteExpiredMeasurements(db, context),
  rate_limits: ({ limiter }, context) => limiter.sweep(context),
  objects: ({ db, objects }, context) => collectOrphans(db, objects, context),
};

/**
 * Removes what is due, in one process at a time, then sends the mails that are. A step that fails,
 * or an item of one, is counted and logged, is due again the next time, and holds up nothing else.
 * Never throws.
 *
 * @returns false when another process is at it, or none could be.
 */
export async function sweep({ services, database, failures, log, stopping }: SweepDeps): Promise<boolean> {
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
      for (const [step, run] of Object.entries(steps)) {
        if (!signal.aborted) await runStep(step, (attempt) => run(services, { now: services.now(), signal, attempt }));
      }
    });
  });
  await runStep("mails", () => services.mailer.deliver());
  return hasRun;
}
