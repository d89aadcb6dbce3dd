/**
 * Entry of the engine's worker. Serves the engine to the page that started the worker and, on
 * ports, to the vault's worker. With two or more cores, starts a second worker from the same script
 * for half of each search. Does so immediately, because the page then revokes the script's blob
 * URL.
 */
import { createEngineWorkerApi } from "./engine-worker-api.ts";
import { createCallClient, serveCalls } from "./worker-calls.ts";
import { createSearchWorkerApi, wrapSearchDelegate, type SearchWorkerApi } from "./search-delegate.ts";

const searchWorkerName = "engine-search";

/**
 * The part of the Trusted Types API that is used here.
 * https://w3c.github.io/trusted-types/dist/spec/
 */
declare const trustedTypes:
  | {
      readonly createPolicy: (
        name: string,
        rules: { readonly createScriptURL: (url: string) => string | null },
      ) => unknown;
    }
  | undefined;

if (self.name === searchWorkerName) {
  serveCalls(createSearchWorkerApi());
} else {
  const runningSearchWorker = startSearchWorker();
  serveCalls(
    createEngineWorkerApi((engineModule) =>
      runningSearchWorker === null
        ? null
        : wrapSearchDelegate(
            createCallClient<SearchWorkerApi>(runningSearchWorker.worker),
            engineModule,
            runningSearchWorker.failure,
          ),
    ),
  );
}

/** Null with one core, and if a worker cannot start another. */
function startSearchWorker(): { readonly worker: Worker; readonly failure: Promise<unknown> } | null {
  if (typeof Worker === "undefined" || navigator.hardwareConcurrency < 2) return null;
  const scriptUrl = globalThis.location.href;
  try {
    // The page's Trusted Types also apply to this worker. The policy allows only the URL of this
    // worker's script.
    if (typeof trustedTypes !== "undefined")
      trustedTypes.createPolicy("default", { createScriptURL: (url) => (url === scriptUrl ? url : null) });
    const worker = new Worker(scriptUrl, { name: searchWorkerName });
    return {
      worker,
      failure: new Promise((resolve) => {
        worker.addEventListener("error", resolve);
      }),
    };
  } catch {
    return null; // searches then run on one core
  }
}
