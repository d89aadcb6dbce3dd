import type { RemoteName } from "@relicario/shared/contract";
import { createStore } from "zustand/vanilla";

import type { VerifiedDeployment } from "./verify.ts";

/** How often the deployment document is read again while a page is open. */
export const watchMilliseconds = 60_000;

/** What became of the release set that this page runs. */
export interface WatchState {
  /** Another set is in force: a new page would get it. Offered, never forced. */
  readonly newer: boolean;
  /** Remotes whose release was switched off: they may not go on. */
  readonly disabled: ReadonlySet<RemoteName>;
  /** What this page was started from is no longer in force, and nothing newer could be had. */
  readonly expired: boolean;
}

export interface DeploymentWatch {
  readonly getState: () => WatchState;
  readonly subscribe: (listener: () => void) => () => void;
  /** Reads once more; two calls at the same time are one. Never rejects. */
  readonly check: () => Promise<void>;
  /** Reads again and again. Returns its undo. */
  readonly start: () => () => void;
}

export interface WatchParts {
  /** What the page runs. */
  readonly pinned: VerifiedDeployment;
  /** The document of now, checked; load.ts. */
  readonly load: () => Promise<VerifiedDeployment>;
  readonly now: () => number;
  readonly log: (step: string, error: unknown) => void;
}

/**
 * Reads the deployment document again every 60 s, and when asked to (on navigation). A document that is refused or cannot be
 * had changes nothing: the page goes on with what it checked.
 */
export function createDeploymentWatch({ pinned, load, now, log }: WatchParts): DeploymentWatch {
  const store = createStore<WatchState>(() => ({ newer: false, disabled: new Set(), expired: false }));
  let running: Promise<void> | null = null;

  const update = (next: WatchState) => {
    const state = store.getState();
    if (next.newer === state.newer && next.expired === state.expired && sameNames(next.disabled, state.disabled)) return;
    store.setState(next, true);
  };

  const read = async () => {
    try {
      const present = await load();
      // What was switched off stays off for this page, whatever a later document says.
      update({ newer: differs(pinned, present), disabled: new Set([...store.getState().disabled, ...disabledOf(pinned, present)]), expired: false });
    } catch (error) {
      log("deployment", error);
      update({ ...store.getState(), expired: Date.parse(pinned.deployment.not_after) <= now() });
    }
  };

  const check = (): Promise<void> => {
    running ??= read().finally(() => {
      running = null;
    });
    return running;
  };

  return Object.freeze<DeploymentWatch>({
    getState: store.getState,
    subscribe: store.subscribe,
    check,
    start: () => {
      const timer = setInterval(() => void check(), watchMilliseconds);
      return () => {
        clearInterval(timer);
      };
    },
  });
}

/** Whether a new page would run something that this one does not. */
function differs(pinned: VerifiedDeployment, present: VerifiedDeployment): boolean {
  if (pinned.deployment.app_version !== present.deployment.app_version) return true;
  return [...present.remotes.keys()].some((name) => {
    const release = releaseOf(present, name);
    return release !== null && release !== releaseOf(pinned, name);
  });
}

function disabledOf(pinned: VerifiedDeployment, { deployment }: VerifiedDeployment): RemoteName[] {
  return [...pinned.remotes.keys()].filter((name) => {
    const release = releaseOf(pinned, name);
    return release !== null && deployment.disabled?.includes(release) === true;
  });
}

function releaseOf({ remotes }: VerifiedDeployment, name: RemoteName): string | null {
  const remote = remotes.get(name);
  return remote?.status === "verified" ? remote.record.release : null;
}

function sameNames(one: ReadonlySet<RemoteName>, other: ReadonlySet<RemoteName>): boolean {
  return one.size === other.size && [...one].every((name) => other.has(name));
}
