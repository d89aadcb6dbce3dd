import type { ErrorCode } from "@relicario/shared/errors";

import { loadLimits } from "./load-with-retry.ts";

/** Why a file of a release did not load. */
export type FileFailure = Extract<
  ErrorCode,
  "remote_altered" | "remote_file_missing" | "remote_timed_out" | "remote_unreachable"
>;

/** The scripts and stylesheets of this page that failed to load. */
export interface FailedScripts {
  /**
   * Fetches the failed files below `base`, bypassing and updating the browser's cache: it stores
   * release files as immutable, even with wrong bytes. A file that fails again stays in the list.
   * Returns why the first such file failed; null if every file arrives as signed. Never rejects.
   */
  readonly refetchScripts: (base: string) => Promise<FileFailure | null>;
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

  const refetch = async (address: string): Promise<FileFailure | null> => {
    const signal = AbortSignal.timeout(loadLimits.attemptMs);
    try {
      // First without `integrity`, which rejects alike for other bytes, a 404 and no response.
      const response = await fetch(address, { cache: "reload", signal });
      if (response.status === 404 || response.status === 410) return "remote_file_missing";
      if (!response.ok) return "remote_unreachable";
      await response.arrayBuffer(); // fills the cache
    } catch {
      return signal.aborted ? "remote_timed_out" : "remote_unreachable";
    }
    try {
      await fetch(address, { cache: "force-cache", integrity: getIntegrity(address), signal });
    } catch {
      return signal.aborted ? "remote_timed_out" : "remote_altered";
    }
    failedUrls.delete(address);
    return null;
  };
  return Object.freeze<FailedScripts>({
    async refetchScripts(base) {
      const failures = await Promise.all([...failedUrls].filter((address) => address.startsWith(base)).map(refetch));
      return failures.find((failure) => failure !== null) ?? null;
    },
  });
}
