import type { ElementState, ElementVault, HeldInput } from "@relicario/vault/element";
import { emptyElementState } from "@relicario/vault/element-protocol";

/** Input of a field, and what the page learns about it. */
export interface ElementInput extends Omit<ElementState, "heldId"> {
  /** Null if there is nothing to hold. */
  readonly input: HeldInput | null;
}

const { heldId: _heldId, ...emptyState } = emptyElementState;
export const emptyInput: ElementInput = { ...emptyState, input: null };

/** Gives each input to the controller, and its id to the page. */
export interface InputReporter {
  readonly report: (input: ElementInput) => void;
  /** Resolves when the controller holds the last input. */
  readonly settle: () => Promise<void>;
  readonly isHeldAs: (id: string) => boolean;
  /** Tells the page that nothing is held, after the vault or the page has released it. */
  readonly clear: () => void;
}

export interface ReporterOptions {
  readonly vault: Pick<ElementVault, "hold" | "release">;
  readonly onChange: (state: ElementState) => void;
  /** Called when a field has reported an input; `turn` counts them. */
  readonly onTurn?: (turn: number) => void;
  /** Called when the controller holds the last input and the page was told what it may know. */
  readonly onSettled?: (turn: number) => void;
}

/**
 * Of inputs that follow each other quickly, reports the last one. An input that replaces another
 * keeps its id, and the page is told only a changed state: otherwise it could count the letters of
 * a passphrase. A complete input belongs to the page, which releases it.
 */
export function createInputReporter({ vault, onChange, onTurn, onSettled }: ReporterOptions): InputReporter {
  let heldId: string | null = null;
  let isComplete = false;
  /** As JSON; null before the first. */
  let toldState: string | null = null;
  let turn = 0;
  let lastReport: Promise<void> = Promise.resolve();

  const report = async ({ input, ...state }: ElementInput): Promise<void> => {
    const ownTurn = ++turn;
    onTurn?.(ownTurn);
    if (input === null) {
      if (heldId !== null && !isComplete) vault.release(heldId);
      heldId = null;
      isComplete = false;
    } else await vault.hold(input, (heldId ??= crypto.randomUUID()));
    if (ownTurn !== turn) return;
    isComplete = state.ready;
    const nextState: ElementState = { ...state, heldId };
    const nextJson = JSON.stringify(nextState);
    if (nextJson !== toldState) onChange(nextState);
    toldState = nextJson;
    onSettled?.(ownTurn);
  };

  return {
    report: (input) => {
      lastReport = report(input);
    },
    settle: () => lastReport,
    isHeldAs: (id) => id === heldId,
    clear: () => {
      if (heldId !== null) vault.release(heldId); // an input that was on its way
      heldId = null;
      toldState = null;
      lastReport = report(emptyInput);
    },
  };
}
