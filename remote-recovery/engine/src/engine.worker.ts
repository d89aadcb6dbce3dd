/**
 * The worker's entry: serves the engine to the page that started it and, through ports, to the
 * vault's worker. Where there are two cores it starts itself a second time, for half of each
 * search: at once, while the blob address that it runs from is there.
 */
import * as Comlink from "comlink";
import { createEngineWorkerApi } from "./engine-worker-api.ts";
import { serveCalls } from "./worker-calls.ts";
import { createSearchWorkerApi, wrapSearchDelegate, type SearchWorkerApi } from "./second-core.ts";

const searchWorkerName = "engine-search";

/** Of the Trusted Types API, what is used here. https://w3c.github.io/trusted-types/dist/spec/ */
declare const trustedTypes:
  | {
      readonly createPolicy: (
        name: string,
        rules: { readonly createScriptURL: (url: string) => string | null },
      ) => unknown;
    }
  | undefined;

if (self.name === searchWorkerName) {
  Comlink.expose(createSearchWorkerApi());
} else {
  const searchWorker = startSearchWorker();
  serveCalls(
    createEngineWorkerApi((module) =>
      searchWorker === null
        ? null
        : wrapSearchDelegate(Comlink.wrap<SearchWorkerApi>(searchWorker.worker), module, searchWorker.failed),
    ),
  );
}

/** Null where one core is all, or a worker cannot start another. */
function startSearchWorker(): { readonly worker: Worker; readonly failed: Promise<unknown> } | null {
  if (typeof Worker === "undefined" || navigator.hardwareConcurrency < 2) return null;
  const scriptUrl = globalThis.location.href;
  try {
    // Where the page asks for Trusted Types, its workers do too: this one may start its own file,
    // and nothing else.
    if (typeof trustedTypes !== "undefined")
      trustedTypes.createPolicy("default", { createScriptURL: (url) => (url === scriptUrl ? url : null) });
    const worker = new Worker(scriptUrl, { name: searchWorkerName });
    return {
      worker,
      failed: new Promise((resolve) => {
        worker.addEventListener("error", resolve);
      }),
    };
  } catch {
    return null; // searches then take one core, as elsewhere
  }
}
