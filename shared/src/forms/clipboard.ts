/** How long a copied secret stays in the clipboard, in milliseconds. */
export const clipboardClearMilliseconds = 30_000;

export interface TemporaryCopy {
  /** Resolves when the text is in the clipboard; rejects when the browser refuses. */
  readonly copied: Promise<void>;
  /** Clears the clipboard now, unless it was cleared already. */
  readonly clear: () => void;
}

/**
 * Copies a text, and clears the clipboard after {@link clipboardClearMilliseconds}. Browsers refuse
 * to clear it while the page has no focus; it is then cleared on the next focus. Calls `onCleared`
 * once.
 */
export function copyTemporarily(text: string, onCleared: () => void): TemporaryCopy {
  let isCleared = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const clear = (): void => {
    clearTimeout(timer);
    if (isCleared) return;
    navigator.clipboard.writeText("").then(
      () => {
        isCleared = true;
        window.removeEventListener("focus", clear);
        onCleared();
      },
      () => {
        window.addEventListener("focus", clear); // refused while the page has no focus: retry on focus
      },
    );
  };
  const copied = navigator.clipboard.writeText(text).then(() => {
    timer = setTimeout(clear, clipboardClearMilliseconds);
  });
  return { copied, clear };
}
