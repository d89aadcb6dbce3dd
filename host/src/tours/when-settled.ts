/** So long nothing is added or taken away before a screen counts as drawn, in milliseconds. */
const quietMilliseconds = 300;

/** Calls back once an element is there that `find` finds, nothing is loading, and the page has been quiet. Returns its undo. */
export function whenSettled(root: HTMLElement, find: () => Element | null, onSettled: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = () => {
    clearTimeout(timer);
    if (find() === null || root.querySelector("[aria-busy='true']") !== null) return;
    timer = setTimeout(() => {
      observer.disconnect();
      onSettled();
    }, quietMilliseconds);
  };
  const observer = new MutationObserver(look);
  observer.observe(root, { childList: true, subtree: true, attributeFilter: ["aria-busy"] });
  look();
  return () => {
    clearTimeout(timer);
    observer.disconnect();
  };
}
