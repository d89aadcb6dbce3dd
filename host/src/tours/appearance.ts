const prefersReducedMotion =
  typeof window.matchMedia === "function" && window.matchMedia("(prefers-reduced-motion: reduce)").matches;

/**
 * Sizes and times of tours in pixels and milliseconds (specification, section 9). Without scrolling
 * for people who prefer reduced motion.
 */
export const tourAppearance = {
  scrollOffset: 20,
  scrollDuration: prefersReducedMotion ? 0 : 300,
  spotlightPadding: 10,
  width: 380,
  spotlightRadius: 12,
} as const;

/**
 * The nonce that the page's policy requires of styles that are made at run time, as the library
 * does.
 */
export function readStyleNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? "";
}

/**
 * The celebration at the end of the first tour (specification, sections 4 and 9). The library
 * counts frames: 120 are two seconds.
 */
export const celebration = {
  pieces: 100,
  colors: ["#1d4ed8", "#3b82f6", "#60a5fa", "#bfdbfe", "#475569", "#94a3b8", "#e2e8f0"],
  frames: 120,
  durationMilliseconds: 3000,
} as const;
