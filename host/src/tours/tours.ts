import { pageStorage } from "@relicario/shared/contract";
import { createContext, useContext } from "react";
import { createStore } from "zustand/vanilla";

import type { ParsedModule } from "../remotes/remote-module.ts";
import { layoutTour, mobileTour } from "./host-tours.ts";
import { initialTourState, reduceTourState, type Tour, type TourEvent, type TourState } from "./tour-state.ts";
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
      const next = reduceTourState(state, event);
      if (next === state) return;
      saveOutcome(storage, next);
      store.setState(next, true);
    },
  });
}

/** The tours of a remote. Each name gets the remote's name as prefix, so that names are unique. */
export function listRemoteTours({ name, tours = [] }: Pick<ParsedModule, "name" | "tours">): readonly Tour[] {
  return tours.map((tour) => ({ ...tour, name: `${name}/${tour.name}` }));
}

/** Whether this is the tour of a first visit, after which the celebration is shown. */
export function isFirstTour({ name }: Tour): boolean {
  return name === layoutTour.name || name === mobileTour.name;
}

/**
 * Whether the first tour may start. It does not start when its flag is set, no one is signed in, or
 * the path contains "shared" (specification, section 4).
 */
export function mayStartFirstTour(visitor: {
  readonly onboarded: boolean;
  readonly signedIn: boolean;
  readonly pathname: string;
}): boolean {
  return !visitor.onboarded && mayRunFirstTour(visitor);
}

/**
 * Whether the tour of a first visit may run on this screen. Tours of screens run on their own
 * screen.
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

const ToursContext = createContext<Tours>(createTours(createTourStorage(() => pageStorage.local)));

/** Replaced in tests. */
export const ToursProvider = ToursContext.Provider;

export function useTours(): Tours {
  return useContext(ToursContext);
}
