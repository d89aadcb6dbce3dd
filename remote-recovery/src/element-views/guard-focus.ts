/**
 * [Note: Taken focus] Script of the page can move the focus out of an element in the middle of a
 * word, and so get the letters that follow. A press in the page moves it too, and an element sees
 * neither. It counts the focus as taken
 * - when a text field here had it, and the whole document lost it while the page stays in view,
 * - when the last key was none that leaves a field or a window,
 * - and when no press outside is possible: the pointer is over the element, or the person typed so
 *   shortly before that no hand got from the keyboard to the page.
 *
 * The page gets the letters that are typed after a longer pause.
 */
const handMilliseconds = 500;
const leavingKeys = /^(?:Tab|Enter|Escape|ContextMenu|F\d+)$/;
const mostReturns = 3;

export type FocusLoss = "returned" | "given_up";

export interface FocusGuardOptions {
  /** Called each time the focus was taken. */
  readonly onTaken: (loss: FocusLoss) => void;
  readonly page?: Window;
}

/**
 * Takes back the focus that a script took: [Note: Taken focus]. Gives up after three times without
 * a press or a leaving key in between. Returns a function that stops this.
 */
export function guardFocus({ onTaken, page = window }: FocusGuardOptions): () => void {
  const { document } = page;
  const listening = new AbortController();
  const { signal } = listening;
  let field: HTMLElement | null = null;
  let isLeaving = false;
  let isPointerHere = false;
  let typedAt = -Infinity;
  let returns = 0;

  const handleFocus = ({ target }: Event): void => {
    field = isTextField(target) ? target : null;
    isLeaving = false;
  };
  const handleKey = ({ key, ctrlKey, altKey, metaKey, timeStamp }: KeyboardEvent): void => {
    isLeaving = ctrlKey || altKey || metaKey || leavingKeys.test(key);
    if (isLeaving) returns = 0;
    else typedAt = timeStamp;
  };
  const handlePress = ({ target }: Event): void => {
    returns = 0;
    if (!isTextField(target)) field = null;
  };
  const handleBlur = ({ timeStamp }: Event): void => {
    if (isLeaving || (!isPointerHere && timeStamp - typedAt > handMilliseconds)) return;
    setTimeout(takeBack); // Chromium ignores a focus that is set while it tells of the blur
  };
  const takeBack = (): void => {
    const takenField = field;
    if (signal.aborted || takenField?.isConnected !== true) return;
    if (document.hasFocus() || document.visibilityState !== "visible") return;
    if (returns === mostReturns) {
      field = null;
      onTaken("given_up");
      return;
    }
    returns += 1;
    page.focus();
    takenField.focus({ preventScroll: true });
    onTaken("returned");
  };

  document.addEventListener("focusin", handleFocus, { signal });
  document.addEventListener("keydown", handleKey, { signal, capture: true });
  document.addEventListener("pointerdown", handlePress, { signal, capture: true });
  for (const [eventName, isHere] of [
    ["pointerenter", true],
    ["pointerleave", false],
  ] as const)
    document.documentElement.addEventListener(
      eventName,
      () => {
        isPointerHere = isHere;
      },
      { signal },
    );
  page.addEventListener("blur", handleBlur, { signal });
  return () => {
    listening.abort();
  };
}

const textFields = "input:not([type=file], [type=radio], [type=checkbox]), textarea";

function isTextField(target: EventTarget | null): target is HTMLElement {
  return target instanceof HTMLElement && target.matches(textFields);
}
