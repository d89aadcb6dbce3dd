import { telemetryBucketBounds, type TelemetryQuery, type TelemetrySums } from "@relicario/shared/api";
import { and, gte, lt, sql } from "drizzle-orm";

import type { Db } from "../db/database.ts";
import { measurements } from "../db/schema.ts";
import { deleteInBatches, type SweepContext } from "../resource/sweep-context.ts";
import type { Services } from "../services/services.ts";
import type { MeasurementLabels } from "./known-releases.ts";

const measurementRetentionDays = 30;
/** Days that the operator's sums cover. */
const reportedDays = 7;

export interface Measurement extends MeasurementLabels {
  readonly phase: string;
  readonly code: string;
  /** Undefined where there is nothing to measure. */
  readonly value?: number | undefined;
}

/** Adds to the day's sums in one statement. */
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
    // Sorted, so that concurrent calls do not deadlock.
    .values([...rows].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, row]) => row))
    .onConflictDoUpdate({
      target: [remote, day, release, phase, route, code],
      set: {
        count: sql`${count} + excluded.count`,
        classes: sql`(select array_agg(stored + added order by bucket) from unnest(${classes}, excluded.classes) with ordinality as pairs(stored, added, bucket))`,
      },
    });
}

/** A page of the sums of recent days. */
export async function readSums(
  db: Db,
  { limit, cursor }: Pick<TelemetryQuery, "limit" | "cursor">,
  now: Date,
): Promise<TelemetrySums> {
  const { remote, day, release, phase, route, code, count, classes } = measurements;
  const labels = sql.join([remote, release, phase, route, code], sql`, `);
  const classSums = telemetryBucketBounds
    .map(() => 0)
    .concat(0)
    .map((_, index) => sql`sum(${classes}[${sql.raw(String(index + 1))}])::double precision`);
  const rows = await db
    .select({
      remote,
      release,
      phase,
      route,
      code,
      count: sql<number>`sum(${count})::double precision`,
      classes: sql<number[]>`array[${sql.join(classSums, sql`, `)}]`,
    })
    .from(measurements)
    .where(
      and(
        gte(day, formatDay(now, reportedDays - 1)),
        cursor === undefined
          ? undefined
          : sql`(${labels}) > (${sql.join(
              cursor.split(",").map((label) => sql`${label}`),
              sql`, `,
            )})`,
      ),
    )
    .groupBy(remote, release, phase, route, code)
    .orderBy(remote, release, phase, route, code)
    .limit(limit + 1);
  const sums = rows.slice(0, limit);
  const last = rows.length > limit ? sums.at(-1) : undefined;
  return {
    days: reportedDays,
    sums,
    next_cursor: last === undefined ? null : [last.remote, last.release, last.phase, last.route, last.code].join(","),
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

/** In UTC, as the database formats dates. */
function formatDay(now: Date, daysBefore = 0): string {
  return new Date(now.getTime() - daysBefore * 86_400_000).toISOString().slice(0, 10);
}
