import { whenSettled } from "./tours/when-settled.ts";

/** Code that the first screen does not need and a first click may need. */
const interactionCode = [() => import("./help/HelpPage.tsx")] as const;

/** Fetches code once the first screen is drawn and the browser is idle. Returns its undo. */
export function prefetchWhenIdle(
  page: HTMLElement,
  code: readonly (() => Promise<unknown>)[] = interactionCode,
): () => void {
  return whenSettled(
    page,
    () => page.querySelector("h1"),
    () => {
      whenIdle(() => {
        for (const load of code) load().catch(() => undefined); // loaded again, and reported, when it is needed
      });
    },
  );
}

function whenIdle(callback: () => void): void {
  if (typeof window.requestIdleCallback === "function") window.requestIdleCallback(callback);
  else setTimeout(callback); // not in Safari
}
