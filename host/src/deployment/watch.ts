import type { RemoteName } from "@relicario/shared/contract";
import { createStore } from "zustand/vanilla";

import type { VerifiedDeployment } from "./verify.ts";

/**
 * How often the deployment document is read again while a page is looked at: what it switches off
 * has to be gone within 60 s, a slow answer included.
 */
export const watchIntervalMilliseconds = 45_000;

/** How the releases that this page runs compare with those that are in force now. */
export interface WatchState {
  /** Other releases are in force: a reload would get them. */
  readonly newer: boolean;
  /** Remotes whose release was switched off; they are stopped. */
  readonly disabled: ReadonlySet<RemoteName>;
  /** This page's deployment document has expired, and no newer one could be fetched. */
  readonly expired: boolean;
}

export interface DeploymentWatch {
  readonly getState: () => WatchState;
  readonly subscribe: (listener: () => void) => () => void;
  /** Reads the document once; concurrent calls share one request. Never rejects. */
  readonly check: () => Promise<void>;
  /**
   * Starts reading periodically, and when the page is looked at again: browsers slow the clocks of
   * pages that nobody sees. Returns its undo.
   */
  readonly start: () => () => void;
}

export interface WatchDeps {
  /** The deployment that the page was started with. */
  readonly pinned: VerifiedDeployment;
  /** Fetches and verifies the current document (load.ts). */
  readonly load: () => Promise<VerifiedDeployment>;
  readonly now: () => number;
  readonly log: (step: string, error: unknown) => void;
}

/**
 * Reads the deployment document every 45 s, on each navigation, and when the page is looked at
 * again. A document that is refused or cannot be fetched changes nothing: the page keeps the
 * releases that it verified at its start.
 */
export function createDeploymentWatch({ pinned: initialDeployment, load, now, log }: WatchDeps): DeploymentWatch {
  const store = createStore<WatchState>(() => ({ newer: false, disabled: new Set(), expired: false }));
  let pendingCheck: Promise<void> | null = null;

  const update = (next: WatchState) => {
    const state = store.getState();
    if (next.newer === state.newer && next.expired === state.expired && hasSameNames(next.disabled, state.disabled))
      return;
    store.setState(next, true);
  };

  const refresh = async () => {
    try {
      const current = await load();
      // A remote that was switched off stays off in this page, even if a later document allows it
      // again.
      update({
        newer: hasReleaseChanged(initialDeployment, current),
        disabled: new Set([...store.getState().disabled, ...findDisabledRemotes(initialDeployment, current)]),
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

/** Whether a reload would run other code than this page does. */
function hasReleaseChanged(initialDeployment: VerifiedDeployment, current: VerifiedDeployment): boolean {
  if (initialDeployment.deployment.app_version !== current.deployment.app_version) return true;
  return [...current.remotes.keys()].some((name) => {
    const release = getRelease(current, name);
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
