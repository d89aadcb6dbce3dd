import { loadLimits } from "./load-with-retry.ts";

/** The scripts and stylesheets of this page that failed to load. */
export interface FailedScripts {
  /**
   * Fetches the failed files below `base`, bypassing and updating the browser's cache: it stores
   * release files as immutable, even with wrong bytes. A file whose fetch fails stays in the list.
   * Never rejects.
   */
  readonly refetchScripts: (base: string) => Promise<void>;
}

export interface FailedScriptsDeps {
  /** Receives the error events of script and link elements, which do not bubble. */
  readonly page: EventTarget;
  readonly fetch: typeof globalThis.fetch;
  readonly getIntegrity: (address: string) => string;
}

export function trackFailedScripts({ page, fetch, getIntegrity }: FailedScriptsDeps): FailedScripts {
  const failedUrls = new Set<string>();
  const handleError = ({ target }: Event) => {
    if (target instanceof HTMLScriptElement) failedUrls.add(target.src);
    else if (target instanceof HTMLLinkElement) failedUrls.add(target.href);
  };
  page.addEventListener("error", handleError, { capture: true });

  const refetch = async (address: string): Promise<void> => {
    const response = await fetch(address, {
      cache: "reload",
      integrity: getIntegrity(address),
      signal: AbortSignal.timeout(loadLimits.attemptMs),
    });
    await response.arrayBuffer(); // fills the cache
    if (response.ok) failedUrls.delete(address);
  };
  return Object.freeze<FailedScripts>({
    async refetchScripts(base) {
      await Promise.allSettled([...failedUrls].filter((address) => address.startsWith(base)).map(refetch));
    },
  });
}
