import type { RemoteName } from "@relicario/shared/contract";
import { lazy, Suspense, useCallback, useEffect, useState, useSyncExternalStore } from "react";
import { ErrorBoundary } from "react-error-boundary";
import { matchPath, useLocation } from "react-router-dom";

import { useIsMobile } from "../frame/use-media-query.ts";
import { useHost } from "../context/host-context.ts";
import { getFrameTour, homeTour } from "./host-tours.ts";
import type { Tour } from "./tour-state.ts";
import { findTarget, findPresentSteps } from "./targets.ts";
import { isFirstTour, mayStartFirstTour, mayRunFirstTour, listRemoteTours, useTours } from "./tours.ts";
import { whenSettled } from "./when-settled.ts";

const Slides = lazy(async () => ({ default: (await import("../onboarding/Slides.tsx")).Slides }));
const TourRunner = lazy(async () => ({ default: (await import("./TourRunner.tsx")).TourRunner }));
const Celebration = lazy(async () => ({ default: (await import("./Celebration.tsx")).Celebration }));

export interface TourHostProps {
  /** Whether someone is signed in and has a session token. */
  readonly hasClaims: boolean;
  /** Whether the screen has navigation around it. Onboarding starts only there. */
  readonly shell: boolean;
  /** The remote whose screen is shown; null for a screen of the host. */
  readonly remote: RemoteName | null;
}

/** Starts onboarding, offers the tours of screens, and renders the current one. */
export function TourHost({ hasClaims, shell, remote }: TourHostProps) {
  const tours = useTours();
  const state = useSyncExternalStore(tours.subscribe, tours.getState);
  const { isIntroOpen, endIntro } = useTourOffers({ hasClaims, shell, remote });
  useInterruptions(hasClaims);

  const tour = state.status === "idle" ? null : state.tour;
  const readyTour = state.status === "ready" ? state.tour : null;
  useEffect(() => {
    if (readyTour === null) return undefined;
    const [firstStep] = readyTour.steps;
    if (firstStep === undefined) return undefined;
    return whenSettled(
      document.body,
      () => findTarget(document, firstStep.target),
      () => {
        tours.dispatch({ type: "started" });
      },
    );
  }, [readyTour, tours]);

  // A failure to load the code, for example offline, is not reported: the tour is offered again at
  // the next visit.
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
    dispatch({ type: "celebration_ended" });
  }, [dispatch]);
  useEffect(() => {
    if (!isCelebrated) handleEnd();
  }, [isCelebrated, handleEnd]);
  return isCelebrated ? <Celebration onEnd={handleEnd} /> : null;
}

/**
 * Offers onboarding on a first visit: the slides on phones, else the frame's tour. Offers the tour
 * of a screen on the first visit of that screen.
 */
function useTourOffers({ hasClaims, shell, remote }: TourHostProps): {
  readonly isIntroOpen: boolean;
  readonly endIntro: (outcome: "skipped" | "finished" | "later") => void;
} {
  const { dispatch, storage } = useTours();
  const { loader } = useHost();
  const { pathname } = useLocation();
  const mobile = useIsMobile();
  const [isIntroDone, setIsIntroDone] = useState(false);
  const isFirstVisit =
    shell && !isIntroDone && mayStartFirstTour({ onboarded: storage.isOnboarded(), signedIn: hasClaims, pathname });
  const isIntroOpen = isFirstVisit && mobile;

  useEffect(() => {
    if (!hasClaims) return undefined;
    if (!storage.isOnboarded()) {
      if (shell && !mobile && mayStartFirstTour({ onboarded: false, signedIn: hasClaims, pathname }))
        dispatch({ type: "offered", tour: getFrameTour(mobile) });
      return undefined; // screen tours are offered after the first tour
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
  }, [hasClaims, shell, remote, pathname, mobile, dispatch, storage, loader]);

  const endIntro = (outcome: "skipped" | "finished" | "later") => {
    setIsIntroDone(true);
    if (outcome === "skipped") storage.setOnboarded();
    if (outcome === "finished") dispatch({ type: "offered", tour: getFrameTour(mobile) });
  };
  return { isIntroOpen, endIntro };
}

/** Pauses a tour during a confirmation dialog and on other screens; stops it with the session. */
function useInterruptions(hasClaims: boolean): void {
  const { dispatch, getState } = useTours();
  const { confirmQueue } = useHost();
  const { pathname } = useLocation();
  const isConfirmOpen = useSyncExternalStore(confirmQueue.subscribe, confirmQueue.getState) !== null;

  useEffect(() => {
    if (!hasClaims) dispatch({ type: "stopped" });
  }, [hasClaims, dispatch]);

  useEffect(() => {
    const state = getState();
    if (state.status !== "running" && state.status !== "paused") return;
    const isOnScreen = isFirstTour(state.tour)
      ? mayRunFirstTour({ signedIn: hasClaims, pathname })
      : matchPath(state.tour.path, pathname) !== null;
    dispatch({ type: isOnScreen && !isConfirmOpen ? "resumed" : "interrupted" });
  }, [isConfirmOpen, pathname, hasClaims, dispatch, getState]);
}
