import { whenSettled } from "./tours/when-settled.ts";

/** Code that the first screen does not need, but a first click may. */
const interactionCode = [() => import("./help/HelpPage.tsx")] as const;

/**
 * Fetches code once the first screen is drawn and the browser is idle. Returns a cancel function.
 */
export function prefetchWhenIdle(
  page: HTMLElement,
  code: readonly (() => Promise<unknown>)[] = interactionCode,
): () => void {
  return whenSettled(
    page,
    () => page.querySelector("h1"),
    () => {
      whenIdle(() => {
        for (const load of code) load().catch(() => undefined); // loaded again on use, which reports a failure
      });
    },
  );
}

function whenIdle(callback: () => void): void {
  if (typeof window.requestIdleCallback === "function") window.requestIdleCallback(callback);
  else setTimeout(callback); // Safari lacks requestIdleCallback
}
