/** How long the page must be unchanged before a screen counts as drawn, in milliseconds. */
const quietMilliseconds = 300;

/**
 * Calls `onSettled` once `find` returns an element, no element has `aria-busy`, and the page has
 * not changed for {@link quietMilliseconds}. Returns a cancel function.
 */
export function whenSettled(root: HTMLElement, find: () => Element | null, onSettled: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const check = () => {
    clearTimeout(timer);
    if (find() === null || root.querySelector("[aria-busy='true']") !== null) return;
    timer = setTimeout(() => {
      observer.disconnect();
      onSettled();
    }, quietMilliseconds);
  };
  const observer = new MutationObserver(check);
  observer.observe(root, { childList: true, subtree: true, attributeFilter: ["aria-busy"] });
  check();
  return () => {
    clearTimeout(timer);
    observer.disconnect();
  };
}
