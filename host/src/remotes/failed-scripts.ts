import { loadLimits } from "./load-with-retry.ts";

/** The scripts and stylesheets of this page that did not load. */
export interface FailedScripts {
  /**
   * Fetches those below `base` past the browser's cache, into it: files of a release are kept as
   * immutable, the wrong bytes of a broken one too. One that is still not the signed one stays on
   * the list. Never rejects.
   */
  readonly refetchScripts: (base: string) => Promise<void>;
}

export interface FailedScriptsDeps {
  /** Gets the error events of script and link elements, which do not bubble. */
  readonly page: EventTarget;
  readonly fetch: typeof globalThis.fetch;
  /** The signed hash of an address; integrity.ts. */
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
    await response.arrayBuffer(); // the cache has it when it is read
    if (response.ok) failedUrls.delete(address);
  };
  return Object.freeze<FailedScripts>({
    async refetchScripts(base) {
      await Promise.allSettled([...failedUrls].filter((address) => address.startsWith(base)).map(refetch));
    },
  });
}
