import { useEffect, useEffectEvent, useRef, useState } from "react";

import {
  usePortal,
  type CallOptions,
  type KeepOpen,
  type KeepOpenStatus,
  type OpenerHandle,
  type VaultProgress,
} from "../../contract/index.ts";
import { PortalError, toPortalError } from "../../errors/index.ts";
import { useOpenerHandle, type OpenerHandleOwner } from "../../ui/useOpenerHandle.ts";

export type OperationOptions = Required<CallOptions>;

/** An operation and the callbacks for its outcome. */
export interface OperationPlan<Result, Opener = OpenerHandle | null> {
  /** Starts the operation. Called synchronously within the click, with the presented opener. */
  readonly run: (options: OperationOptions, opener: Opener) => Promise<Result>;
  readonly onDone?: (result: Result) => void;
  /** Also called with `vault_locked` after a lock. Not called after a cancel. */
  readonly onFailed?: (error: PortalError) => void;
  /**
   * Called when a run succeeds although it was cancelled, superseded, left or locked, so that the
   * result can be wiped.
   */
  readonly onLateResult?: (result: Result) => void;
  /**
   * Called after every run, before the other callbacks, to refetch the data that other screens
   * show.
   */
  readonly onSettled?: () => void;
  /**
   * Whether the run continues after leaving the screen and while locked, such as a large file that
   * is sent in parts.
   */
  readonly continues?: boolean;
  /**
   * Whether the result owns the opener. The opener is then not released, and the next run asks for
   * another one.
   */
  readonly takesOpener?: boolean;
}

interface RunState {
  readonly running: boolean;
  /** Null before the first report. */
  readonly progress: VaultProgress | null;
  readonly error: PortalError | null;
  /** Whether the person started the plan without the opener that it needs. */
  readonly openerMissing: boolean;
}

interface OperationState extends RunState {
  /** Whether the run failed with `show_opener_first`. */
  readonly openerRequested: boolean;
}

export interface VaultOperation extends RunState {
  /** Whether {@link OpenerPrompt} asks for an opener. Also true while a run uses one. */
  readonly asksOpener: boolean;
  /** `none` for an operation that cannot use the opener that is kept open. */
  readonly keepOpenStatus: KeepOpenStatus;
  /** The presented opener, or null. */
  readonly opener: OpenerHandle | null;
  readonly setOpener: (opener: OpenerHandle | null) => void;
  /**
   * Runs the plan with the presented opener, or without one if none is asked for. After
   * `show_opener_first` the operation asks for an opener, with which {@link resume} runs the plan
   * again. A new run supersedes a running one.
   */
  readonly start: <Result>(plan: OperationPlan<Result>) => void;
  /** Runs the plan with the presented opener. Asks for an opener first if none is presented. */
  readonly startWithOpener: <Result>(plan: OperationPlan<Result, OpenerHandle>) => void;
  /** Runs the plan that waits for an opener. */
  readonly resume: () => void;
  /** Stops the running plan. While idle, clears the error and stops asking for an opener. */
  readonly cancel: () => void;
}

export interface VaultOperationSettings {
  /** Releases openers that are no longer presented. Without an owner no opener is accepted. */
  readonly vault?: OpenerHandleOwner;
  /**
   * Whether to ask for an opener before the first run, and again after each run. With `keepOpen`
   * only if no opener is kept open at first.
   */
  readonly asksOpener?: boolean;
  /** `Vault.keepOpen` of an operation whose null stands for the opener that is kept open. */
  readonly keepOpen?: KeepOpen;
}

interface ActiveRun {
  readonly controller: AbortController;
  readonly plan: Pick<OperationPlan<never>, "onFailed" | "continues">;
}

const idleState: OperationState = {
  running: false,
  progress: null,
  error: null,
  openerMissing: false,
  openerRequested: false,
};
const noOwner: OpenerHandleOwner = { releaseOpener: () => undefined };

/**
 * Runs one operation of the vault or a visitor at a time. Asks for an opener, and reports progress
 * and the result or the error (decision 0037).
 *
 * A newer run, leaving the screen and a lock abort a run and ignore its outcome, except for
 * `onLateResult`. A cancelled run counts as running until it stops.
 */
