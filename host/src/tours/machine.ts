import type { RemoteTour } from "@relicario/shared/contract";

/** A guided tour, of the host or of a remote. */
export type Tour = RemoteTour;

/** Where a guided tour stands (specification, section 4). A tour that waits for its screen is ready. */
export type TourState =
  | { readonly status: "idle" }
  | { readonly status: "ready" | "running" | "paused" | "skipped" | "finished"; readonly tour: Tour };

export type TourEvent =
  | { readonly type: "offered"; readonly tour: Tour }
  /** Its code and its screen are there. */
  | { readonly type: "started" }
  /** Something else needs the person: a question, another screen. */
  | { readonly type: "interrupted" }
  | { readonly type: "resumed" }
  | { readonly type: "skipped" }
  | { readonly type: "finished" }
  /** The celebration is over. */
  | { readonly type: "rested" }
  /** The person is gone. */
  | { readonly type: "stopped" };

export const initialTour: TourState = { status: "idle" };

/** The next state. An event that means nothing in a state leaves it as it is. */
export function nextTour(state: TourState, event: TourEvent): TourState {
  switch (event.type) {
    case "offered":
      return state.status === "running" || state.status === "paused" ? state : { status: "ready", tour: event.tour };
    case "started":
      return state.status === "ready" ? { ...state, status: "running" } : state;
    case "interrupted":
      return state.status === "running" ? { ...state, status: "paused" } : state;
    case "resumed":
      return state.status === "paused" ? { ...state, status: "running" } : state;
    case "skipped":
      return state.status === "ready" || state.status === "running" || state.status === "paused" ? { ...state, status: "skipped" } : state;
    case "finished":
      return state.status === "running" ? { ...state, status: "finished" } : state;
    case "rested":
      return state.status === "skipped" || state.status === "finished" ? initialTour : state;
    case "stopped":
      return initialTour;
  }
}
