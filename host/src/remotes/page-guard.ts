/** Attributes of `html` and `body` that the host and its dialogs set while a screen is shown. */
const hostAttributes: readonly string[] = ["lang", "data-theme", "data-resizing", "data-scroll-locked"];

export interface PageGuardDeps {
  readonly document: Document;
  /** Whether code of a remote is being imported. What it adds to the page stays: it runs once. */
  readonly isImporting: () => boolean;
}

/**
 * Undoes what a screen does to the page outside its area, once it was unmounted: restores
 * attributes and inline styles of `html` and `body`, and removes style elements that were added to
 * `head` or `body`. Keeps stylesheets that webpack loaded: they are limited to the area, and
 * webpack does not load them again. The host itself sets the title on each change of route.
 */
export interface PageGuard {
  /** Call it before a screen is mounted. */
  readonly start: () => void;
  readonly restore: () => void;
}

/** Create it before any remote's code runs: the page then is as it is to be. */
export function createPageGuard({ document, isImporting }: PageGuardDeps): PageGuard {
  const savedRoots = [document.documentElement, document.body].map((root) => ({
    root,
    attributes: readAttributes(root),
    style: root.style.cssText,
  }));
  const addedStyles = new Set<HTMLStyleElement>();
  const collect = (changes: readonly MutationRecord[]) => {
    for (const node of changes.flatMap(({ addedNodes }) => [...addedNodes]))
      // styled-components adds one for all
      if (node instanceof HTMLStyleElement && !node.hasAttribute("data-styled") && !isImporting())
        addedStyles.add(node);
  };
  const observer = new MutationObserver(collect);
  return Object.freeze<PageGuard>({
    start: () => {
      for (const parent of [document.head, document.body]) observer.observe(parent, { childList: true });
    },
    restore: () => {
      collect(observer.takeRecords());
      observer.disconnect();
      for (const style of addedStyles) style.remove();
      addedStyles.clear();
      for (const { root, attributes, style } of savedRoots) {
        restoreAttributes(root, attributes);
        restoreStyle(root, style);
      }
    },
  });
}

function readAttributes(element: Element): ReadonlyMap<string, string> {
  return new Map(
    [...element.attributes]
      .filter(({ name }) => name !== "style" && !hostAttributes.includes(name))
      .map(({ name, value }) => [name, value]),
  );
}

function restoreAttributes(element: Element, saved: ReadonlyMap<string, string>): void {
  const current = readAttributes(element);
  for (const name of current.keys()) if (!saved.has(name)) element.removeAttribute(name);
  for (const [name, value] of saved) if (current.get(name) !== value) element.setAttribute(name, value);
}

/** Leaves `pointer-events` as it is: an open dialog of the host sets it. */
function restoreStyle(element: HTMLElement, saved: string): void {
  if (element.style.cssText === saved) return;
  const { pointerEvents } = element.style;
  element.style.cssText = saved;
  element.style.pointerEvents = pointerEvents;
  if (element.style.length === 0) element.removeAttribute("style");
}
