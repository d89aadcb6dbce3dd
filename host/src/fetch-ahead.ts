import { whenSettled } from "./tours/when-settled.ts";

/** What a first screen can do without, and a first click may open. */
const opened = [() => import("./help/HelpPage.tsx")] as const;

/** Fetches it once the first screen is drawn and the page has nothing else to do. Returns its undo. */
export function fetchAhead(page: HTMLElement, code: readonly (() => Promise<unknown>)[] = opened): () => void {
  return whenSettled(page, () => page.querySelector("h1"), () => {
    whenIdle(() => {
      for (const load of code) load().catch(() => undefined); // it is asked for again when it is needed
    });
  });
}

function whenIdle(callback: () => void): void {
  if (typeof window.requestIdleCallback === "function") window.requestIdleCallback(callback);
  else setTimeout(callback); // Safari has none: a page that has settled is idle enough
}
