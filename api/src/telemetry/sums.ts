import { telemetryBucketBounds, type TelemetrySums } from "@relicario/shared/api";
import { gte, lt, sql } from "drizzle-orm";

import type { Db } from "../db/database.ts";
import { measurements } from "../db/schema.ts";
import { deleteInBatches, type SweepContext } from "../resource/sweep-context.ts";
import type { Services } from "../services/services.ts";
import type { MeasurementLabels } from "./known-releases.ts";

/** Sums are kept for so long. */
const measurementRetentionDays = 30;
/** The operator is shown those of so many days. */
const reportedDays = 7;

export interface Measurement extends MeasurementLabels {
  readonly phase: string;
  readonly code: string;
  /** None where there is nothing to measure. */
  readonly value?: number | undefined;
}

/** Adds to the sums of the day, all in one statement. */
export async function addMeasurements(db: Db, entries: readonly Measurement[], now: Date): Promise<void> {
  const rows = new Map<string, typeof measurements.$inferInsert & { classes: number[] }>();
  for (const { remote, release, phase, route, code, value } of entries) {
    const key = [remote, release, phase, route, code].join("\n");
    const row = rows.get(key) ?? {
      remote,
      day: formatDay(now),
      release,
      phase,
      route,
      code,
      count: 0,
      classes: telemetryBucketBounds.map(() => 0).concat(0),
    };
    rows.set(key, row);
    row.count += 1;
    if (value !== undefined) row.classes[findBucketIndex(value)] = (row.classes[findBucketIndex(value)] ?? 0) + 1;
  }
  if (rows.size === 0) return;
  const { remote, day, release, phase, route, code, count, classes } = measurements;
  await db
    .insert(measurements)
    // In one order, so that no two calls wait for each other.
    .values([...rows].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row))
    .onConflictDoUpdate({
      target: [remote, day, release, phase, route, code],
      set: {
        count: sql`${count} + excluded.count`,
        classes: sql`(select array_agg(stored + added order by bucket) from unnest(${classes}, excluded.classes) with ordinality as pairs(stored, added, bucket))`,
      },
    });
}

/** Sums over the last days. */
export async function readSums(db: Db, now: Date): Promise<TelemetrySums> {
  const { remote, day, release, phase, route, code, count, classes } = measurements;
  const rows = await db
    .select({ remote, release, phase, route, code, count, classes })
    .from(measurements)
    .where(gte(day, formatDay(now, reportedDays - 1)));
  const sums = new Map<string, TelemetrySums["sums"][number]>();
  for (const row of rows) {
    const key = [row.remote, row.release, row.phase, row.route, row.code].join("\n");
    const previous = sums.get(key);
    sums.set(
      key,
      previous === undefined
        ? row
        : {
            ...row,
            count: previous.count + row.count,
            classes: row.classes.map((count, index) => count + (previous.classes[index] ?? 0)),
          },
    );
  }
  return {
    days: reportedDays,
    sums: [...sums].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, sum]) => sum),
  };
}

export function deleteExpiredMeasurements({ db }: Pick<Services, "db">, context: SweepContext): Promise<void> {
  const { remote, day, release, phase, route, code } = measurements;
  return deleteInBatches(context, (batchSize) => {
    const batch = db
      .select({ remote, day, release, phase, route, code })
      .from(measurements)
      .where(lt(day, formatDay(context.now, measurementRetentionDays)))
      .limit(batchSize);
    return db.delete(measurements).where(sql`(${remote}, ${day}, ${release}, ${phase}, ${route}, ${code}) in ${batch}`);
  });
}

function findBucketIndex(value: number): number {
  const index = telemetryBucketBounds.findIndex((bound) => value <= bound);
  return index === -1 ? telemetryBucketBounds.length : index;
}

/** Of UTC, as the database writes it. */
function formatDay(now: Date, daysBefore = 0): string {
  return new Date(now.getTime() - daysBefore * 86_400_000).toISOString().slice(0, 10);
}
