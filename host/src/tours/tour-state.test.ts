import { initialTourState, reduceTourState, type Tour, type TourEvent, type TourState } from "./tour-state.ts";

const tour: Tour = {
  name: "layout",
  path: "/home",
  steps: [{ target: "layout-home", titleKey: "a:b", bodyKey: "a:c" }],
};
const otherTour: Tour = { ...tour, name: "other" };

const states = {
  idle: initialTourState,
  ...Object.fromEntries(
    (["ready", "running", "paused", "skipped", "finished"] as const).map((status) => [status, { status, tour }]),
  ),
} as Record<TourState["status"], TourState>;
const events: readonly TourEvent["type"][] = [
  "offered",
  "started",
  "interrupted",
  "resumed",
  "skipped",
  "finished",
  "celebration_ended",
  "stopped",
];

/** All transitions that change the state. */
const transitions: Readonly<Record<TourState["status"], Partial<Record<TourEvent["type"], TourState["status"]>>>> = {
  idle: { offered: "ready" },
  ready: { started: "running", skipped: "skipped", stopped: "idle" },
  running: { interrupted: "paused", skipped: "skipped", finished: "finished", stopped: "idle" },
  paused: { resumed: "running", skipped: "skipped", stopped: "idle" },
  skipped: { offered: "ready", celebration_ended: "idle", stopped: "idle" },
  finished: { offered: "ready", celebration_ended: "idle", stopped: "idle" },
};

describe("reduceTourState", () => {
  for (const from of Object.values(states)) {
    it.each(events.map((type) => [type, transitions[from.status][type] ?? from.status]))(
      `goes from ${from.status} by %s to %s`,
      (type, to) => {
        expect(reduceTourState(from, type === "offered" ? { type, tour } : { type }).status).toBe(to);
      },
    );
  }

  it("does not replace a running tour by another", () => {
    expect(reduceTourState({ status: "running", tour }, { type: "offered", tour: otherTour })).toEqual({
      status: "running",
      tour,
    });
    expect(reduceTourState({ status: "ready", tour }, { type: "offered", tour: otherTour })).toEqual({
      status: "ready",
      tour: otherTour,
    });
  });
});
