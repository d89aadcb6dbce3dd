/** A dialog gives the focus back to what opened it this long after it is gone, at most; in milliseconds. */
const givenBackAfter = 100;

/**
 * Takes the focus to the first heading of `main`, once it is there; to `main` itself where nothing loads and no heading is.
 * Waits for dialogs to close. Gives up when the person presses something, or when the new screen has focused a part of its
 * own: any but `before`, which had the focus when the old screen was left. Returns its undo.
 */
export function focusOnArrival(main: HTMLElement, before: Element | null): () => void {
  let covered = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const look = () => {
    if (document.querySelector("[role='dialog'], [role='alertdialog']") !== null) {
      covered = true;
      return;
    }
    if (covered) {
      covered = false;
      timer = setTimeout(() => {
        timer = undefined;
        look();
      }, givenBackAfter);
    }
    if (timer !== undefined) return;

    const heading = main.querySelector("h1");
    const focused = document.activeElement;
    if (focused !== null && focused !== main && focused !== before && main.contains(focused)) {
      stop();
    } else if (heading !== null) {
      heading.tabIndex = -1;
      heading.focus({ preventScroll: true });
      stop();
    } else if (main.querySelector("[aria-busy='true']") === null) {
      main.focus({ preventScroll: true });
    }
  };
  const stop = () => {
    clearTimeout(timer);
    observer.disconnect();
    for (const name of pressed) window.removeEventListener(name, stop, true);
  };

  const observer = new MutationObserver(look);
  observer.observe(document.body, { childList: true, subtree: true });
  for (const name of pressed) window.addEventListener(name, stop, true);
  look();
  return stop;
}

const pressed = ["keydown", "pointerdown"] as const;
