import { createContext, useContext } from "react";
import { createStore } from "zustand/vanilla";

import type { LoadedModule } from "../remotes/remote-module.ts";
import { layoutTour, mobileTour } from "./host-tours.ts";
import { initialTourState, nextTour, type Tour, type TourEvent, type TourState } from "./machine.ts";
import { createTourStorage, type TourStorage } from "./tour-storage.ts";

/** The guided tours of the page: their state, and what this browser stores about them. */
export interface Tours {
  readonly getState: () => TourState;
  readonly subscribe: (listener: () => void) => () => void;
  readonly dispatch: (event: TourEvent) => void;
  readonly storage: TourStorage;
}

export function createTours(storage: TourStorage): Tours {
  const store = createStore(() => initialTourState);
  return Object.freeze<Tours>({
    storage,
    getState: store.getState,
    subscribe: store.subscribe,
    dispatch: (event) => {
      const state = store.getState();
      const next = nextTour(state, event);
      if (next === state) return;
      saveOutcome(storage, next);
      store.setState(next, true);
    },
  });
}

/** The tours of a remote, with names that begin with the name of the remote and so are unique. */
export function listRemoteTours({ name, tours = [] }: Pick<LoadedModule, "name" | "tours">): readonly Tour[] {
  return tours.map((tour) => ({ ...tour, name: `${name}/${tour.name}` }));
}

/** Whether this is the tour of a first visit, whose end is celebrated. */
export function isFirstTour({ name }: Tour): boolean {
  return name === layoutTour.name || name === mobileTour.name;
}

/**
 * The rule of the specification, section 4: not when the flag is set, nobody is signed in, or the
 * path contains "shared".
 */
export function mayStartFirstTour(visitor: {
  readonly onboarded: boolean;
  readonly signedIn: boolean;
  readonly pathname: string;
}): boolean {
  return !visitor.onboarded && mayRunFirstTour(visitor);
}

/**
 * Whether the tour of a first visit may run here. Those of screens run wherever their screen is.
 */
export function mayRunFirstTour({
  signedIn,
  pathname,
}: {
  readonly signedIn: boolean;
  readonly pathname: string;
}): boolean {
  return signedIn && !pathname.includes("shared");
}

function saveOutcome(storage: TourStorage, state: TourState): void {
  if (state.status !== "skipped" && state.status !== "finished") return;
  storage.setOnboarded();
  if (state.status === "skipped") storage.markAllSeen();
  else storage.markSeen(state.tour.name);
}

const ToursContext = createContext<Tours>(createTours(createTourStorage(() => window.localStorage)));

/** Replaced in tests. */
export const ToursProvider = ToursContext.Provider;

export function useTours(): Tours {
  return useContext(ToursContext);
}
