/** How long a copied secret stays in the clipboard, in milliseconds. */
export const clipboardClearMilliseconds = 30_000;

/**
 * Clears the clipboard after {@link clipboardClearMilliseconds}. Browsers refuse while the page has
 * no focus; it is then cleared on the next focus. Resolves when it is cleared.
 */
export function clearClipboardLater(): Promise<void> {
  return new Promise((resolve) => {
    const clear = (): void => {
      navigator.clipboard.writeText("").then(
        () => {
          window.removeEventListener("focus", clear);
          resolve();
        },
        () => {
          window.addEventListener("focus", clear); // refused while the page has no focus: retry on focus
        },
      );
    };
    setTimeout(clear, clipboardClearMilliseconds);
  });
}
