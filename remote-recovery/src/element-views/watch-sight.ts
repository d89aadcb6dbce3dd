/** Members of the second version, in Chromium alone. */
interface CoverOptions extends IntersectionObserverInit {
  readonly trackVisibility?: boolean;
  /** Milliseconds, at least 100. */
  readonly delay?: number;
}

/**
 * Calls `onSight` with the time since when the area is in sight, in milliseconds of the document's
 * clock, and with null when it is not. Returns a function that stops this.
 *
 * @param tracksCover whether what lies over the area hides it, where the browser can tell
 */
export function watchSight(area: Element, tracksCover: boolean, onSight: (since: number | null) => void): () => void {
  const options: CoverOptions = tracksCover ? { trackVisibility: true, delay: 100 } : {};
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      const isCovered = tracksCover && Reflect.get(entry, "isVisible") === false;
      onSight(entry.isIntersecting && !isCovered ? entry.time : null);
    }
  }, options);
  observer.observe(area);
  return () => {
    observer.disconnect();
  };
}
