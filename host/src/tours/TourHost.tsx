import type { RemoteName } from "@relicario/shared/contract";
import { lazy, Suspense, useCallback, useEffect, useState, useSyncExternalStore } from "react";
import { ErrorBoundary } from "react-error-boundary";
import { matchPath, useLocation } from "react-router-dom";

import { useIsMobile } from "../frame/use-media.ts";
import { useHost } from "../context/host-context.ts";
import { getFrameTour, homeTour } from "./host-tours.ts";
import type { Tour } from "./machine.ts";
import { findTarget, findPresentSteps } from "./targets.ts";
import { isFirstTour, mayStartFirstTour, mayRunFirstTour, listRemoteTours, useTours } from "./tours.ts";
import { whenSettled } from "./when-settled.ts";

const Slides = lazy(async () => ({ default: (await import("../onboarding/Slides.tsx")).Slides }));
const TourRunner = lazy(async () => ({ default: (await import("./TourRunner.tsx")).TourRunner }));
const Celebration = lazy(async () => ({ default: (await import("./Celebration.tsx")).Celebration }));

export interface TourHostProps {
  /** Somebody is signed in, and the session token is there. */
  readonly signedIn: boolean;
  /** Whether the screen has navigation around it. Onboarding begins only there. */
  readonly shell: boolean;
  /** Whose screen is shown; null for the host's own. */
  readonly remote: RemoteName | null;
}

/** Begins onboarding, offers the tours of screens, and renders the one that runs. */
export function TourHost({ signedIn, shell, remote }: TourHostProps) {
  const tours = useTours();
  const state = useSyncExternalStore(tours.subscribe, tours.getState);
  const { isIntroOpen, endIntro } = useTourOffers({ signedIn, shell, remote });
  useInterruptions(signedIn);

  const tour = state.status === "idle" ? null : state.tour;
  const readyTour = state.status === "ready" ? state.tour : null;
  useEffect(() => {
    if (readyTour === null) return undefined;
    const [first] = readyTour.steps;
    if (first === undefined) return undefined;
    return whenSettled(
      document.body,
      () => findTarget(document, first.target),
      () => {
        tours.dispatch({ type: "started" });
      },
    );
  }, [readyTour, tours]);

  // Code that does not load, such as on a device that went offline, is not reported: the tour is
  // offered at the next visit.
  const handleLoadError = () => {
    tours.dispatch({ type: "stopped" });
    endIntro("later");
  };
  return (
    <ErrorBoundary fallback={null} onError={handleLoadError} resetKeys={[tour, isIntroOpen]}>
      <Suspense fallback={null}>
        {isIntroOpen && (
          <Slides
            onSkip={() => {
              endIntro("skipped");
            }}
            onFinish={() => {
              endIntro("finished");
            }}
          />
        )}
        {(state.status === "running" || state.status === "paused") && (
          <RunningTour tour={state.tour} running={state.status === "running"} />
        )}
        {tour !== null && (state.status === "skipped" || state.status === "finished") && <EndedTour tour={tour} />}
      </Suspense>
    </ErrorBoundary>
  );
}

function RunningTour({ tour, running }: { readonly tour: Tour; readonly running: boolean }) {
  const { dispatch } = useTours();
  const [steps] = useState(() => findPresentSteps(document, tour));
  return (
    <TourRunner
      steps={steps}
      running={running}
      onSkip={() => {
        dispatch({ type: "skipped" });
      }}
      onFinish={() => {
        dispatch({ type: "finished" });
      }}
    />
  );
}

function EndedTour({ tour }: { readonly tour: Tour }) {
  const { dispatch } = useTours();
  const isCelebrated = isFirstTour(tour);
  const handleEnd = useCallback(() => {
    dispatch({ type: "rested" });
  }, [dispatch]);
  useEffect(() => {
    if (!isCelebrated) handleEnd();
  }, [isCelebrated, handleEnd]);
  return isCelebrated ? <Celebration onEnd={handleEnd} /> : null;
}

/**
 * Offers the slides (phones) or the tour of the frame on a first visit, and the tour of a screen on
 * the first visit of that screen.
 */
function useTourOffers({ signedIn, shell, remote }: TourHostProps): {
  readonly isIntroOpen: boolean;
  readonly endIntro: (outcome: "skipped" | "finished" | "later") => void;
} {
  const { dispatch, storage } = useTours();
  const { loader } = useHost();
  const { pathname } = useLocation();
  const mobile = useIsMobile();
  const [isIntroDone, setIsIntroDone] = useState(false);
  const isFirstVisit =
    shell && !isIntroDone && mayStartFirstTour({ onboarded: storage.isOnboarded(), signedIn, pathname });
  const isIntroOpen = isFirstVisit && mobile;

  useEffect(() => {
    if (!signedIn) return undefined;
    if (!storage.isOnboarded()) {
      if (shell && !mobile && mayStartFirstTour({ onboarded: false, signedIn, pathname }))
        dispatch({ type: "offered", tour: getFrameTour(mobile) });
      return undefined; // the tours of screens come after the first one
    }
    let isCancelled = false;
    const offer = (candidates: readonly Tour[]) => {
      const tour = candidates.find(
        (candidate) => !storage.hasSeen(candidate.name) && matchPath(candidate.path, pathname) !== null,
      );
      if (tour !== undefined && !isCancelled) dispatch({ type: "offered", tour });
    };
    offer([homeTour]);
    if (remote !== null) {
      loader.load(remote).then(
        (module) => {
          offer(listRemoteTours(module));
        },
        () => undefined, // the area itself shows the failure
      );
    }
    return () => {
      isCancelled = true;
    };
  }, [signedIn, shell, remote, pathname, mobile, dispatch, storage, loader]);

  const endIntro = (outcome: "skipped" | "finished" | "later") => {
    setIsIntroDone(true);
    if (outcome === "skipped") storage.setOnboarded();
    if (outcome === "finished") dispatch({ type: "offered", tour: getFrameTour(mobile) });
  };
  return { isIntroOpen, endIntro };
}

/**
 * Pauses a tour during a confirmation dialog and on other screens, and ends it with the session.
 */
function useInterruptions(signedIn: boolean): void {
  const { dispatch, getState } = useTours();
  const { confirms } = useHost();
  const { pathname } = useLocation();
  const isConfirmOpen = useSyncExternalStore(confirms.subscribe, confirms.getState) !== null;

  useEffect(() => {
    if (!signedIn) dispatch({ type: "stopped" });
  }, [signedIn, dispatch]);

  useEffect(() => {
    const state = getState();
    if (state.status !== "running" && state.status !== "paused") return;
    const isOnScreen = isFirstTour(state.tour)
      ? mayRunFirstTour({ signedIn, pathname })
      : matchPath(state.tour.path, pathname) !== null;
    dispatch({ type: isOnScreen && !isConfirmOpen ? "resumed" : "interrupted" });
  }, [isConfirmOpen, pathname, signedIn, dispatch, getState]);
}
