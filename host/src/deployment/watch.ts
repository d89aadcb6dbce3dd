import type { RemoteName } from "@relicario/shared/contract";
import { createStore } from "zustand/vanilla";

import type { VerifiedDeployment } from "./verify.ts";

/**
 * Interval at which a visible page reads the deployment document again. A disabled release must
 * stop within 60 s, even if the response is slow.
 */
export const watchIntervalMilliseconds = 45_000;

/** Compares the releases that this page runs with those in force now. */
export interface WatchState {
  /** Whether a reload would run other releases. */
  readonly updateAvailable: boolean;
  /** Remotes whose release was disabled. They are stopped in this page. */
  readonly disabledRemotes: ReadonlySet<RemoteName>;
  /** Whether this page's deployment has expired and no newer one could be fetched. */
  readonly expired: boolean;
}

export interface DeploymentWatch {
  readonly getState: () => WatchState;
  readonly subscribe: (listener: () => void) => () => void;
  /** Reads the document; concurrent calls share one request. Never rejects. */
  readonly check: () => Promise<void>;
  /**
   * Reads the document periodically, and when the page becomes visible, because browsers slow the
   * timers of hidden pages. Returns a stop function.
   */
  readonly start: () => () => void;
}

export interface WatchDeps {
  readonly initialDeployment: VerifiedDeployment;
  /** Fetches and verifies the current document (load.ts). */
  readonly load: () => Promise<VerifiedDeployment>;
  readonly now: () => number;
  readonly log: (step: string, error: unknown) => void;
}

/**
 * Reads the deployment document every 45 s, on each navigation, and when the page becomes visible.
 * A document that is refused or cannot be fetched changes nothing: the page keeps the releases that
 * it verified at its start.
 */
export function createDeploymentWatch({ initialDeployment, load, now, log }: WatchDeps): DeploymentWatch {
  const store = createStore<WatchState>(() => ({ updateAvailable: false, disabledRemotes: new Set(), expired: false }));
  let pendingCheck: Promise<void> | null = null;

  const update = (next: WatchState) => {
    const state = store.getState();
    if (
      next.updateAvailable === state.updateAvailable &&
      next.expired === state.expired &&
      hasSameNames(next.disabledRemotes, state.disabledRemotes)
    )
      return;
    store.setState(next, true);
  };

  const refresh = async () => {
    try {
      const currentDeployment = await load();
      // A disabled remote stays disabled in this page, even if a later document allows it again.
      update({
        updateAvailable: hasReleaseChanged(initialDeployment, currentDeployment),
        disabledRemotes: new Set([
          ...store.getState().disabledRemotes,
          ...findDisabledRemotes(initialDeployment, currentDeployment),
        ]),
        expired: false,
      });
    } catch (error) {
      log("deployment", error);
      update({ ...store.getState(), expired: Date.parse(initialDeployment.deployment.not_after) <= now() });
    }
  };

  const check = (): Promise<void> => {
    pendingCheck ??= refresh().finally(() => {
      pendingCheck = null;
    });
    return pendingCheck;
  };

  return Object.freeze<DeploymentWatch>({
    getState: store.getState,
    subscribe: store.subscribe,
    check,
    start: () => {
      const timer = setInterval(() => void check(), watchIntervalMilliseconds);
      const handleVisibility = () => {
        if (document.visibilityState === "visible") void check();
      };
      document.addEventListener("visibilitychange", handleVisibility);
      return () => {
        clearInterval(timer);
        document.removeEventListener("visibilitychange", handleVisibility);
      };
    },
  });
}

function hasReleaseChanged(initialDeployment: VerifiedDeployment, currentDeployment: VerifiedDeployment): boolean {
  if (initialDeployment.deployment.app_version !== currentDeployment.deployment.app_version) return true;
  return [...currentDeployment.remotes.keys()].some((name) => {
    const release = getRelease(currentDeployment, name);
    return release !== null && release !== getRelease(initialDeployment, name);
  });
}

function findDisabledRemotes(initialDeployment: VerifiedDeployment, { deployment }: VerifiedDeployment): RemoteName[] {
  return [...initialDeployment.remotes.keys()].filter((name) => {
    const release = getRelease(initialDeployment, name);
    return release !== null && deployment.disabled?.includes(release) === true;
  });
}

function getRelease({ remotes }: VerifiedDeployment, name: RemoteName): string | null {
  const remote = remotes.get(name);
  return remote?.status === "verified" ? remote.record.release : null;
}

function hasSameNames(first: ReadonlySet<RemoteName>, second: ReadonlySet<RemoteName>): boolean {
  return first.size === second.size && [...first].every((name) => second.has(name));
}
