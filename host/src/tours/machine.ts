import type { RemoteTour } from "@relicario/shared/contract";

/** A guided tour, of the host or of a remote. */
export type Tour = RemoteTour;

/**
 * State of a guided tour (specification, section 4). `ready`: it waits for its screen to be drawn.
 */
export type TourState =
  | { readonly status: "idle" }
  | { readonly status: "ready" | "running" | "paused" | "skipped" | "finished"; readonly tour: Tour };

export type TourEvent =
  | { readonly type: "offered"; readonly tour: Tour }
  /** Its code and its screen are there. */
  | { readonly type: "started" }
  /** A confirmation dialog was opened, or another screen is shown. */
  | { readonly type: "interrupted" }
  | { readonly type: "resumed" }
  | { readonly type: "skipped" }
  | { readonly type: "finished" }
  /** The celebration is over. */
  | { readonly type: "rested" }
  /** The session ended. */
  | { readonly type: "stopped" };

export const initialTourState: TourState = { status: "idle" };

/** The next state. Events that do not apply to a state leave it unchanged. */
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
      return state.status === "ready" || state.status === "running" || state.status === "paused"
        ? { ...state, status: "skipped" }
        : state;
    case "finished":
      return state.status === "running" ? { ...state, status: "finished" } : state;
    case "rested":
      return state.status === "skipped" || state.status === "finished" ? initialTourState : state;
    case "stopped":
      return initialTourState;
  }
}