export function useVaultOperation({
  vault = noOwner,
  asksOpener: asksFirst = false,
  keepOpen,
}: VaultOperationSettings = {}): VaultOperation {
  const { onLock } = usePortal();
  const [asksAlways] = useState(() => asksFirst && keepOpen?.getStatus() !== "open");
  const [{ openerRequested, ...state }, setState] = useState(idleState);
  const asksOpener = asksAlways || openerRequested;
  const { openerHandle: opener, setOpenerHandle, handOver } = useOpenerHandle(vault);
  const activeRun = useRef<ActiveRun | null>(null);
  const runPendingPlan = useRef<((opener: OpenerHandle) => void) | null>(null);

  const abandonRun = () => {
    if (activeRun.current?.plan.continues !== true) activeRun.current?.controller.abort();
    activeRun.current = null;
  };
  useEffect(() => abandonRun, []);
  const handleLock = useEffectEvent(() => {
    const run = activeRun.current;
    setOpenerHandle(null); // a lock releases every handle
    if (run?.plan.continues === true) return;
    runPendingPlan.current = null;
    if (run === null) {
      setState(idleState);
      return;
    }
    abandonRun();
    const error = new PortalError("vault_locked");
    setState({ ...idleState, error });
    run.plan.onFailed?.(error);
  });
  const isIdle = !state.running && opener === null && !openerRequested;
  useEffect(() => {
    if (isIdle) return undefined;
    return onLock(() => {
      handleLock();
    });
  }, [onLock, isIdle]);

  const execute = async <Result, Opener extends OpenerHandle | null>(
    plan: OperationPlan<Result, Opener>,
    presentedOpener: Opener,
  ): Promise<void> => {
    activeRun.current?.controller.abort();
    const controller = new AbortController();
    const { signal } = controller;
    const run: ActiveRun = { controller, plan };
    activeRun.current = run;
    const stoppedState = { ...idleState, openerRequested: presentedOpener !== null && !asksAlways };
    setState({ ...stoppedState, running: true });
    const isCurrent = () => activeRun.current === run;
    const onProgress = (progress: VaultProgress) => {
      if (isCurrent() && !signal.aborted) setState({ ...stoppedState, running: true, progress });
    };
    const endRun = (next: OperationState) => {
      activeRun.current = null;
      setState(next);
    };
    const finish = (result: Result) => {
      if (!isCurrent() || signal.aborted) {
        if (isCurrent()) endRun(stoppedState);
        plan.onLateResult?.(result);
        return;
      }
      if (plan.takesOpener === true && presentedOpener !== null) handOver(presentedOpener);
      setOpenerHandle(null);
      endRun(idleState);
      plan.onDone?.(result);
    };
    const fail = (error: PortalError) => {
      if (!isCurrent()) return;
      if (signal.aborted) endRun(stoppedState);
      else if (error.code === "show_opener_first" && presentedOpener === null)
        endRun({ ...idleState, openerRequested: true });
      else {
        endRun({ ...stoppedState, error });
        plan.onFailed?.(error);
      }
    };
    const outcome = await runToOutcome(plan, { signal, onProgress }, presentedOpener);
    plan.onSettled?.();
    if ("error" in outcome) fail(outcome.error);
    else finish(outcome.result);
  };
  const setPendingPlan = <Result>(plan: OperationPlan<Result, OpenerHandle>) => {
    runPendingPlan.current = (presentedOpener) => {
      void execute(plan, presentedOpener);
    };
  };
  const resume = () => {
    if (opener !== null) runPendingPlan.current?.(opener);
    else setState({ ...idleState, openerRequested: !asksAlways, openerMissing: asksOpener });
  };
  return {
    ...state,
    asksOpener,
    keepOpenStatus: keepOpen?.getStatus() ?? "none",
    opener,
    setOpener: (next) => {
      setOpenerHandle(next);
      setState((current) => ({ ...current, openerMissing: false }));
    },
    start: (plan) => {
      setPendingPlan(plan);
      if (asksOpener) resume();
      else void execute(plan, opener);
    },
    startWithOpener: (plan) => {
      setPendingPlan(plan);
      resume();
    },
    resume,
    cancel: () => {
      if (activeRun.current !== null) {
        activeRun.current.controller.abort();
        return;
      }
      runPendingPlan.current = null;
      if (!asksAlways) setOpenerHandle(null);
      setState(idleState);
    },
  };
}

async function runToOutcome<Result, Opener>(
  { run }: Pick<OperationPlan<Result, Opener>, "run">,
  options: OperationOptions,
  opener: Opener,
): Promise<{ readonly result: Result } | { readonly error: PortalError }> {
  try {
    return { result: await run(options, opener) };
  } catch (error) {
    return { error: toPortalError(error) };
  }
}
