/** So long nothing is added or taken away before a screen counts as drawn, in milliseconds. */
const quietMilliseconds = 300;

/** Calls back once an element is there that `find` finds, and the page has been quiet. Returns its undo. */
export function whenSettled(root: HTMLElement, find: () => Element | null, onSettled: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = () => {
    clearTimeout(timer);
    if (find() === null) return;
    timer = setTimeout(() => {
      observer.disconnect();
      onSettled();
    }, quietMilliseconds);
  };
  const observer = new MutationObserver(look);
  observer.observe(root, { childList: true, subtree: true });
  look();
  return () => {
    clearTimeout(timer);
    observer.disconnect();
  };
}
