/** How long a copied secret stays in the clipboard. */
export const clipboardClearMilliseconds = 30_000;

export interface TemporaryCopy {
  /** Settles when the text is in the clipboard. Rejects when the browser refuses. */
  readonly copied: Promise<void>;
  /** Clears the clipboard now, if it was not cleared yet. */
  readonly clear: () => void;
}

/**
 * Copies a text and clears the clipboard after {@link clipboardClearMilliseconds}. A page without
 * focus may not write there: then it is cleared as soon as the page has focus again. `onCleared` is
 * called once.
 */
export function copyTemporarily(text: string, onCleared: () => void): TemporaryCopy {
  let cleared = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const clear = (): void => {
    clearTimeout(timer);
    if (cleared) return;
    navigator.clipboard.writeText("").then(
      () => {
        cleared = true;
        window.removeEventListener("focus", clear);
        onCleared();
      },
      () => {
        window.addEventListener("focus", clear); // refused without focus: again when the person comes back
      },
    );
  };
  const copied = navigator.clipboard.writeText(text).then(() => {
    timer = setTimeout(clear, clipboardClearMilliseconds);
  });
  return { copied, clear };
}
