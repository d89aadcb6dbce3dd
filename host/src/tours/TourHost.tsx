import type { RemoteName } from "@relicario/shared/contract";
import { lazy, Suspense, useCallback, useEffect, useState, useSyncExternalStore } from "react";
import { ErrorBoundary } from "react-error-boundary";
import { matchPath, useLocation } from "react-router-dom";

import { useMobile } from "../frame/use-media.ts";
import { useHost } from "../host-context.ts";
import { frameTour, homeTour } from "./host-tours.ts";
import type { Tour } from "./machine.ts";
import { findTarget, presentSteps } from "./targets.ts";
import { isFirstTour, mayBegin, mayRun, toursOf, useTours } from "./tours.ts";
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
  const { intro, endIntro } = useOffers({ signedIn, shell, remote });
  useInterruptions(signedIn);

  const tour = state.status === "idle" ? null : state.tour;
  const waiting = state.status === "ready" ? state.tour : null;
  useEffect(() => {
    if (waiting === null) return undefined;
    const [first] = waiting.steps;
    if (first === undefined) return undefined;
    return whenSettled(
      document.body,
      () => findTarget(document, first.target),
      () => {
        tours.dispatch({ type: "started" });
      },
    );
  }, [waiting, tours]);

  // Code that does not load, such as on a device that went offline, is not reported: the tour is
  // offered at the next visit.
  const giveUp = () => {
    tours.dispatch({ type: "stopped" });
    endIntro("later");
  };
  return (
    <ErrorBoundary fallback={null} onError={giveUp} resetKeys={[tour, intro]}>
      <Suspense fallback={null}>
        {intro && (
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
          <Running tour={state.tour} running={state.status === "running"} />
        )}
        {tour !== null && (state.status === "skipped" || state.status === "finished") && <Ended tour={tour} />}
      </Suspense>
    </ErrorBoundary>
  );
}

function Running({ tour, running }: { readonly tour: Tour; readonly running: boolean }) {
  const { dispatch } = useTours();
  const [steps] = useState(() => presentSteps(document, tour));
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

function Ended({ tour }: { readonly tour: Tour }) {
  const { dispatch } = useTours();
  const celebrated = isFirstTour(tour);
  const rest = useCallback(() => {
    dispatch({ type: "rested" });
  }, [dispatch]);
  useEffect(() => {
    if (!celebrated) rest();
  }, [celebrated, rest]);
  return celebrated ? <Celebration onEnd={rest} /> : null;
}

/**
 * Offers the slides (phones) or the tour of the frame on a first visit, and the tour of a screen on
 * the first visit of that screen.
 */
function useOffers({ signedIn, shell, remote }: TourHostProps): {
  readonly intro: boolean;
  readonly endIntro: (how: "skipped" | "finished" | "later") => void;
} {
  const { dispatch, memory } = useTours();
  const { loader } = useHost();
  const { pathname } = useLocation();
  const mobile = useMobile();
  const [introDone, setIntroDone] = useState(false);
  const firstVisit = shell && !introDone && mayBegin({ onboarded: memory.onboarded(), signedIn, pathname });
  const intro = firstVisit && mobile;

  useEffect(() => {
    if (!signedIn) return undefined;
    if (!memory.onboarded()) {
      if (shell && !mobile && mayBegin({ onboarded: false, signedIn, pathname }))
        dispatch({ type: "offered", tour: frameTour(mobile) });
      return undefined; // the tours of screens come after the first one
    }
    let gone = false;
    const offer = (of: readonly Tour[]) => {
      const tour = of.find((each) => !memory.seen(each.name) && matchPath(each.path, pathname) !== null);
      if (tour !== undefined && !gone) dispatch({ type: "offered", tour });
    };
    offer([homeTour]);
    if (remote !== null) {
      loader.load(remote).then(
        (module) => {
          offer(toursOf(module));
        },
        () => undefined, // the area itself shows the failure
      );
    }
    return () => {
      gone = true;
    };
  }, [signedIn, shell, remote, pathname, mobile, dispatch, memory, loader]);

  const endIntro = (how: "skipped" | "finished" | "later") => {
    setIntroDone(true);
    if (how === "skipped") memory.setOnboarded();
    if (how === "finished") dispatch({ type: "offered", tour: frameTour(mobile) });
  };
  return { intro, endIntro };
}

/**
 * Pauses a tour during a confirmation dialog and on other screens, and ends it with the session.
 */
function useInterruptions(signedIn: boolean): void {
  const { dispatch, getState } = useTours();
  const { confirms } = useHost();
  const { pathname } = useLocation();
  const asking = useSyncExternalStore(confirms.subscribe, confirms.getState) !== null;

  useEffect(() => {
    if (!signedIn) dispatch({ type: "stopped" });
  }, [signedIn, dispatch]);

  useEffect(() => {
    const state = getState();
    if (state.status !== "running" && state.status !== "paused") return;
    const here = isFirstTour(state.tour)
      ? mayRun({ signedIn, pathname })
      : matchPath(state.tour.path, pathname) !== null;
    dispatch({ type: here && !asking ? "resumed" : "interrupted" });
  }, [asking, pathname, signedIn, dispatch, getState]);
}
