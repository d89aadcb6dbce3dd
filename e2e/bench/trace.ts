import { z } from "zod";

/** What one page load was like. Milliseconds since the navigation; layout shift without unit. */
export interface PaintFigures {
  readonly largestContentfulPaint: number;
  readonly layoutShift: number;
  readonly totalBlockingTime: number;
  /**
   * The same by the processor time of the thread, which does not count what others do on the
   * machine (decision 0045).
   */
  readonly ownBlockingTime: number;
}

/** Longer than this a task blocks the page; the excess counts (Total Blocking Time, web.dev). */
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
export function paintFigures(trace: Buffer): PaintFigures {
  const { navigation, laterEvents } = lastNavigation(trace);
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
  // a browser that names them otherwise would look as if nothing ever blocked
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
    totalBlockingTime: totalBlocking(tasks.map((task) => task.dur)),
    ownBlockingTime: totalBlocking(tasks.map((task) => task.tdur)),
  };
}

/**
 * The longest task of the main thread since the last navigation of the main frame began, by its own
 * processor time; milliseconds.
 */
export function longestOwnTask(trace: Buffer): number {
  const { navigation, laterEvents } = lastNavigation(trace);
  const tasks = laterEvents.filter(
    (event) => event.name === "ThreadControllerImpl::RunTask" && event.tid === navigation.tid,
  );
  requireLast("task of the main thread", tasks);
  return Math.max(...tasks.map(({ tdur }) => tdur)) / 1000;
}

/** Its event, and what came after it in its process. */
function lastNavigation(trace: Buffer): {
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
function totalBlocking(tasks: readonly number[]): number {
  return tasks.reduce((total, task) => total + Math.max(0, task / 1000 - longTaskMilliseconds), 0);
}

function requireLast(description: string, events: readonly TraceEvent[]): TraceEvent {
  const event = events.toSorted((a, b) => a.ts - b.ts).at(-1);
  if (event === undefined) throw new TypeError(`the trace shows no ${description}`);
  return event;
}
