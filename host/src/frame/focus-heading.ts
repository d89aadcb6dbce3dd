/** A closed dialog returns the focus to its trigger within this time, in milliseconds. */
const focusReturnMilliseconds = 100;

/**
 * Moves the focus to the first heading of `main` once it is rendered; to `main` itself when nothing
 * is loading and there is no heading. Waits for dialogs to close. A screen that is drawn anew while
 * it loads, heading included, gets the focus back. Gives up when the person presses a key or a
 * pointer, or when the new screen has focused an element itself (any but `previousFocus`, which had
 * the focus when the old screen was left). Returns its undo.
 */
export function focusHeading(main: HTMLElement, previousFocus: Element | null): () => void {
  let wasCovered = false;
  let focusedHeading: Element | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const check = () => {
    if (document.querySelector("[role='dialog'], [role='alertdialog']") !== null) {
      wasCovered = true;
      return;
    }
    if (wasCovered) {
      wasCovered = false;
      timer = setTimeout(() => {
        timer = undefined;
        check();
      }, focusReturnMilliseconds);
    }
    if (timer !== undefined) return;

    const heading = main.querySelector("h1");
    const focused = document.activeElement;
    if (focused !== null && (focused === focusedHeading || focused === heading)) {
      focusedHeading = focused; // what watches the old screen may have seen the new heading first
      return;
    }
    if (focused !== null && focused !== main && focused !== previousFocus && main.contains(focused)) {
      stop();
    } else if (heading !== null) {
      focusedHeading = heading;
      heading.tabIndex = -1;
      heading.focus({ preventScroll: true });
    } else if (main.querySelector("[aria-busy='true']") === null) {
      main.focus({ preventScroll: true });
    }
  };
  const stop = () => {
    clearTimeout(timer);
    observer.disconnect();
    for (const name of userEvents) window.removeEventListener(name, stop, true);
  };

  const observer = new MutationObserver(check);
  observer.observe(document.body, { childList: true, subtree: true });
  for (const name of userEvents) window.addEventListener(name, stop, true);
  check();
  return stop;
}

const userEvents = ["keydown", "pointerdown"] as const;
