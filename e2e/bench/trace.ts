import { z } from "zod";

/** Figures of one page load: milliseconds since the navigation; layout shift without unit. */
export interface PaintFigures {
  readonly largestContentfulPaint: number;
  readonly layoutShift: number;
  readonly totalBlockingTime: number;
  /**
   * Total blocking time by the thread's processor time, which excludes other programs (decision
   * 0016).
   */
  readonly ownBlockingTime: number;
}

/** A longer task blocks the page; only the excess counts (Total Blocking Time, web.dev). */
const longTaskMilliseconds = 50;

const TraceEvent = z.object({
  name: z.string(),
  ts: z.number().default(0),
  dur: z.number().default(0),
  tdur: z.number().default(0),
  pid: z.number(),
  tid: z.number(),
  args: z
    .object({
      frame: z.string().optional(),
      data: z
        .object({
          navigationId: z.string().nullish(),
          documentLoaderURL: z.string().optional(),
          isOutermostMainFrame: z.boolean().optional(),
          weighted_score_delta: z.number().optional(),
          is_main_frame: z.boolean().optional(),
          had_recent_input: z.boolean().optional(),
        })
        .nullish(),
    })
    .optional(),
});
type TraceEvent = z.infer<typeof TraceEvent>;
const Trace = z.object({ traceEvents: z.array(z.unknown()) });

/**
 * Reads paint, shifts and blocking of the last navigation of the main frame out of a browser's
 * trace.
 */
export function readPaintFigures(trace: Buffer): PaintFigures {
  const { navigation, laterEvents } = findLastNavigation(trace);
  const firstPaint = requireLast(
    "first paint",
    laterEvents.filter(
      (event) => event.name === "firstContentfulPaint" && event.args?.frame === navigation.args?.frame,
    ),
  );
  const largestPaint = requireLast(
    "largest paint",
    laterEvents.filter(
      (event) => event.name === "largestContentfulPaint::Candidate" && event.args?.frame === navigation.args?.frame,
    ),
  );
  const tasks = laterEvents.filter(
    (event) =>
      event.name === "ThreadControllerImpl::RunTask" && event.tid === navigation.tid && event.ts >= firstPaint.ts,
  );
  // without this, other names of tasks would look as if nothing blocked
  requireLast("task of the main thread", tasks);
  return {
    largestContentfulPaint: (largestPaint.ts - navigation.ts) / 1000,
    layoutShift: laterEvents
      .filter(
        (event) =>
          event.name === "LayoutShift" &&
          event.args?.data?.is_main_frame !== false &&
          event.args?.data?.had_recent_input !== true,
      )
      .reduce((total, event) => total + (event.args?.data?.weighted_score_delta ?? 0), 0),
    totalBlockingTime: computeTotalBlocking(tasks.map((task) => task.dur)),
    ownBlockingTime: computeTotalBlocking(tasks.map((task) => task.tdur)),
  };
}

/**
 * The longest task of the main thread since the last navigation of the main frame began, by its own
 * processor time; milliseconds.
 */
export function findLongestOwnTask(trace: Buffer): number {
  const { navigation, laterEvents } = findLastNavigation(trace);
  const tasks = laterEvents.filter(
    (event) => event.name === "ThreadControllerImpl::RunTask" && event.tid === navigation.tid,
  );
  requireLast("task of the main thread", tasks);
  return Math.max(...tasks.map(({ tdur }) => tdur)) / 1000;
}

/** Event of the last navigation, and later events of its process. */
function findLastNavigation(trace: Buffer): {
  readonly navigation: TraceEvent;
  readonly laterEvents: readonly TraceEvent[];
} {
  const events = Trace.parse(JSON.parse(trace.toString("utf8"))).traceEvents.flatMap((event) => {
    const parsed = TraceEvent.safeParse(event);
    return parsed.success ? [parsed.data] : [];
  });
  const navigation = requireLast(
    "navigation",
    events.filter(
      (event) =>
        event.name === "navigationStart" &&
        event.args?.data?.isOutermostMainFrame === true &&
        (event.args.data.documentLoaderURL ?? "").startsWith("http"),
    ),
  );
  return {
    navigation,
    laterEvents: events.filter((event) => event.pid === navigation.pid && event.ts >= navigation.ts),
  };
}

/** @param tasks microseconds of each */
function computeTotalBlocking(tasks: readonly number[]): number {
  return tasks.reduce((total, task) => total + Math.max(0, task / 1000 - longTaskMilliseconds), 0);
}

function requireLast(description: string, events: readonly TraceEvent[]): TraceEvent {
  const event = events.toSorted((a, b) => a.ts - b.ts).at(-1);
  if (event === undefined) throw new TypeError(`the trace shows no ${description}`);
  return event;
}
