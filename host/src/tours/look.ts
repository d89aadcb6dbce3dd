const still = typeof window.matchMedia === "function" && window.matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Sizes and times of tours in pixels and milliseconds (specification, section 9). Who wants no motion is not scrolled along. */
export const tourLook = { scrollOffset: 20, scrollDuration: still ? 0 : 300, spotlightPadding: 10, width: 380, spotlightRadius: 12 } as const;

/** The nonce that the page's policy asks of styles made at run time; the library makes some. */
export function styleNonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? "";
}
