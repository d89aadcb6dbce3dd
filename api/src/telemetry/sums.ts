import { telemetryBounds, type TelemetrySums } from "@relicario/shared/api";
import { gte, lt, sql } from "drizzle-orm";

import type { Db } from "../db/database.ts";
import { measurements } from "../db/schema.ts";
import { deleteInBatches, type Sweeping } from "../operations/sweeping.ts";
import type { Labels } from "./known-releases.ts";

/** Sums are kept for so long. */
const keptDays = 30;
/** The operator is shown those of so many days. */
const shownDays = 7;

export interface Measured extends Labels {
  readonly phase: string;
  readonly code: string;
  /** None where there is nothing to measure. */
  readonly value?: number | undefined;
}

/** Adds to the sums of the day, all in one statement. */
export async function addMeasured(db: Db, measured: readonly Measured[], now: Date): Promise<void> {
  const rows = new Map<string, typeof measurements.$inferInsert & { classes: number[] }>();
  for (const { remote, release, phase, route, code, value } of measured) {
    const key = [remote, release, phase, route, code].join("\n");
    const row = rows.get(key) ?? {
      remote,
      day: dayOf(now),
      release,
      phase,
      route,
      code,
      count: 0,
      classes: telemetryBounds.map(() => 0).concat(0),
    };
    rows.set(key, row);
    row.count += 1;
    if (value !== undefined) row.classes[classOf(value)] = (row.classes[classOf(value)] ?? 0) + 1;
  }
  if (rows.size === 0) return;
  const { remote, day, release, phase, route, code, count, classes } = measurements;
  await db
    .insert(measurements)
    // In one order, so that no two calls wait for each other.
    .values([...rows].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row))
    .onConflictDoUpdate({
      target: [remote, day, release, phase, route, code],
      set: {
        count: sql`${count} + excluded.count`,
        classes: sql`(select array_agg(one + more order by place) from unnest(${classes}, excluded.classes) with ordinality as both_of(one, more, place))`,
      },
    });
}

/** Sums over the last days. */
export async function sumsOf(db: Db, now: Date): Promise<TelemetrySums> {
  const { remote, day, release, phase, route, code, count, classes } = measurements;
  const rows = await db
    .select({ remote, release, phase, route, code, count, classes })
    .from(measurements)
    .where(gte(day, dayOf(now, shownDays - 1)));
  const sums = new Map<string, TelemetrySums["sums"][number]>();
  for (const row of rows) {
    const key = [row.remote, row.release, row.phase, row.route, row.code].join("\n");
    const former = sums.get(key);
    sums.set(
      key,
      former === undefined
        ? row
        : {
            ...row,
            count: former.count + row.count,
            classes: row.classes.map((one, place) => one + (former.classes[place] ?? 0)),
          },
    );
  }
  return {
    days: shownDays,
    sums: [...sums].toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, sum]) => sum),
  };
}

export function dropOldMeasurements(db: Db, sweeping: Sweeping): Promise<void> {
  const { remote, day, release, phase, route, code } = measurements;
  return deleteInBatches(sweeping, (rows) => {
    const some = db
      .select({ remote, day, release, phase, route, code })
      .from(measurements)
      .where(lt(day, dayOf(sweeping.now, keptDays)))
      .limit(rows);
    return db.delete(measurements).where(sql`(${remote}, ${day}, ${release}, ${phase}, ${route}, ${code}) in ${some}`);
  });
}

function classOf(value: number): number {
  const found = telemetryBounds.findIndex((bound) => value <= bound);
  return found === -1 ? telemetryBounds.length : found;
}

/** Of UTC, as the database writes it. */
function dayOf(now: Date, daysBefore = 0): string {
  return new Date(now.getTime() - daysBefore * 86_400_000).toISOString().slice(0, 10);
}
