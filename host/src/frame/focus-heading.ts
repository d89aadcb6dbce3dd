/** Time within which a closing dialog returns the focus to its trigger, in milliseconds. */
const focusReturnMilliseconds = 100;

/**
 * Moves the focus to the first heading of `main` once it is rendered. If `main` has no heading and
 * is not loading, moves the focus to `main`. Waits for dialogs to close. When another heading
 * replaces the focused one, focuses that.
 *
 * Stops when the person presses a key or a pointer, or when the new screen focuses another element.
 * `previousFocus`, the element that had the focus when the old screen was left, does not count.
 * Returns a stop function.
 */
export function focusHeading(main: HTMLElement, previousFocus: Element | null): () => void {
  let wasCovered = false;
  let focusedHeading: Element | null = null;
  let hideTimer: ReturnType<typeof setTimeout> | undefined;

  const check = () => {
    if (document.querySelector("[role='dialog'], [role='alertdialog']") !== null) {
      wasCovered = true;
      return;
    }
    if (wasCovered) {
      wasCovered = false;
      hideTimer = setTimeout(() => {
        hideTimer = undefined;
        check();
      }, focusReturnMilliseconds);
    }
    if (hideTimer !== undefined) return;

    const heading = main.querySelector("h1");
    const focused = document.activeElement;
    if (focused !== null && (focused === focusedHeading || focused === heading)) {
      focusedHeading = focused; // the observer of the previous screen may have focused the new heading already
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
    clearTimeout(hideTimer);
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
