import type { RemoteTour } from "@relicario/shared/contract";

/** A guided tour, of the host or of a remote. */
export type Tour = RemoteTour;

/**
 * State of a guided tour (specification, section 4). `ready`: the tour waits until its screen is
 * drawn.
 */
export type TourState =
  | { readonly status: "idle" }
  | { readonly status: "ready" | "running" | "paused" | "skipped" | "finished"; readonly tour: Tour };

export type TourEvent =
  | { readonly type: "offered"; readonly tour: Tour }
  /** Its code has loaded and its screen is drawn. */
  | { readonly type: "started" }
  /** A confirmation dialog opened, or the screen changed. */
  | { readonly type: "interrupted" }
  | { readonly type: "resumed" }
  | { readonly type: "skipped" }
  | { readonly type: "finished" }
  | { readonly type: "celebration_ended" }
  | { readonly type: "stopped" };

export const initialTourState: TourState = { status: "idle" };

/** Returns the next state. Events that do not apply to a state leave it unchanged. */
export function reduceTourState(state: TourState, event: TourEvent): TourState {
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
    case "celebration_ended":
      return state.status === "skipped" || state.status === "finished" ? initialTourState : state;
    case "stopped":
      return initialTourState;
  }
}
