const prefersReducedMotion =
  typeof window.matchMedia === "function" && window.matchMedia("(prefers-reduced-motion: reduce)").matches;

/**
 * Sizes in pixels and times in milliseconds of tours (specification, section 9). For people who
 * prefer reduced motion the page scrolls without animation.
 */
export const tourAppearance = {
  scrollOffset: 20,
  scrollDuration: prefersReducedMotion ? 0 : 300,
  spotlightPadding: 10,
  width: 380,
  spotlightRadius: 12,
} as const;

/**
 * Returns the nonce that the page's policy requires for styles created at run time, such as those
 * of the tour library.
 */
export function readStyleNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? "";
}

/**
 * Celebration at the end of the first tour (specification, sections 4 and 9). The library counts
 * frames: 120 are two seconds.
 */
export const celebration = {
  pieces: 100,
  colors: ["#1d4ed8", "#3b82f6", "#60a5fa", "#bfdbfe", "#475569", "#94a3b8", "#e2e8f0"],
  frames: 120,
  durationMilliseconds: 3000,
} as const;
